// Runs test files as a part of the proof.
import { spawn } from 'node:child_process';
import { root } from '../dev/root.ts';
import type { ProofRow } from './report.ts';

/** Runs the files with `npm test`; every failed test is a violation. */
export async function runTests(part: string, files: string[], report: (line: string) => void): Promise<ProofRow[]> {
  report(`${part}: npm test -- ${files.join(' ')}`);
  const child = spawn(process.execPath, ['dev/bootstrap.mjs', 'dev/test.ts', ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  });
  const [, passed = '0', failed = '0'] = /(\d+) passed, (\d+) failed\s*$/.exec(output) ?? [];
  const titles = [...output.matchAll(/^ {2}(\d+\) [\s\S]*?)(?=\n\n)/gm)].map(([, title = '']) =>
    title.replace(/\s+/g, ' '),
  );
  const violations =
    code === 0 ? [] : titles.length > 0 ? titles : [`npm test ended with ${code}: ${output.slice(-1_000)}`];
  return [
    {
      part,
      what: files.map((file) => file.replace(/^test\//, '')).join(', '),
      checked: `${passed} tests`,
      violations,
      note: `${failed} failed`,
    },
  ];
}
