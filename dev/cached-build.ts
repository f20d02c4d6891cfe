// Builds static files once for every state of their source, and compresses them. `npm start`, `npm run build` and the tests
// share the result.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { lock } from './lock.ts';
import { type ReportProgress, withProgress } from './report.ts';
import { root } from './root.ts';
import { API_TYPES } from './typescript-types.ts';

const cacheDir = join(root, 'node_modules', '.cache', 'everpost');
const COMPRESSIBLE = ['.html', '.js', '.css', '.svg', '.json'];
/** A smaller file fits into one packet anyway. */
const MIN_BYTES = 1_000;
const MAX_AGE_MS = 7 * 24 * 3600 * 1000;

export interface CachedBuild {
  /** Names its directories in the cache. */
  name: string;
  /** Reported while it runs. */
  title: string;
  /** The files that it is built from, besides the package lock. */
  sources(): string[];
  /** A built file that it is built from as well. Only its content counts. */
  alsoFrom?: string;
  build(target: string): Promise<void>;
}

/** Returns where the build of the present source is, or will be. */
export function directoryOf({ name, sources, alsoFrom }: CachedBuild): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const file of sources()) hash.update(`\0${file.slice(root.length)}\0`).update(readFileSync(file));
  if (alsoFrom) hash.update('\0').update(readFileSync(alsoFrom));
  return join(cacheDir, `${name}-${hash.digest('hex').slice(0, 24)}`);
}

/** Returns the directory of the built files, and builds them when their source has changed since. */
export async function builtDir(build: CachedBuild, report: ReportProgress): Promise<string> {
  const dir = directoryOf(build);
  if (existsSync(dir)) return dir;
  mkdirSync(cacheDir, { recursive: true });
  const buildLock = await lock(join(cacheDir, `${build.name}.lock`), () => {});
  try {
    if (!existsSync(dir)) await withProgress(report, build.title, () => buildInto(build, dir));
    return dir;
  } finally {
    buildLock.release();
  }
}

/** Copies the built files for `npm run build`. */
export async function writeBuild(build: CachedBuild, target: string, report: ReportProgress): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  cpSync(await builtDir(build, report), target, { recursive: true });
}

async function buildInto({ name, build }: CachedBuild, dir: string): Promise<void> {
  removeOld(name);
  const draft = join(cacheDir, `${name}-draft`);
  rmSync(draft, { recursive: true, force: true });
  await build(draft);
  await compress(draft);
  renameSync(draft, dir);
}

async function compress(dir: string): Promise<void> {
  const files = filesOf(dir).filter((file) => COMPRESSIBLE.includes(extname(file)));
  await Promise.all(
    files.map(async (file) => {
      const content = readFileSync(file);
      if (content.length < MIN_BYTES) return;
      const options = { params: { [zlib.BROTLI_PARAM_QUALITY]: 11 } };
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(content, options));
      writeFileSync(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}

function removeOld(build: string): void {
  const pattern = new RegExp(`^${build}-[0-9a-f]{24}$`);
  for (const name of readdirSync(cacheDir).filter((name) => pattern.test(name))) {
    const old = join(cacheDir, name);
    if (Date.now() - statSync(old).mtimeMs > MAX_AGE_MS) rmSync(old, { recursive: true, force: true });
  }
}

export const filesOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    // Types are not built.
    .filter((file) => statSync(file).isFile() && !file.endsWith(API_TYPES))
    .sort();
