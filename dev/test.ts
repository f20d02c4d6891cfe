// `npm test`: fetches the Temporal servers once, then runs mocha. All tests run in two mochas, side by side.
// `npm test -- --all` runs the slow ones too (`*.matrix.ts`), `npm test -- --ci` also a cluster.
// Other arguments go to a single mocha: `npm test -- test/api/track.test.ts`, `npm test -- --grep 'wait for'`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ProcessExit } from './child.ts';
import { findTemporalServer } from './cluster/temporal-binaries.ts';
import { docsSiteDir } from './docs-site.ts';
import { compiledProgram } from './program.ts';
import { toStderr, withProgress } from './report.ts';
import { type Program, runSideBySide } from './side-by-side.ts';
import { launcherGone } from './stack/launcher.ts';
import { findTemporalCli, findTestServer } from './temporal-server.ts';
import { ciFiles, inTwoParts, summary, type TestCounts, type TestPart, testFiles } from './test-parts.ts';
import { webAppDir } from './web-app.ts';

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
    const [only] = args.length === 1 ? args : [];
    const [all, ci] = [only === '--all' || only === '--ci', only === '--ci'];
    return await (args.length > 0 && !all ? runSome(args, folder, env) : runAll(folder, env, { all, ci }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isSpec = (arg: string): boolean => /\.test\.ts$/.test(arg) || arg.startsWith('test/');

async function runSome(args: string[], folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  // Mocha adds the files of its arguments to those of its configuration; only the named files are to run.
  const config = configuration(join(folder, 'mocharc.json'), args.some(isSpec) ? { spec: [] } : {});
  const { code, signal } = await run({ args: [...config, ...args], env, cwd: root }, stopSignal());
  return code ?? exitCodeOf(signal);
}

function run({ args, env, cwd }: Program, stopped: Promise<NodeJS.Signals>): Promise<ProcessExit> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'inherit' });
  void stopped.then((signal) => child.kill(signal));
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('exit', (code, signal) => done({ code, signal }));
  });
}

interface Selection {
  all: boolean;
  ci: boolean;
}

async function runAll(folder: string, env: NodeJS.ProcessEnv, { all, ci }: Selection): Promise<number> {
  // Built before any test timeout runs. Where it cannot be built, the test of the cluster fails with the same message.
  if (ci) await findTemporalServer(toStderr).catch((error: Error) => toStderr(error.message));
  // Compiled before any test timeout runs, and before both parts need it at once.
  await withProgress(toStderr, 'Compiling the program', compiledProgram);
  await webAppDir(toStderr);
  await docsSiteDir(toStderr);
  const parts = inTwoParts(testFiles(root, { all }));
  const resultOf = (n: number) => join(folder, `result-${n}.json`);
  const programOf = ({ files }: TestPart, n: number): Program => {
    const config = configuration(join(folder, `mocharc-${n}.json`), { spec: files });
    // A mocha whose output goes to a file does not detect the terminal.
    const color = process.stdout.isTTY ? ['--color'] : [];
    return { args: [...config, ...color, '--reporter-option', `result=${resultOf(n)}`], env, cwd: root };
  };
  const [first, second] = parts.map(programOf) as [Program, Program];
  toStderr(`${parts[0].name} are shown first; ${parts[1].name} run in parallel and are shown afterwards.`);
  const stopped = stopSignal();
  const write = (text: string | Uint8Array) => process.stdout.write(text);
  const { exits, endedBy } = await runSideBySide(first, second, {
    file: join(folder, 'output'),
    stopSignal: stopped,
    write,
  });
  if (endedBy) return exitCodeOf(endedBy);
  const outcomes = parts.map(({ name }, n) => ({
    name,
    exit: exits[n] as ProcessExit,
    counts: readCounts(resultOf(n)),
  }));
  if (ci) {
    const [name, n] = ['slow tests', parts.length];
    const exit = await run(programOf({ name, files: ciFiles }, n), stopped);
    outcomes.push({ name, exit, counts: readCounts(resultOf(n)) });
  }
  const { lines, failed } = summary(outcomes);
  console.log(`\n${lines.join('\n')}`);
  return failed > 0 ? 1 : 0;
}

/** Resolves when this process must end: at a signal, which npm may not have received, or when npm has exited. */
function stopSignal(): Promise<NodeJS.Signals> {
  const signals = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
  return Promise.race([signals, launcherGone().then(() => 'SIGTERM' as const)]);
}

/** Returns Node's arguments for mocha itself: mocha's launcher starts a second Node and does not pass every signal on. */
function configuration(file: string, changes: { spec?: string[] }): string[] {
  const config = JSON.parse(readFileSync(join(root, '.mocharc.json'), 'utf8')) as { import: string; spec: string[] };
  const { import: loader, ...rest } = { ...config, ...changes };
  writeFileSync(file, JSON.stringify(rest));
  return ['--import', loader, mocha, '--config', file];
}

function readCounts(file: string): TestCounts | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestCounts;
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
