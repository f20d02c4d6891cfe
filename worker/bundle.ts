import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';

const root = dirname(import.meta.dirname);
const compiled = import.meta.filename.endsWith('.js');

export interface Bundle {
  codePath: string;
}

/**
 * The workflow code as Temporal's sandbox wants it. The compiled program has it beside itself; from source it is made
 * once for every state of the workflow code, which takes seconds, and shared by all processes and tests.
 */
export async function workflowBundle(): Promise<Bundle> {
  if (compiled) return { codePath: join(root, 'workflow-bundle.js') };
  return cachedBundle(join(root, 'workflows', 'index.ts'));
}

/** `entry` may hold workflows of its own beside those that it takes from `workflows/`. */
export async function cachedBundle(entry: string): Promise<Bundle> {
  const codePath = join(root, 'node_modules', '.cache', 'everpost', `workflows-${fingerprint(entry)}.js`);
  if (!existsSync(codePath)) await writeBundle(entry, codePath);
  return { codePath };
}

export async function writeBundle(entry: string, target: string): Promise<void> {
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: quiet });
  mkdirSync(dirname(target), { recursive: true });
  // Renamed into place: a file that is there is whole, also when two processes make it at once.
  const draft = `${target}.${process.pid}`;
  writeFileSync(draft, code);
  renameSync(draft, target);
}

function fingerprint(entry: string): string {
  const folder = join(root, 'workflows');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[jt]s$/.test(name));
  const hash = createHash('sha256').update(sdkVersion());
  for (const file of [entry, ...files.sort().map((name) => join(folder, name))]) {
    hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 24);
}

function sdkVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('@temporalio/worker/package.json');
  return version;
}

const nothing = () => {};
const quiet = {
  log: nothing,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: (message: string) => console.warn(message),
  error: (message: string) => console.error(message),
};
