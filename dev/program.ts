// Compiles the program as `npm run build` does, for `npm start` and tests: started from TypeScript, every process would take
// seconds. Compiled once for every state of the source and shared by all.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { workflowBundle } from '../worker/bundle.ts';
import { BUNDLE, compile } from './compile.ts';
import { lock } from './lock.ts';
import { type ReportProgress, withProgress } from './report.ts';

const root = resolve(import.meta.dirname, '..');
// Inside node_modules, so that the compiled files resolve our packages.
const cacheDir = join(root, 'node_modules', '.cache', 'everpost');
const MAX_AGE_MS = 24 * 3600 * 1000;

let programDir: Promise<string> | undefined;

/** Returns a directory with the content of `dist/`. */
export function compiledProgram(report: ReportProgress = () => {}): Promise<string> {
  programDir ??= findOrCompile(report);
  return programDir;
}

async function findOrCompile(report: ReportProgress): Promise<string> {
  const buildLock = existsSync(dirForCurrentSource())
    ? undefined
    : await lock(join(cacheDir, 'program.lock'), () => {});
  try {
    if (existsSync(dirForCurrentSource())) return dirForCurrentSource();
    return await withProgress(report, 'Compiling the program', compileCurrentSource);
  } finally {
    buildLock?.release();
  }
}

const dirForCurrentSource = (): string => join(cacheDir, `program-${fingerprint()}`);

async function compileCurrentSource(): Promise<string> {
  removeOld();
  const draft = join(cacheDir, 'program-draft');
  for (;;) {
    const target = dirForCurrentSource();
    // `npm run typecheck` checks the types.
    await compile(draft, ['--noCheck']);
    copyFileSync((await workflowBundle()).codePath, join(draft, BUNDLE));
    // node_modules has no package.json that declares ES modules.
    writeFileSync(join(draft, 'package.json'), '{ "type": "module" }');
    // The source was edited while it was compiled: the output would be stored under the wrong fingerprint.
    if (dirForCurrentSource() !== target) continue;
    renameSync(draft, target);
    return target;
  }
}

function removeOld(): void {
  for (const name of readdirSync(cacheDir).filter((name) => name.startsWith('program-'))) {
    const old = join(cacheDir, name);
    if (Date.now() - statSync(old).mtimeMs > MAX_AGE_MS) rmSync(old, { recursive: true, force: true });
  }
}

function fingerprint(): string {
  const config = readFileSync(join(root, 'tsconfig.build.json'), 'utf8');
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
    .filter((file) => statSync(join(root, file)).isFile())
    .sort();
