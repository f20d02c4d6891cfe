import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';
import { runDirectory } from '../support/cleanup.ts';

const BASE = '/everpost/';
const build = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['dev/bootstrap.mjs', 'dev/docs-build.ts', ...args], { cwd: root });

describe('npm run docs:build', () => {
  let folder: string;
  let pages: string[];
  const read = (page: string) => readFileSync(join(folder, page), 'utf8');

  before(async () => {
    folder = join(mkdtempSync(join(runDirectory(), 'docs-')), 'site');
    await build('--base', BASE, '--out', folder);
    pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('writes every page, with guides, operations, trust, changelog and the API reference', () => {
    expect(pages).to.include.members([
      'index.html',
      '404.html',
      'guides/first-mail.html',
      'guides/migration.html',
      'guides/from-listmonk.html',
      'guides/from-resend.html',
      'guides/windows.html',
      'guides/deliverability.html',
      'operations.html',
      'settings.html',
      'capacity.html',
      'reliability.html',
      'proof-results.html',
      'security.html',
      'stored-data.html',
      'changelog.html',
      'api/contacts.html',
    ]);
    expect(read('changelog.html')).to.contain('One sending engine');
  });

  it('has only links to files that it has, below its base', () => {
    const dead = pages.flatMap((page) => {
      // Examples show addresses of installations.
      const html = read(page).replace(/<(code|pre)\b[\s\S]*?<\/\1>/g, '');
      return [...html.matchAll(/<(?:a|link|script|img)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].flatMap(
        ([, address = '']) => {
          const { origin, pathname } = new URL(address.replaceAll('&amp;', '&'), `http://site.test${BASE}${page}`);
          if (origin !== 'http://site.test') return /^https:/.test(origin) ? [] : [`${page}: ${address}`];
          const file = pathname.slice(BASE.length) || 'index.html';
          const exists =
            pathname.startsWith(BASE) && existsSync(join(folder, file.endsWith('/') ? `${file}index.html` : file));
          return exists ? [] : [`${page}: ${address}`];
        },
      );
    });
    expect([...new Set(dead)]).to.deep.equal([]);
  });

  it('has no form that would call an API, and no link to a dashboard', () => {
    for (const page of pages) {
      expect(read(page), page).not.to.contain('Try it</summary>');
      expect(read(page), page).not.to.contain('class="dashboard"');
    }
  });

  it('searches all pages with one index', () => {
    const [index = ''] = readdirSync(join(folder, 'assets/chunks')).filter((name) =>
      name.startsWith('@localSearchIndexroot'),
    );
    const text = readFileSync(join(folder, 'assets/chunks', index), 'utf8');
    for (const page of ['guides/deliverability.html', 'operations.html', 'changelog.html', 'api/contacts.html'])
      expect(text, page).to.contain(`${BASE}${page}`);
  });

  it('refuses a base without slashes, and a folder with other files', async () => {
    const refused = (...args: string[]) =>
      build(...args).then(
        () => '',
        ({ stderr }: { stderr: string }) => stderr,
      );
    expect(await refused('--base', 'everpost', '--out', folder)).to.contain('--base must begin and end with a slash');
    const other = join(folder, '..', 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'mine.txt'), '');
    expect(await refused('--out', other)).to.contain('has other files');
    expect(existsSync(join(other, 'mine.txt'))).to.equal(true);
  });
});
