import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { processTimings, type Timings } from '../platform/timings.ts';
import { productVersion } from '../platform/version.ts';

const root = dirname(import.meta.dirname);
const compiled = import.meta.filename.endsWith('.js');

export interface Bundle {
  code: string;
}

/**
 * Returns the path of the workflow code for Temporal's sandbox. The compiled program ships it. From source it is bundled
 * once per state of the workflow code, which takes seconds, and cached for all processes and tests.
 */
export async function bundlePath(): Promise<string> {
  if (compiled) return join(root, 'workflow-bundle.js');
  return cachedBundlePath(join(root, 'workflows', 'index.ts'));
}

/** Puts the timings in front of the code, in its first line: the others keep their numbers. */
const withTimings = (path: string, { activity }: Timings): Bundle => ({
  code: `var activityTimings = ${JSON.stringify(activity)};${readFileSync(path, 'utf8')}`,
});

export const workflowBundle = async (timings = processTimings): Promise<Bundle> =>
  withTimings(await bundlePath(), timings);

/** Returns the name of the workflow code that runs: the one that was set, or the product's version with a hash of the code. */
export async function buildOf(given: string | undefined): Promise<string> {
  if (given) return given;
  const hash = createHash('sha256')
    .update(readFileSync(await bundlePath()))
    .digest('hex')
    .slice(0, 8);
  return `${productVersion}-${hash}`;
}

/** `entry` may define workflows besides those that it exports from `workflows/`. */
export const cachedBundle = async (entry: string): Promise<Bundle> =>
  withTimings(await cachedBundlePath(entry), processTimings);

async function cachedBundlePath(entry: string): Promise<string> {
  const codePath = join(root, 'node_modules', '.cache', 'everpost', `workflows-${fingerprint(entry)}.js`);
  if (!existsSync(codePath)) await writeBundle(entry, codePath);
  return codePath;
}

export async function writeBundle(entry: string, target: string): Promise<void> {
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: quietLogger });
  mkdirSync(dirname(target), { recursive: true });
  // Renamed into place, so that an existing file is complete even when two processes write it at once.
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

const ignore = () => {};
const quietLogger = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: (message: string) => console.warn(message),
  error: (message: string) => console.error(message),
};
