// `npm run budget`: fails when the web application loads more than it may, measured over Vite's manifest and gzip.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { toStderr } from './report.ts';
import { webAppDir } from './web-app.ts';

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

type Manifest = Record<string, Chunk>;

/** In kB of 1,000 bytes after gzip. */
const LIMITS = { entry: 160, css: 35, font: 50, listPage: 50, charts: 110, canvas: 210, editor: 200 };
/** Pages whose texts are loaded apart from those of all others. */
const EVERYDAY_PAGES = ['contacts', 'segments', 'templates', 'campaigns', 'emails', 'domains'];
const OTHER_PAGES = ['suppressions', 'webhooks', 'jobs'];
const listPage = (name: string): string => `src/pages/${name}/list.tsx`;
const CHARTS = 'src/pages/home/chart.tsx';
const CANVAS = 'src/pages/workflows/canvas/editor.tsx';
const EDITOR = 'src/editor/visual-editor.tsx';
/** Shows the editor, or that of HTML. */
const EDITOR_PAGE = 'src/pages/templates/edit.tsx';
const EDITOR_TEXTS = 'src/texts/en/editor.ts';
const APPLICATION = 'src/app.tsx';
const FRAME_TEXTS = 'src/texts/en/common.ts';
const EVERYDAY_TEXTS = 'src/texts/en/everyday.ts';
const ALL_TEXTS = 'src/texts/en/index.ts';
const HOME = 'src/pages/home/home.tsx';

const dir = await webAppDir(toStderr);
const manifest = JSON.parse(readFileSync(join(dir, '.vite/manifest.json'), 'utf8')) as Manifest;

/** All chunks that a browser loads for this one, without those that it imports later. */
function closureOf(key: string, known = new Set<string>()): Set<string> {
  if (known.has(key)) return known;
  known.add(key);
  for (const imported of manifest[key]?.imports ?? []) closureOf(imported, known);
  return known;
}

const sizes = new Map<string, number>();
function kilobytes(file: string): number {
  const known = sizes.get(file) ?? gzipSync(readFileSync(join(dir, file)), { level: 9 }).length / 1000;
  sizes.set(file, known);
  return known;
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
const scriptsOf = (keys: Iterable<string>): string[] => [...keys].flatMap((key) => manifest[key]?.file ?? []);
const stylesOf = (keys: Iterable<string>): string[] => [
  ...new Set([...keys].flatMap((key) => manifest[key]?.css ?? [])),
];
const weigh = (keys: Iterable<string>): number =>
  sum([...scriptsOf(keys), ...stylesOf(keys)].map((file) => kilobytes(file)));
const without = (keys: Set<string>, ...others: Set<string>[]): string[] =>
  [...keys].filter((key) => !others.some((other) => other.has(key)));

/** The file that every visit loads; those of other scripts are loaded where a text needs them. Fonts are compressed already. */
function fontSize(): number {
  const file = readdirSync(join(dir, 'assets')).find((name) => /^inter-latin-wght-normal.*\.woff2$/.test(name));
  if (file === undefined) throw new Error('the font is not in the build');
  return statSync(join(dir, 'assets', file)).size / 1000;
}

const entryKey = Object.keys(manifest).find((key) => manifest[key]?.isEntry) ?? '';
// The application and the texts of the frame are loaded with the entry; the texts of pages with the first page.
const entry = new Set([entryKey, APPLICATION, FRAME_TEXTS].flatMap((key) => [...closureOf(key)]));
const home = closureOf(EVERYDAY_TEXTS, closureOf(HOME));
const listRow = (name: string, texts: string): [string, number, number] => [
  listPage(name),
  weigh(without(closureOf(texts, closureOf(listPage(name))), entry)),
  LIMITS.listPage,
];
const rows: [name: string, kilobytes: number, limit: number][] = [
  ['entry, scripts', sum(scriptsOf(entry).map(kilobytes)), LIMITS.entry],
  ['entry, CSS', sum(stylesOf(entry).map(kilobytes)), LIMITS.css],
  ['font of Latin letters', fontSize(), LIMITS.font],
  ...EVERYDAY_PAGES.map((name) => listRow(name, EVERYDAY_TEXTS)),
  ...OTHER_PAGES.map((name) => listRow(name, ALL_TEXTS)),
  ['charts', weigh(without(closureOf(CHARTS), entry, home)), LIMITS.charts],
  ['canvas', weigh(without(closureOf(CANVAS), entry)), LIMITS.canvas],
  [
    'visual editor',
    weigh(without(closureOf(EDITOR_TEXTS, closureOf(EDITOR)), entry, closureOf(EDITOR_PAGE))),
    LIMITS.editor,
  ],
];
for (const [name, size, limit] of rows) {
  const isOver = size > limit;
  console.log(`${isOver ? 'OVER' : 'ok  '} ${name.padEnd(36)} ${size.toFixed(1).padStart(6)} of ${limit} kB`);
  if (isOver) process.exitCode = 1;
}
