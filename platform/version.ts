import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The version of the product, from package.json: beside this folder, or above `dist/`. */
export const productVersion: string = (() => {
  const file = ['..', '../..']
    .map((up) => join(import.meta.dirname, up, 'package.json'))
    .find((path) => existsSync(path));
  return file ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : 'unknown';
})();
