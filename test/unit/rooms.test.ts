import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';

/** The folders that each folder may import values from, besides itself. See docs/architecture.md. */
const allowedImports: Record<string, string[]> = {
  platform: [],
  db: ['platform'],
  services: ['db', 'platform'],
  temporal: ['platform'],
  workflows: [],
  activities: ['services', 'db', 'platform'],
  web: ['platform'],
  api: ['services', 'platform', 'web'],
  client: [],
  cli: ['services', 'db', 'platform', 'temporal', 'client'],
  worker: ['activities', 'services', 'db', 'platform', 'temporal', 'workflows'],
};

/** The composition roots, which may import any folder. */
const compositionRoots = ['api/server.ts', 'api/start.ts'];

/** The layers of `services/`, lowest first. A folder imports values from lower layers only, never from its own. */
const serviceLayers = [
  ['paging.ts', 'range.ts'],
  ['audit', 'conditions', 'idempotency', 'outbox', 'throttle'],
  ['blocking', 'request-log', 'sessions', 'system'],
  ['access', 'notifications', 'users'],
  ['contacts', 'domains', 'members', 'projects', 'segments', 'suppressions', 'uploads', 'webhooks'],
  ['addresses', 'billing', 'events', 'sealing', 'security', 'templates'],
  ['activity', 'emails', 'workflows'],
  ['campaigns', 'export', 'notices', 'reconciler', 'retention', 'usage'],
  ['sending'],
  ['analytics', 'operators', 'removal'],
  ['jobs'],
];

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
