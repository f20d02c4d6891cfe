import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { startTestApi, type TestApi } from '../support/api.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' https: data:; style-src 'self' 'unsafe-inline'; font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const SCRIPT = `console.log("${'x'.repeat(2_000)}")`;

describe('/app/', () => {
  let api: TestApi | undefined;
  let unbuilt: TestApi | undefined;
  let folder: string;
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${api?.url}${path}`, { headers: { accept: 'text/html', ...headers }, redirect: 'manual' });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'everpost-web-app-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><html lang="en"><title>Everpost</title></html>');
    writeFileSync(join(folder, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    writeFileSync(join(folder, 'assets/main-abc.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/main-abc.js.br'), brotliCompressSync(SCRIPT));
    writeFileSync(join(folder, 'assets/main-abc.js.gz'), gzipSync(SCRIPT));
    api = await startTestApi({ env: { WEB_APP_DIR: folder } });
    unbuilt = await startTestApi({ env: { WEB_APP_DIR: join(folder, 'nothing') } });
  });
  after(async () => {
    await api?.stop();
    await unbuilt?.stop();
    rmSync(folder, { recursive: true });
  });

  it('redirects a browser from / with 302, and answers 404 to a program', async () => {
    const answer = await get('/');
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([302, '/app/']);
    expect((await get('/app')).headers.get('location')).to.equal('/app/');
    expect((await get('/', { accept: 'application/json' })).status).to.equal(404);
  });

  it('serves the page on every path, uncached, with its policy', async () => {
    for (const path of ['/app/', '/app/p/1/contacts?search=x', '/app/p/1/contacts/2', '/app/index.html']) {
      const answer = await get(path);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get('content-security-policy'), path).to.equal(POLICY);
      expect(answer.headers.get('cache-control'), path).to.equal('no-store');
      expect(answer.headers.get('content-type'), path).to.equal('text/html; charset=utf-8');
    }
  });

  it('tells the page whether the browser has a session', async () => {
    expect(await (await get('/app/')).text()).to.contain('<html data-signed-out lang="en">');
    expect(await (await get('/app/', { cookie: 'everpost_session=abc' })).text()).to.contain('<html lang="en">');
  });

  it('serves hashed files for ever, in the best encoding that the browser takes', async () => {
    const plain = await get('/app/assets/main-abc.js', { 'accept-encoding': 'identity' });
    expect(plain.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(plain.headers.get('vary')).to.contain('Accept-Encoding');
    expect(await plain.text()).to.equal(SCRIPT);
    const gzip = await get('/app/assets/main-abc.js', { 'accept-encoding': 'gzip' });
    expect(gzip.headers.get('content-encoding')).to.equal('gzip');
    expect(await gzip.text()).to.equal(SCRIPT);
    const brotli = await get('/app/assets/main-abc.js', { 'accept-encoding': 'gzip, br' });
    expect(brotli.headers.get('content-encoding')).to.equal('br');
    expect(await brotli.text()).to.equal(SCRIPT);
  });

  it('answers 404 for a hashed file of another version, and does not leave its folder', async () => {
    expect((await get('/app/assets/main-old.js')).status).to.equal(404);
    const outside = await get('/app/assets/..%2f..%2fpackage.json');
    expect([404, 400]).to.include(outside.status);
  });

  it('answers HEAD without a body, and 405 to other methods', async () => {
    const head = await fetch(`${api?.url}/app/`, { method: 'HEAD' });
    expect([head.status, await head.text()]).to.deep.equal([200, '']);
    for (const path of ['/', '/app', '/app/', '/app/p/x/contacts'])
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const answer = await fetch(`${api?.url}${path}`, { method });
        expect([answer.status, answer.headers.get('allow')], path).to.deep.equal([405, 'GET, HEAD']);
        expect(((await answer.json()) as { error: object }).error).to.include({ code: 'BAD_REQUEST' });
      }
    expect((await fetch(`${api?.url}/app/assets/main-old.js`, { method: 'POST' })).status).to.equal(404);
  });

  it('says how to build the application when it is not there', async () => {
    const answer = await unbuilt?.get('/app/', { accept: 'text/html' });
    expect(answer).to.have.status(404);
    expect(answer?.body.error.suggestion).to.contain('npm run build');
  });
});
