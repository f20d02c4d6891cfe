// For tests: the program as `npm run build` makes it, from the source as it is now. From TypeScript every process would
// take seconds to begin. Made once for every state of the source, and shared by all runs.
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

const root = resolve(import.meta.dirname, '..');
// Below the checkout, where the packages are found.
const shelf = join(root, 'node_modules', '.cache', 'everpost');
const KEPT_MS = 24 * 3600 * 1000;

let found: Promise<string> | undefined;

/** The directory that is like `dist/`. */
export function program(): Promise<string> {
  found ??= find();
  return found;
}

async function find(): Promise<string> {
  const held = existsSync(shelved()) ? undefined : await lock(join(shelf, 'program.lock'), () => {});
  try {
    return existsSync(shelved()) ? shelved() : await make();
  } finally {
    held?.release();
  }
}

const shelved = (): string => join(shelf, `program-${fingerprint()}`);

async function make(): Promise<string> {
  removeOld();
  const draft = join(shelf, 'program-draft');
  for (;;) {
    const target = shelved();
    // `npm run typecheck` looks at types.
    await compile(draft, ['--noCheck']);
    copyFileSync((await workflowBundle()).codePath, join(draft, BUNDLE));
    // Below node_modules nothing says so otherwise.
    writeFileSync(join(draft, 'package.json'), '{ "type": "module" }');
    // Edited meanwhile, it would stand under the name of a source that it was not made of.
    if (shelved() !== target) continue;
    renameSync(draft, target);
    return target;
  }
}

function removeOld(): void {
  for (const name of readdirSync(shelf).filter((name) => name.startsWith('program-'))) {
    const old = join(shelf, name);
    if (Date.now() - statSync(old).mtimeMs > KEPT_MS) rmSync(old, { recursive: true, force: true });
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
