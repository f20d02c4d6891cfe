// Compiles the program as `npm run build` does, for `npm start` and tests: started from TypeScript, every process would take
// seconds. The tests are compiled with the program that they test. Compiled once for every state of the source.
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sourceExtension } from '../platform/process-flags.ts';
import { bundlePath } from '../worker/bundle.ts';
import { BUNDLE, compile } from './compile.ts';
import { lock } from './lock.ts';
import { type ReportProgress, withProgress } from './report.ts';
import { root } from './root.ts';
import { API_TYPES } from './typescript-types.ts';

// Inside node_modules, so that the compiled files resolve our packages.
const cacheDir = join(root, 'node_modules', '.cache', 'everpost');
const MAX_AGE_MS = 24 * 3600 * 1000;

interface Compilation {
  /** Names its directories in the cache. */
  name: string;
  tsconfig: string;
}

const compiled = new Map<string, Promise<string>>();

/** Returns a directory with the content of `dist/`. */
export const compiledProgram = async (report: ReportProgress = () => {}): Promise<string> =>
  // Compiled tests stand beside the program that they test.
  sourceExtension === '.js'
    ? resolve(import.meta.dirname, '..')
    : compiledOnce({ name: 'program', tsconfig: 'tsconfig.build.json' }, report);

/** Returns a directory with the content of `dist/` and the tests. */
export const compiledTests = (report: ReportProgress = () => {}): Promise<string> =>
  compiledOnce({ name: 'tests', tsconfig: 'tsconfig.test.json' }, report);

function compiledOnce(compilation: Compilation, report: ReportProgress): Promise<string> {
  const known = compiled.get(compilation.name);
  const directory = known ?? findOrCompile(compilation, report);
  compiled.set(compilation.name, directory);
  return directory;
}

async function findOrCompile(compilation: Compilation, report: ReportProgress): Promise<string> {
  const { name } = compilation;
  const buildLock = existsSync(dirForCurrentSource(compilation))
    ? undefined
    : await lock(join(cacheDir, `${name}.lock`), () => {});
  try {
    if (existsSync(dirForCurrentSource(compilation))) return dirForCurrentSource(compilation);
    return await withProgress(report, `Compiling the ${name}`, () => compileCurrentSource(compilation));
  } finally {
    buildLock?.release();
  }
}

const dirForCurrentSource = ({ name, tsconfig }: Compilation): string =>
  join(cacheDir, `${name}-${fingerprint(tsconfig)}`);

async function compileCurrentSource(compilation: Compilation): Promise<string> {
  removeOld();
  const draft = join(cacheDir, `${compilation.name}-draft`);
  for (;;) {
    const target = dirForCurrentSource(compilation);
    await compile(draft, { tsconfig: compilation.tsconfig });
    copyFileSync(await bundlePath(), join(draft, BUNDLE));
    // The source was edited while it was compiled: the output would be stored under the wrong fingerprint.
    if (dirForCurrentSource(compilation) !== target) continue;
    renameSync(draft, target);
    return target;
  }
}

function removeOld(): void {
  for (const name of readdirSync(cacheDir).filter((name) => /^(program|tests)-/.test(name))) {
    const old = join(cacheDir, name);
    if (Date.now() - statSync(old).mtimeMs > MAX_AGE_MS) rmSync(old, { recursive: true, force: true });
  }
}

function fingerprint(tsconfig: string): string {
  const config = readFileSync(join(root, tsconfig), 'utf8');
  const { include: folders } = JSON.parse(config) as { include: string[] };
  const hash = createHash('sha256').update(config);
  for (const file of ['tsconfig.json', 'package-lock.json', ...folders.flatMap(filesOf)]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 24);
}

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    // None is compiled.
    .filter((file) => !file.includes('node_modules') && !file.startsWith('web/app/') && !file.endsWith(API_TYPES))
    .filter((file) => statSync(join(root, file)).isFile())
    .sort();
