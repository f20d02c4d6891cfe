// `npm test`: gets what the tests stand on (with progress, once), then runs mocha: for all tests twice, side by side.
// Extra arguments go to a single mocha: `npm test -- test/api/track.test.ts`, `npm test -- --grep 'wait for'`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Exit } from './child.ts';
import { program } from './program.ts';
import { toStderr, withProgress } from './report.ts';
import { type Program, runSideBySide } from './side-by-side.ts';
import { launcherGone } from './stack/launcher.ts';
import { findTemporalCli, findTestServer } from './temporal-server.ts';
import { type Counts, inTwoParts, summary, testFiles } from './test-parts.ts';

const root = resolve(import.meta.dirname, '..');
const mocha = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin/mocha.js');

async function main(args: string[]): Promise<number> {
  const env = {
    ...process.env,
    TEMPORAL_CLI_PATH: await findTemporalCli(toStderr),
    TEMPORAL_TEST_SERVER_PATH: await findTestServer(toStderr),
  };
  const folder = mkdtempSync(join(tmpdir(), 'everpost-mocha-'));
  try {
    return await (args.length > 0 ? runSome(args, folder, env) : runAll(folder, env));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isSpec = (arg: string): boolean => /\.test\.ts$/.test(arg) || arg.startsWith('test/');

function runSome(args: string[], folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  // Mocha adds the files it is named to those of its configuration; who names files wants only these.
  const config = configuration(join(folder, 'mocharc.json'), args.some(isSpec) ? { spec: [] } : {});
  const child = spawn(process.execPath, [...config, ...args], { cwd: root, env, stdio: 'inherit' });
  void told().then((signal) => child.kill(signal));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('exit', (code, signal) => done(code ?? exitCodeOf(signal)));
  });
}

async function runAll(folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  // Before the clock of any test runs, and before both parts want it at once.
  await withProgress(toStderr, 'Compiling the program', program);
  const parts = inTwoParts(testFiles(root));
  const resultOf = (n: number) => join(folder, `result-${n}.json`);
  const [first, second] = parts.map(({ files }, n): Program => {
    const config = configuration(join(folder, `mocharc-${n}.json`), { spec: files });
    // The one whose output is kept in a file does not see the terminal by itself.
    const color = process.stdout.isTTY ? ['--color'] : [];
    return { args: [...config, ...color, '--reporter-option', `result=${resultOf(n)}`], env, cwd: root };
  }) as [Program, Program];
  toStderr(`${parts[0].name} follow; ${parts[1].name} run beside, and are shown after.`);
  const say = (text: string | Uint8Array) => process.stdout.write(text);
  const { exits, endedBy } = await runSideBySide(first, second, { file: join(folder, 'output'), told: told(), say });
  if (endedBy) return exitCodeOf(endedBy);
  const outcomes = parts.map(({ name }, n) => ({ name, exit: exits[n] as Exit, counts: readCounts(resultOf(n)) }));
  const { lines, failed } = summary(outcomes);
  console.log(`\n${lines.join('\n')}`);
  return failed > 0 ? 1 : 0;
}

/** That we are to end: by a signal, which may have gone to us alone, or because npm, which got it, is gone. */
function told(): Promise<NodeJS.Signals> {
  const signals = new Promise<NodeJS.Signals>((tell) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, tell);
  });
  return Promise.race([signals, launcherGone().then(() => 'SIGTERM' as const)]);
}

/** Arguments of Node for mocha itself: its launcher would start a second Node, and not pass every signal on to it. */
function configuration(file: string, changes: { spec?: string[] }): string[] {
  const config = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8')) as { import: string; spec: string[] };
  const { import: loader, ...rest } = { ...config, ...changes };
  writeFileSync(file, JSON.stringify(rest));
  return ['--import', loader, mocha, '--config', file];
}

function readCounts(file: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Counts;
  } catch {
    return undefined;
  }
}

const exitCodeOf = (signal: NodeJS.Signals | null): number => 128 + (signal ? constants.signals[signal] : 0);

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  },
);
