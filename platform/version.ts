import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version in the package.json of the product, in the nearest folder above: beside the sources, or above `dist/`. */
export const productVersion: string = findVersion(import.meta.dirname);

function findVersion(folder: string): string {
  const file = join(folder, 'package.json');
  const { name, version }: { name?: string; version?: string } = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : {};
  if (name === 'everpost' && version) return version;
  return dirname(folder) === folder ? 'unknown' : findVersion(dirname(folder));
}
