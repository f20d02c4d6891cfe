// `npm test`: gets what the tests stand on (with progress, once), then runs mocha.
// Extra arguments go to mocha: `npm test -- test/api/track.test.ts`, `npm test -- --grep 'wait for'`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { toStderr } from './report.ts';
import { findTemporalCli, findTestServer } from './temporal-server.ts';

const root = resolve(import.meta.dirname, '..');

async function main(args: string[]): Promise<number> {
  const env = {
    ...process.env,
    TEMPORAL_CLI_PATH: await findTemporalCli(toStderr),
    TEMPORAL_TEST_SERVER_PATH: await findTestServer(toStderr),
  };
  const require = createRequire(import.meta.url);
  const mocha = join(dirname(require.resolve('mocha/package.json')), 'bin/mocha.js');
  const config = args.some(isSpec) ? configWithoutSpecs() : undefined;
  try {
    return await runMocha([mocha, ...(config ? ['--config', config] : []), ...args], env);
  } finally {
    if (config) rmSync(dirname(config), { recursive: true, force: true });
  }
}

const isSpec = (arg: string): boolean => /\.test\.ts$/.test(arg) || arg.startsWith('test/');

/** Mocha adds the files it is named to those of its configuration; who names files wants only these. */
function configWithoutSpecs(): string {
  const { spec: _, ...config } = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8')) as { spec: string[] };
  const file = join(mkdtempSync(join(tmpdir(), 'everpost-mocha-')), 'mocharc.json');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function runMocha(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const mocha = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  // Ctrl-C reaches mocha by itself, in the same terminal; we only have to outlive it.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => mocha.kill('SIGTERM'));
  return new Promise((done, failed) => {
    mocha.once('error', failed);
    mocha.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
