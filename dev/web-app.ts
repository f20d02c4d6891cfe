// Builds the web application with Vite and compresses its files. Built once for every state of its source.
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
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { lock } from './lock.ts';
import { type ReportProgress, withProgress } from './report.ts';
import { runCommand } from './run.ts';

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'web/app');
const cacheDir = join(root, 'node_modules', '.cache', 'everpost');
const COMPRESSIBLE = ['.html', '.js', '.css', '.svg'];
/** A smaller file fits into one packet anyway. */
const MIN_BYTES = 1_000;
const MAX_AGE_MS = 7 * 24 * 3600 * 1000;

/** Returns the directory of the built application, and builds it when its source has changed since. */
export async function webAppDir(report: ReportProgress): Promise<string> {
  const dir = join(cacheDir, `web-app-${fingerprint()}`);
  if (existsSync(dir)) return dir;
  mkdirSync(cacheDir, { recursive: true });
  const buildLock = await lock(join(cacheDir, 'web-app.lock'), () => {});
  try {
    if (!existsSync(dir)) await withProgress(report, 'Building the web application', () => buildInto(dir));
    return dir;
  } finally {
    buildLock.release();
  }
}

/** Copies the built application for `npm run build`. */
export async function writeWebApp(target: string, report: ReportProgress): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  cpSync(await webAppDir(report), target, { recursive: true });
}

async function buildInto(dir: string): Promise<void> {
  removeOld();
  const draft = join(cacheDir, 'web-app-draft');
  rmSync(draft, { recursive: true, force: true });
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  // NODE_ENV decides which build of React is used; a test run has its own.
  const env = { ...process.env, NODE_ENV: 'production' };
  await runCommand(process.execPath, [vite, 'build', source, '--outDir', draft, '--emptyOutDir'], { cwd: root, env });
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

function removeOld(): void {
  for (const name of readdirSync(cacheDir).filter((name) => /^web-app-[0-9a-f]{24}$/.test(name))) {
    const old = join(cacheDir, name);
    if (Date.now() - statSync(old).mtimeMs > MAX_AGE_MS) rmSync(old, { recursive: true, force: true });
  }
}

function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const file of filesOf(source)) hash.update(`\0${file.slice(source.length)}\0`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 24);
}

const filesOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile())
    .sort();
