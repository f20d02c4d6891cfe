import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of the checkout, or of the installed package. Compiled tests run from a cache inside its `node_modules`, so it is
 * looked for upwards.
 */
export const root: string = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  const file = join(folder, 'package.json');
  const isRoot = existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'everpost';
  if (isRoot || dirname(folder) === folder) return folder;
  return findRoot(dirname(folder));
}

const isCheckout = existsSync(join(root, 'dev/start.ts'));

/** Where a stack keeps its data and reads `.env`: the checkout. For the installed package: where it is started. */
export const stackFolder: string = isCheckout ? root : process.cwd();

/** What starts a stack, for messages. */
export const startCommand: string = isCheckout ? 'npm start' : 'npx everpost start';
export const startCommandWith = (option: string): string => `${startCommand}${isCheckout ? ' --' : ''} ${option}`;

/** Returns a folder of built files that the package contains beside the compiled program; undefined in a checkout. */
export function shipped(name: string): string | undefined {
  const folder = join(root, 'dist', name);
  return !isCheckout && existsSync(folder) ? folder : undefined;
}
