import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';

const folders = [
  'activities',
  'api',
  'bench',
  'cli',
  'db',
  'dev',
  'platform',
  'proof',
  'services',
  'temporal',
  'worker',
  'workflows',
];

/** Still to be looked at: names of templates that others use too. */
const excluded = [/^platform\/(smtp|templates)\//, /^workflows\/campaign\.ts$/];

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm;
/** `export { a, b as c };`, also after `export type`; not `export { a } from '…'`, which exports the same thing again. */
const EXPORT_LIST = /^export (?:type )?\{([^}]*)\}(?! from)/gm;
/** `export const { a, b: c } = …` */
const DESTRUCTURING = /^export const \{([^}]*)\} =/gm;

/** Returns the names that a file declares and exports. */
function exportedNames(source: string): Set<string> {
  const names = [...source.matchAll(DECLARATION)].map(([, name = '']) => name);
  for (const [, list = ''] of [...source.matchAll(EXPORT_LIST), ...source.matchAll(DESTRUCTURING)])
    for (const item of list.split(',')) {
      const name = item
        .replace(/^\s*type\s/, '')
        .split(/\sas\s|:/)
        .at(-1)
        ?.trim();
      if (name) names.push(name);
    }
  return new Set(names);
}

/** Maps each name that several files export to those files. */
function namesOfSeveralFiles(sources: Map<string, string>): Record<string, string[]> {
  const filesByName = new Map<string, string[]>();
  for (const [file, source] of sources)
    for (const name of exportedNames(source)) filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
  return Object.fromEntries([...filesByName].filter(([, files]) => files.length > 1));
}

const readSources = (): Map<string, string> =>
  new Map(
    folders
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
          .map((name) => join(folder, name)),
      )
      .filter((file) => !excluded.some((pattern) => pattern.test(file)))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  );

describe('exported names', () => {
  it('are exported by one file each', () => {
    expect(namesOfSeveralFiles(readSources())).to.deep.equal({});
  });

  it('finds a name that two files declare, whatever it is', () => {
    const sources = new Map([
      [
        'a.ts',
        'export const one = 1;\nexport interface Two {}\nexport async function three() {}\nexport class Four {}',
      ],
      ['b.ts', 'export type one = 1;\nconst two = 2;\nexport { two as Two };\nexport const { three, x: Four } = y;'],
    ]);
    const both = ['a.ts', 'b.ts'];
    expect(namesOfSeveralFiles(sources)).to.deep.equal({ one: both, Two: both, three: both, Four: both });
  });

  it('accepts a second export of the same thing, and overloads', () => {
    const sources = new Map([
      ['a.ts', 'export function one(a: string): void;\nexport function one(a: number): void;'],
      ['b.ts', "export { one } from './a.ts';\nexport * from './a.ts';"],
    ]);
    expect(namesOfSeveralFiles(sources)).to.deep.equal({});
  });
});
