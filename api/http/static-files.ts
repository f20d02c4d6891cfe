// Reads built files into memory at start and serves them: a few megabytes that never change while the process runs.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { Context } from './context.ts';

type Encoding = 'br' | 'gzip';

export interface StaticFile {
  contentType: string;
  content: Buffer;
  /** Written by the build, where compressing helps. */
  compressed: Partial<Record<Encoding, Buffer>>;
  /** Its name has a hash of its content. */
  immutable: boolean;
  etag: string;
}

/** By path below the directory. A path that leaves the directory is no key. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

export const INDEX = 'index.html';
/** Vite and VitePress put hashed files here. */
const HASHED = 'assets/';
const WEEK_SECONDS = 7 * 86_400;
const YEAR_SECONDS = 365 * 86_400;

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

const suffixes: Record<Encoding, string> = { br: '.br', gzip: '.gz' };

/** Reads the first of the directories that was built; undefined when none was. */
export function readStaticFiles(directories: string[]): StaticFiles | undefined {
  const found = directories.find((directory) => existsSync(join(directory, INDEX)));
  if (!found) return undefined;
  const files = readdirSync(found, { recursive: true, encoding: 'utf8' })
    .map((name) => join(found, name))
    .filter((file) => contentTypes[extname(file)] && statSync(file).isFile());
  return new Map(files.map((file) => [relative(found, file).split(sep).join('/'), readOne(file, found)]));
}

function readOne(file: string, dir: string): StaticFile {
  const compressed: StaticFile['compressed'] = {};
  for (const [encoding, suffix] of Object.entries(suffixes) as [Encoding, string][])
    if (existsSync(file + suffix)) compressed[encoding] = readFileSync(file + suffix);
  const content = readFileSync(file);
  return {
    contentType: contentTypes[extname(file)] ?? '',
    content,
    compressed,
    immutable: relative(dir, file).split(sep).join('/').startsWith(HASHED),
    etag: etagOf(content),
  };
}

/** Weak, because the encodings of a file share it. */
export const etagOf = (content: Buffer | string): string =>
  `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;

/** Answers with a file, in the best encoding that the client takes. */
export function sendStaticFile(ctx: Context, file: StaticFile): void {
  const lifetime = file.immutable ? `${YEAR_SECONDS}, immutable` : WEEK_SECONDS;
  ctx.set({ 'Content-Type': file.contentType, 'Cache-Control': `public, max-age=${lifetime}` });
  sendEncoded(ctx, file);
}

/** Sets only what depends on the encoding; the caller sets the other headers. */
export function sendEncoded(ctx: Context, { content, compressed }: Pick<StaticFile, 'content' | 'compressed'>): void {
  if (Object.keys(compressed).length > 0) ctx.vary('Accept-Encoding');
  // Asked one by one: of encodings that the browser likes equally, koa returns the first that it names.
  const encoding = (['br', 'gzip'] as const).find((name) => compressed[name] && ctx.acceptsEncodings(name));
  if (encoding) ctx.set('Content-Encoding', encoding);
  ctx.body = (encoding && compressed[encoding]) || content;
}
