import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { startTestApi, type TestApi } from '../support/api.ts';
import { RawHttp } from '../support/raw-http.ts';

const SCRIPT = 'self.dark = true';
const page = (title: string) =>
  `<!doctype html><html lang="en"><title>${title}</title><script>${SCRIPT}</script><script type="module" src="/docs/assets/app.abc.js"></script></html>`;
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function writeSite(folder: string): void {
  for (const name of ['guides', 'api']) mkdirSync(join(folder, name), { recursive: true });
  mkdirSync(join(folder, 'assets'));
  for (const name of ['index', '404', 'client', 'guides/index', 'guides/first-mail', 'api', 'api/contacts'])
    writeFileSync(join(folder, `${name}.html`), page(name));
  writeFileSync(join(folder, 'index.html.gz'), gzipSync(page('index')));
  writeFileSync(join(folder, 'assets/app.abc.js'), 'export {}');
  writeFileSync(join(folder, 'hashmap.json'), '{}');
}

describe('/docs', () => {
  let api: TestApi | undefined;
  let unbuilt: TestApi | undefined;
  let folder: string;
  const get = (path: string, headers: Record<string, string> = {}, from = api) =>
    fetch(`${from?.url}${path}`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });

  /** As a browser asks for a page that it has; `fetch` of Node.js would add headers that forbid a 304. */
  const statusOfRepeated = async (path: string, first: Response): Promise<number> => {
    const raw = await RawHttp.open(api?.url ?? '');
    const etag = first.headers.get('etag') ?? '';
    raw.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: ${etag}\r\nConnection: close\r\n\r\n`);
    const { status } = await raw.answer();
    raw.destroy();
    return status;
  };

  before(async () => {
    // Two APIs, each with a database of its own.
    folder = mkdtempSync(join(tmpdir(), 'everpost-docs-'));
    writeSite(join(folder, 'site'));
    writeFileSync(join(folder, 'secret.html'), 'secret');
    api = await startTestApi({ env: { DOCS_DIR: join(folder, 'site') } });
    unbuilt = await startTestApi({ env: { DOCS_DIR: join(folder, 'later') } });
  });
  after(async () => {
    await api?.stop();
    await unbuilt?.stop();
    rmSync(folder, { recursive: true });
  });

  describe('the site', () => {
    it('serves pages at addresses without .html, and those of directories with a slash', async () => {
      const titles: Record<string, string> = {
        '/docs': 'index',
        '/docs/': 'index',
        '/docs/client': 'client',
        '/docs/guides/': 'guides/index',
        '/docs/guides/first-mail?x=1': 'guides/first-mail',
      };
      for (const [path, title] of Object.entries(titles)) {
        const answer = await get(path);
        expect(answer.status, path).to.equal(200);
        expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
        expect(await answer.text(), path).to.contain(`<title>${title}</title>`);
      }
    });

    it('redirects other forms of an address with 308', async () => {
      const targets: Record<string, string> = {
        '/docs/guides': '/docs/guides/',
        '/docs/client/': '/docs/client',
        '/docs/client.html': '/docs/client',
        '/docs/index.html': '/docs/',
        '/docs/guides/index.html?q=1': '/docs/guides/?q=1',
      };
      for (const [path, target] of Object.entries(targets)) {
        const { status, headers } = await get(path);
        expect([status, headers.get('location')], path).to.deep.equal([308, target]);
      }
    });

    it('allows its own scripts, the inline ones by their hashes, and no other host', async () => {
      const policy = (await get('/docs/client')).headers.get('content-security-policy');
      expect(policy).to.equal(
        `default-src 'none'; script-src 'self' ${hashOf(SCRIPT)}; connect-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      );
    });

    it('lets browsers keep hashed files for ever, and ask again for pages', async () => {
      const asset = await get('/docs/assets/app.abc.js');
      expect(asset.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(asset.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
      expect((await get('/docs/hashmap.json')).headers.get('cache-control')).to.equal('no-cache');
      const first = await get('/docs/client');
      expect(first.headers.get('cache-control')).to.equal('no-cache');
      expect(await statusOfRepeated('/docs/client', first)).to.equal(304);
      const compressed = await get('/docs', { 'accept-encoding': 'gzip' });
      expect(compressed.headers.get('content-encoding')).to.equal('gzip');
      expect(await compressed.text()).to.equal(page('index'));
    });

    it('answers 404 with its own page to browsers, and with JSON to programs', async () => {
      const missing = await get('/docs/guides/nothing');
      expect([missing.status, missing.headers.get('cache-control')]).to.deep.equal([404, 'no-store']);
      expect(await missing.text()).to.contain('<title>404</title>');
      const answer = await api?.get('/docs/assets/app.old.js', { accept: 'application/json' });
      expect(answer).to.have.status(404);
      expect(answer?.body.error.suggestion).to.contain('/docs/api');
      for (const path of ['/docs', '/docs/', '/docs/client', '/docs/api', '/docs/api/contacts']) {
        const posted = await fetch(`${api?.url}${path}`, { method: 'POST' });
        expect([posted.status, posted.headers.get('allow')], path).to.deep.equal([405, 'GET, HEAD']);
      }
      for (const path of ['/docs/nothing', '/docs/api/nothing'])
        expect((await fetch(`${api?.url}${path}`, { method: 'POST' })).status, path).to.equal(404);
    });

    it('does not leave its directory', async () => {
      for (const path of ['/docs/../secret', '/docs/..%2fsecret', '/docs/%2e%2e/secret', '/docs/guides/../../secret']) {
        const raw = await RawHttp.open(api?.url ?? '');
        raw.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
        const { status } = await raw.answer();
        expect(status, path).to.be.oneOf([400, 404]);
        raw.destroy();
      }
    });

    it('says that it is being built, and appears without a restart', async () => {
      for (const path of ['/docs', '/docs/api/contacts']) {
        const before = await get(path, {}, unbuilt);
        expect([before.status, before.headers.get('refresh')], path).to.deep.equal([200, '3']);
        expect(await before.text(), path).to.contain('is being built');
      }
      writeSite(join(folder, 'draft'));
      renameSync(join(folder, 'draft'), join(folder, 'later'));
      expect(await (await get('/docs', {}, unbuilt)).text()).to.contain('<title>index</title>');
    });
  });
});
