import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PackageLicence {
  name: string;
  version: string;
  licence: string;
  /** Only needed to develop: not part of the image. */
  isDevelopment: boolean;
}

/** Licences that ask for no more than naming the authors. MPL-2.0 asks for its own files only. */
const ALLOWED = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
  'Python-2.0',
  'MPL-2.0',
  'CC-BY-4.0',
  'PostgreSQL',
  'Zlib',
  'WTFPL',
  // Fonts: may be bundled and sold with software, but not on their own.
  'OFL-1.1',
  'PSF-2.0',
]);

/** Why a package is used although its licence is not in the list. */
const EXPLAINED: Record<string, string> = {
  unionfs: 'names no licence in package.json; its file LICENSE is the Unlicense',
};

interface LockEntry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  link?: boolean;
}

/** Lists the installed packages of package-lock.json. */
export function readLicences(root: string): PackageLicence[] {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(lock.packages).flatMap(([path, { version = '', dev = false, link }]) => {
    const licence = path === '' || link ? undefined : licenceOf(join(root, path));
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return licence === undefined ? [] : [{ name, version, licence, isDevelopment: dev }];
  });
}

/** Undefined where an optional package is not installed. */
function licenceOf(folder: string): string | undefined {
  try {
    const { license, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const given = license ?? licenses;
    const texts = [given]
      .flat()
      .map((one: string | { type?: string } | undefined) => (typeof one === 'object' ? one.type : one));
    return texts.filter(Boolean).join(' OR ') || 'none';
  } catch {
    return undefined;
  }
}

/** An expression is allowed when one side of each OR is, and all sides of each AND are. */
export function isAllowedLicence(expression: string): boolean {
  const plain = expression.replace(/[()]/g, ' ').trim();
  return plain.split(/\s+OR\s+/).some((choice) => choice.split(/\s+AND\s+/).every((one) => ALLOWED.has(one.trim())));
}

export const licenceViolations = (packages: PackageLicence[]): string[] =>
  packages
    .filter(({ name, licence }) => !isAllowedLicence(licence) && !(name in EXPLAINED))
    .map(({ name, version, licence }) => `${name} ${version} has the licence ${licence}`);
