import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PackageLicence, readLicences } from './licences.ts';

export interface BillOfMaterials {
  packages: PackageLicence[];
  /** Of production. */
  components: number;
}

/** Writes the licences of all packages (licences.tsv) and the components of production (sbom.cdx.json). */
export function writeBillOfMaterials(root: string, folder: string): BillOfMaterials {
  mkdirSync(folder, { recursive: true });
  const packages = readLicences(root);
  const lines = packages.map(({ name, version, licence, isDevelopment }) =>
    [name, version, licence, isDevelopment ? 'development' : 'production'].join('\t'),
  );
  writeFileSync(join(folder, 'licences.tsv'), `${lines.sort().join('\n')}\n`);
  const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { components } = JSON.parse(sbom.toString()) as { components: unknown[] };
  writeFileSync(join(folder, 'sbom.cdx.json'), sbom);
  return { packages, components: components.length };
}
