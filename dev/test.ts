// `npm test`: fetches the Temporal servers once, compiles program and tests, and runs the test files in a pool of mochas.

import { availableParallelism, constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { processorSeconds } from '../bench/processor-time.ts';
import { findTemporalServer } from './cluster/temporal-binaries.ts';
import { docsSiteDir } from './docs-site.ts';
import { compiledProgram, compiledTests } from './program.ts';
import { toStderr } from './report.ts';
import { root } from './root.ts';
import { launcherGone } from './stack/launcher.ts';
import { findTemporalCli, findTestServer } from './temporal-server.ts';
import { namedFiles, plan, readTimes, recordTimes, testFiles } from './testing/files.ts';
import type { FileResult } from './testing/messages.ts';
import { type PoolOutcome, TestPool } from './testing/pool.ts';
import { SharedServers } from './testing/servers.ts';
import { fileLine, summary } from './testing/summary.ts';
import { webAppDir } from './web-app.ts';

const USAGE = `npm test                              all *.test.ts
npm test -- test/api/track.test.ts    one or more files or folders
npm test -- --grep 'wait for'         only tests whose title matches
npm test -- --all                     with *.ci.ts too, as CI does
npm test -- --times                   prints the time of every file
npm test -- --record-times            writes the times to test/times.json, which orders the files`;

/** Files that mostly wait run this many at once, besides those that keep a core busy. */
const WAITING = 2;

interface Options {
  files: string[];
  grep: string | undefined;
  all: boolean;
  times: boolean;
  record: boolean;
}

function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      grep: { type: 'string', short: 'g' },
      all: { type: 'boolean', default: false },
      times: { type: 'boolean', default: false },
      'record-times': { type: 'boolean', default: false },
    },
  });
  const { grep, all, times, 'record-times': record } = values;
  return { files: namedFiles(root, positionals), grep, all, times, record };
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  const files = options.files.length > 0 ? options.files : testFiles(root, options);
  const env = {
    ...process.env,
    EVERPOST_TEST_CHILD: 'true',
    ...(process.stdout.isTTY && { EVERPOST_TEST_COLOR: 'true' }),
    TEMPORAL_CLI_PATH: await findTemporalCli(toStderr),
    TEMPORAL_TEST_SERVER_PATH: await findTestServer(toStderr),
  };
  const tests = await compiledTests(toStderr);
  if (options.files.length === 0) await buildAll(options);
  const servers = new SharedServers();
  const pool = new TestPool({
    entry: join(tests, 'test/support/mocha-child.js'),
    env,
    cwd: root,
    busy: availableParallelism(),
    waiting: WAITING,
    grep: options.grep,
    addressOf: (server) => servers.addressOf(server),
    onFailure: (file, failure) => console.error(`FAILED: ${file}: ${failure}`),
    onResult: (result) => print(result, options),
  });
  let stoppedBy: NodeJS.Signals | undefined;
  void stopSignal().then((signal) => {
    stoppedBy = signal;
    pool.stop('SIGTERM');
  });
  try {
    const outcome = await pool.run(plan(files, readTimes(root)));
    // Stopped before the report, so that their processor time is counted.
    await servers.stop();
    if (stoppedBy) return 128 + constants.signals[stoppedBy];
    return report(outcome, { ...options, files });
  } finally {
    await servers.stop();
  }
}

/** Before any test timeout runs, and before several children need the same. */
async function buildAll({ all }: Options): Promise<void> {
  await webAppDir(toStderr);
  if (!all) return;
  // Where it cannot be built, the test of the cluster fails with the same message.
  await findTemporalServer(toStderr).catch((error: Error) => toStderr(error.message));
  await docsSiteDir(await compiledProgram(toStderr), toStderr);
}

/** Prints the titles of a file that failed, or that was named. */
function print(result: FileResult, { files, grep }: Options): void {
  const wholeOutput = result.failed > 0 || files.length > 0;
  if (wholeOutput) console.log(`\n${result.file}\n${result.output}`);
  else if (!grep || result.passed > 0) console.log(fileLine(result));
}

function report(outcome: PoolOutcome, { files, grep, times, record }: Options): number {
  const apiFiles = testFiles(root).filter((file) => file.startsWith('test/api/'));
  const ranAllApiTests = !grep && apiFiles.every((file) => files.includes(file));
  const { lines, failed } = summary(outcome, { allTimes: times, ranAllApiTests });
  const measured = outcome.results.filter((result) => result.failed === 0);
  if (record) recordTimes(root, Object.fromEntries(measured.map(({ file, seconds, cpu }) => [file, { seconds, cpu }])));
  const last = lines.pop();
  const took = `${Math.round(performance.now() / 1000)} s, ${Math.round(processorSeconds(process.pid))} s of processor time`;
  console.log(`\n${[...lines, took, last].join('\n')}`);
  return failed > 0 ? 1 : 0;
}

/** Resolves when this process must end: at a signal, which npm may not have received, or when npm has exited. */
function stopSignal(): Promise<NodeJS.Signals> {
  const signals = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
  return Promise.race([signals, launcherGone().then(() => 'SIGTERM' as const)]);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
    console.error(error instanceof Error ? error.message : error);
    if (isUsage) console.error(`\n${USAGE}`);
    process.exitCode = 1;
  },
);
