// Reads the built web application into memory at start: a few megabytes that never change while the process runs.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, resolve, sep } from 'node:path';

export type Encoding = 'br' | 'gzip';

export interface WebAppFile {
  contentType: string;
  content: Buffer;
  /** Written by the build, where compressing helps. */
  compressed: Partial<Record<Encoding, Buffer>>;
  /** Its name has a hash of its content. */
  immutable: boolean;
}

/** By path below `/app/`. */
export type WebAppFiles = ReadonlyMap<string, WebAppFile>;

export const INDEX = 'index.html';
/** Vite puts hashed files here. */
const HASHED = 'assets/';

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

const suffixes: Record<Encoding, string> = { br: '.br', gzip: '.gz' };

/** Returns undefined when the application is not built. */
export function readWebApp(dir: string | undefined): WebAppFiles | undefined {
  const found = candidates(dir).find((candidate) => existsSync(join(candidate, INDEX)));
  if (!found) return undefined;
  const files = readdirSync(found, { recursive: true, encoding: 'utf8' })
    .map((name) => join(found, name))
    .filter((file) => contentTypes[extname(file)] && statSync(file).isFile());
  return new Map(files.map((file) => [relative(found, file).split(sep).join('/'), readOne(file, found)]));
}

/** Beside the compiled program; for a program that runs from its source, the last build. */
const candidates = (dir: string | undefined): string[] =>
  dir ? [resolve(dir)] : ['../../app', '../../dist/app'].map((path) => join(import.meta.dirname, path));

function readOne(file: string, dir: string): WebAppFile {
  const compressed: WebAppFile['compressed'] = {};
  for (const [encoding, suffix] of Object.entries(suffixes) as [Encoding, string][])
    if (existsSync(file + suffix)) compressed[encoding] = readFileSync(file + suffix);
  const contentType = contentTypes[extname(file)] ?? '';
  return {
    contentType,
    content: readFileSync(file),
    compressed,
    immutable: relative(dir, file).split(sep).join('/').startsWith(HASHED),
  };
}
