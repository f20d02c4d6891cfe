import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the checkout. Compiled tests run from a cache inside its `node_modules`, so it is looked for upwards. */
export const root: string = findRoot(import.meta.dirname);

function findRoot(folder: string): string {
  const file = join(folder, 'package.json');
  const isRoot = existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'everpost';
  if (isRoot || dirname(folder) === folder) return folder;
  return findRoot(dirname(folder));
}
