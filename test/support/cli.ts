// Runs the compiled `everpost` as an operator does.
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { compiledProgram } from '../../dev/program.ts';
import { runDirectory } from './cleanup.ts';
import type { Env } from './processes.ts';

/** Returns the JSON that the command prints; it has `ok`, and `error` when it failed. */
export async function runCli(args: string[], env: Env): Promise<Record<string, unknown>> {
  const file = join(await compiledProgram(), 'cli/main.js');
  const home = mkdtempSync(join(runDirectory(), 'cli-'));
  const options = { env: { PATH: process.env.PATH, EVERPOST_HOME: home, ...env } };
  return new Promise((done, failed) => {
    execFile(process.execPath, [file, ...args, '--json'], options, (error, stdout, stderr) => {
      if (stdout.startsWith('{')) done(JSON.parse(stdout));
      else failed(new Error(`everpost ${args.join(' ')}: ${stderr || error?.message}`));
    });
  });
}
