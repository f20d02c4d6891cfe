// `npm run supply-chain`: known vulnerabilities, licences, a bill of materials, credentials in the repository. Works
// without network, except that vulnerabilities are then not looked up, which it says.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.ts';
import { auditPackages } from './supply-chain/audit.ts';
import { licenceViolations, readLicences } from './supply-chain/licences.ts';
import { scanForSecrets } from './supply-chain/secrets.ts';

const folder = join(root, 'dist', 'supply-chain');

function main(): number {
  mkdirSync(folder, { recursive: true });
  const violations: string[] = [];

  const audit = auditPackages(root);
  if (audit.kind === 'unreachable') console.log(`audit: NOT CHECKED, the registry cannot be asked (${audit.reason})`);
  else console.log(`audit: ${audit.advisories.length} known vulnerabilities`);
  if (audit.kind === 'checked') violations.push(...audit.advisories);

  const packages = readLicences(root);
  const lines = packages.map(({ name, version, licence, isDevelopment }) =>
    [name, version, licence, isDevelopment ? 'development' : 'production'].join('\t'),
  );
  writeFileSync(join(folder, 'licences.tsv'), `${lines.sort().join('\n')}\n`);
  const refused = licenceViolations(packages);
  violations.push(...refused);
  console.log(`licences: ${packages.length} packages, ${refused.length} to look at (dist/supply-chain/licences.tsv)`);

  const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { components } = JSON.parse(sbom.toString()) as { components: unknown[] };
  writeFileSync(join(folder, 'sbom.cdx.json'), sbom);
  console.log(`SBOM: ${components.length} components of production (dist/supply-chain/sbom.cdx.json)`);

  const { files, found } = scanForSecrets(root);
  console.log(`secrets: ${files} files, ${found.length} found`);
  violations.push(...found.map(({ file, line, form }) => `${file}:${line} looks like a ${form}`));

  for (const violation of violations) console.error(`- ${violation}`);
  return violations.length > 0 ? 1 : 0;
}

process.exitCode = main();
