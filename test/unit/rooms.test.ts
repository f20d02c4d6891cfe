import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';

const architecture = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** Returns the rows of the table under a heading of the architecture, without its header. */
function tableUnder(heading: string): string[][] {
  const [, section = ''] = architecture.split(`\n${heading}\n`);
  const [, ...lines] = (/(?:^\|.*\n)+/m.exec(section)?.[0] ?? '').trim().split('\n').slice(1);
  return lines.map((line) => line.split(' | ').map((cell) => cell.replaceAll(/^\| ?|[`|]/g, '').trim()));
}

/** The folders that each folder may import values from, besides itself. */
const allowedImports: Record<string, string[]> = Object.fromEntries(
  tableUnder('## Folders')
    .filter(([, , allowed]) => allowed !== 'all')
    .map(([folder = '', , allowed = '']) => [
      folder.replace(/\/$/, ''),
      allowed === 'nothing of ours' ? [] : allowed.split(', '),
    ]),
);

/** The composition roots, which may import any folder. */
const compositionRoots = ['api/server.ts', 'api/start.ts'];

/** The layers of `services/`, lowest first. A folder imports values from lower layers only, never from its own. */
const serviceLayers: string[][] = [];
for (const [layer = '', names = ''] of tableUnder('### Services')) {
  if (layer !== '' || serviceLayers.length === 0) serviceLayers.unshift([]);
  serviceLayers[0]?.push(...names.split(', '));
}

const IMPORT = /^(?:import|export)\s+(?:([^'";]*?)\s+from\s+)?'(\.[^']+)'/gm;

/** Returns false for `import type …` and for `import { type A, type B }`. */
const importsValues = (names = ''): boolean =>
  !/^type\b/.test(names) &&
  (!names.startsWith('{') ||
    names
      .replace(/[{}]/g, '')
      .split(',')
      .some((name) => name.trim() !== '' && !name.trim().startsWith('type ')));

/** Maps each file to the files that it imports; all paths are relative to the repository. */
type ImportGraph = Map<string, string[]>;

function readImportGraph(folders: string[], counts: (names?: string) => boolean): ImportGraph {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(folder, name)),
  );
  return new Map(files.map((file) => [file, readImports(file, counts)]));
}

const readImports = (file: string, counts: (names?: string) => boolean): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)]
    .filter(([, names]) => counts(names))
    .map(([, , target = '']) => relative(root, join(root, dirname(file), target)));

const folderOf = (file: string): string => file.split('/')[0] ?? '';

/** Returns a folder of `services/`, or the name of a file that lies directly in it. */
const serviceOf = (file: string): string => file.split('/')[1] ?? '';

function forbiddenImports(graph: ImportGraph, folder: string, allowed: string[]): string[] {
  return [...graph]
    .filter(([file]) => folderOf(file) === folder && !compositionRoots.includes(file))
    .flatMap(([file, targets]) =>
      targets
        .filter((target) => ![folder, ...allowed].includes(folderOf(target)))
        .map((target) => `${file} imports ${target}`),
    );
}

function importsAgainstLayers(graph: ImportGraph): string[] {
  const layerOf = (file: string) => serviceLayers.findIndex((layer) => layer.includes(serviceOf(file)));
  return [...graph]
    .filter(([file]) => folderOf(file) === 'services')
    .flatMap(([file, targets]) =>
      targets
        .filter((target) => folderOf(target) === 'services' && serviceOf(target) !== serviceOf(file))
        .filter((target) => layerOf(target) >= layerOf(file))
        .map((target) => `${file} (layer ${layerOf(file)}) imports ${target} (layer ${layerOf(target)})`),
    );
}

/** Finds circles by depth-first search: an import of a file whose own imports are still being visited closes one. */
function importCircles(graph: ImportGraph): string[] {
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    if (finished.has(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return circles;
}

describe('imports between folders', () => {
  const folders = [...Object.keys(allowedImports), 'dev', 'bench', 'proof', 'test'];
  const graph = readImportGraph(folders, importsValues);

  for (const [folder, allowed] of Object.entries(allowedImports))
    it(`${folder} imports ${allowed.length > 0 ? allowed.join(', ') : 'no other folder'}`, () => {
      expect(forbiddenImports(graph, folder, allowed)).to.deep.equal([]);
    });

  it('assigns every folder and file of services/ to one layer', () => {
    const listed = serviceLayers.flat().sort();
    expect(readdirSync(join(root, 'services')).sort()).to.deep.equal(listed);
  });

  it('imports only lower layers inside services/', () => {
    expect(importsAgainstLayers(graph)).to.deep.equal([]);
  });

  it('has no circle of imports between files, types included', () => {
    expect(importCircles(readImportGraph(folders, () => true))).to.deep.equal([]);
  });

  it('finds a circle, a file that imports itself, and no circle in a diamond', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
      ['d', ['d']],
    ]);
    const diamond = new Map([
      ['a', ['b', 'c']],
      ['b', ['d']],
      ['c', ['d']],
      ['d', []],
    ]);
    expect(importCircles(circle)).to.deep.equal(['b -> c -> b', 'd -> d']);
    expect(importCircles(diamond)).to.deep.equal([]);
  });
});
