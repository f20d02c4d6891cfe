// `npm run supply-chain`: known vulnerabilities, licences, a bill of materials, credentials in the repository. Works
// without network, except that vulnerabilities are then not looked up, which it says.
import { join } from 'node:path';
import { root } from './root.ts';
import { auditPackages } from './supply-chain/audit.ts';
import { writeBillOfMaterials } from './supply-chain/bill.ts';
import { licenceViolations } from './supply-chain/licences.ts';
import { scanForSecrets } from './supply-chain/secrets.ts';

const folder = join(root, 'dist', 'supply-chain');

function main(): number {
  const violations: string[] = [];

  const audit = auditPackages(root);
  if (audit.kind === 'unreachable') console.log(`audit: NOT CHECKED, the registry cannot be asked (${audit.reason})`);
  else console.log(`audit: ${audit.advisories.length} known vulnerabilities`);
  if (audit.kind === 'checked') violations.push(...audit.advisories);

  const { packages, components } = writeBillOfMaterials(root, folder);
  const refused = licenceViolations(packages);
  violations.push(...refused);
  console.log(`licences: ${packages.length} packages, ${refused.length} to look at (dist/supply-chain/licences.tsv)`);
  console.log(`SBOM: ${components} components of production (dist/supply-chain/sbom.cdx.json)`);

  const { files, found } = scanForSecrets(root);
  console.log(`secrets: ${files} files, ${found.length} found`);
  violations.push(...found.map(({ file, line, form }) => `${file}:${line} looks like a ${form}`));

  for (const violation of violations) console.error(`- ${violation}`);
  return violations.length > 0 ? 1 : 0;
}

process.exitCode = main();
