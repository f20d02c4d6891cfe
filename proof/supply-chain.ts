import { spawnSync } from 'node:child_process';
import { root } from '../dev/root.ts';
import type { ProofRow } from './report.ts';

/** Runs `npm run supply-chain`. */
export async function checkSupplyChain(report: (line: string) => void): Promise<ProofRow[]> {
  report('supply: npm run supply-chain');
  const args = ['dev/bootstrap.mjs', 'dev/supply-chain.ts'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  const violations = stderr.split('\n').filter((line) => line.startsWith('- '));
  if (status !== 0 && violations.length === 0) violations.push(stderr.slice(-500));
  const note = stdout.trim().split('\n').join('; ');
  return [{ part: 'supply', what: 'audit, licences, SBOM, secrets', checked: '4 checks', violations, details: note }];
}
