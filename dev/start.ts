// `npm start` of a checkout, `everpost start` of the package: runs the whole platform in one terminal. `--fresh` deletes all
// data first, `--no-sample` leaves the sample project out.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import { pathToFileURL } from 'node:url';
import { readSettings } from '../platform/settings.ts';
import { type ReportProgress, seconds } from './report.ts';
import { stackFolder, startCommandWith } from './root.ts';
import { banner } from './stack/banner.ts';
import { diskShortage, FIRST_START_MB, RUNNING_MB } from './stack/disk.ts';
import { Home } from './stack/home.ts';
import { launcherGone } from './stack/launcher.ts';
import { stopOrphans } from './stack/orphans.ts';
import { ProcessGroup } from './stack/process-group.ts';
import { areDocsBuilt, buildDocs, removeStackFile, signInLink, stackFile, startStack } from './stack/stack.ts';

const print: ReportProgress = (line) => console.log(line);
/** When this process was started. */
const startedAt = performance.timeOrigin;

async function main(args: string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== '--fresh' && arg !== '--no-sample');
  if (unknown.length > 0)
    throw new Error(
      `Unknown argument ${unknown.join(' ')}. There are --fresh, which deletes all data first, and --no-sample, which leaves out the project "Sample shop".`,
    );
  const envFile = join(stackFolder, '.env');
  if (existsSync(envFile)) loadEnvFile(envFile);
  const settings = readSettings(process.env);
  const homeDir = resolve(stackFolder, settings.home);
  const shortage = await diskShortage(homeDir, neededMb(homeDir, args));
  if (shortage) throw new Error(`${shortage} Free some space, then start again.`);
  const home = new Home(homeDir);
  const lock = home.lock();
  const processGroup = new ProcessGroup(home.directory('run'));
  const context = { home, processGroup };
  // stack.json must not outlive the stack, however it ends.
  process.once('exit', () => {
    removeStackFile(context);
    lock.release();
  });
  removeStackFile(context);
  const signals = listenForSignals();
  void signals.second.then(() => {
    console.log('Ending at once …');
    return processGroup.stop(true);
  });
  const startAll = async (): Promise<void> => {
    await stopOrphans(home.directory('run'), print);
    if (args.includes('--fresh')) home.makeFresh();
    const sample = !args.includes('--no-sample');
    const stack = await startStack(context, settings, print, { sample });
    const signInUrl = await signInLink(stack).catch(() => undefined);
    console.log(banner(stack, { file: stackFile(context), signInUrl, areDocsBuilt: await areDocsBuilt(settings) }));
    print(`  Started in ${seconds(startedAt)}.`);
    await buildDocs(settings, stack.docsUrl, print);
  };
  const failed = new Promise<string>((resolve) => startAll().catch((error: unknown) => resolve(messageOf(error))));
  const failureMessage = await Promise.race([signals.first, launcherGone(), processGroup.unexpectedExit, failed]);
  removeStackFile(context);
  if (failureMessage) {
    const fullDisk = await diskShortage(homeDir, RUNNING_MB);
    console.error(`\n${[failureMessage, fullDisk, help(home)].filter(Boolean).join('\n\n')}\n`);
  }
  console.log('Stopping … Press Ctrl-C again to end at once.');
  await processGroup.stop();
  console.log('Everything has ended.');
  return failureMessage ? 1 : 0;
}

function neededMb(homeDir: string, args: string[]): number {
  if (!existsSync(join(homeDir, 'postgres'))) return FIRST_START_MB;
  // It frees space.
  return args.includes('--fresh') ? 1 : RUNNING_MB;
}

const help = (home: Home): string =>
  [
    `The logs are in ${home.file('logs')}.`,
    '"npx everpost doctor" checks the settings and every server that they name.',
    `"${startCommandWith('--fresh')}" deletes all data and begins anew.`,
  ].join('\n');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Two signals within this time are one Ctrl-C, which arrives from the terminal and from npm, which passes it on. */
const SAME_PRESS_MS = 300;

/** The first Ctrl-C asks for a clean shutdown, the second for an immediate one. A third signal is never of the first press. */
function listenForSignals(): { first: Promise<undefined>; second: Promise<undefined> } {
  let count = 0;
  let firstAt = 0;
  let callFirst = () => {};
  let callSecond = () => {};
  const first = new Promise<undefined>((call) => {
    callFirst = () => call(undefined);
  });
  const second = new Promise<undefined>((call) => {
    callSecond = () => call(undefined);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      count++;
      firstAt ||= Date.now();
      callFirst();
      if (count > 2 || Date.now() - firstAt > SAME_PRESS_MS) callSecond();
    });
  }
  return { first, second };
}

/** Runs until a signal, and exits. */
export function start(args: string[]): void {
  // A closed terminal breaks stdout and stderr; the children must be stopped all the same.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  main(args).then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(messageOf(error));
      process.exit(1);
    },
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) start(process.argv.slice(2));
