import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { NOT_ON_OPENING, PAGE_CALLS } from '../../bench/pages-calls.ts';
import { root } from '../../dev/root.ts';

const app = resolve(root, 'web/app/src');
/** Written by `npm run api-types`. */
const GENERATED = 'api/api-types.ts';

/** Without the names and the query: `/contacts/{}`. */
const shapeOf = (path: string): string =>
  path
    .replace(/\?.*/, '')
    .replace(/\{[^}]*\}/g, '{}')
    // Names of an event and of a field, which are no ids.
    .replace('/events/login/', '/events/{}/')
    .replace('/fields/data.tag/', '/fields/{}/');

/** The paths that the web application reads, wherever it calls GET. */
function pathsOfApp(): string[] {
  const files = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && file !== GENERATED,
  );
  const paths = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(app, file), 'utf8');
    for (const [, path = ''] of text.matchAll(/\.GET\(\s*'([^']+)'/g)) paths.add(path);
    // `useJob` chooses among constants.
    if (/\.GET\(paths\[/.test(text))
      for (const [, path = ''] of text.matchAll(/: '(\/[^']+\{jobId\})'/g)) paths.add(path);
  }
  return [...paths];
}

describe('the calls of pages that the benchmark measures', () => {
  const measured = new Set(Object.values(PAGE_CALLS).flat().map(shapeOf));

  it('include every path that the web application reads', () => {
    const missing = pathsOfApp().filter((path) => !measured.has(shapeOf(path)) && !(path in NOT_ON_OPENING));
    expect(missing, 'add them to bench/pages-calls.ts').to.deep.equal([]);
  });

  it('name no path that the web application does not read', () => {
    const read = new Set(pathsOfApp().map(shapeOf));
    expect([...measured].filter((path) => !read.has(path))).to.deep.equal([]);
  });
});
