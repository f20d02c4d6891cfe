// `npm start`: the whole platform in one terminal. `npm start -- --fresh` begins anew.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadEnvFile } from 'node:process';
import { readSettings } from '../platform/settings.ts';
import type { Report } from './report.ts';
import { banner } from './stack/banner.ts';
import { Home } from './stack/home.ts';
import { launcherGone } from './stack/launcher.ts';
import { endOrphans } from './stack/orphans.ts';
import { Family } from './stack/process-group.ts';
import { removeStackFile, stackFile, startStack } from './stack/stack.ts';

const root = resolve(import.meta.dirname, '..');
const say: Report = (line) => console.log(line);

async function main(args: string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== '--fresh');
  if (unknown.length > 0)
    throw new Error(`Unknown argument ${unknown.join(' ')}. There is only --fresh, to begin anew.`);
  const envFile = join(root, '.env');
  if (existsSync(envFile)) loadEnvFile(envFile);
  const settings = readSettings(process.env);
  const home = new Home(resolve(root, settings.home));
  const lock = home.lock();
  const family = new Family(home.room('run'));
  const ground = { home, family };
  // Whatever happens, an address that nobody answers is not left standing.
  process.once('exit', () => {
    removeStackFile(ground);
    lock.release();
  });
  removeStackFile(ground);
  const told = signalled();
  void told.second.then(() => family.end(true));
  const start = async (): Promise<void> => {
    await endOrphans(home.room('run'), say);
    if (args.includes('--fresh')) home.makeFresh();
    console.log(banner(await startStack(ground, settings, say), stackFile(ground)));
  };
  const failed = new Promise<string>((tell) => start().catch((error: unknown) => tell(messageOf(error))));
  const fault = await Promise.race([told.first, launcherGone(), family.death, failed]);
  removeStackFile(ground);
  if (fault) console.error(`\n${fault}\n`);
  console.log('Stopping …');
  await family.end();
  console.log('Everything has ended.');
  return fault ? 1 : 0;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The first signal asks for a clean end; one that comes later says that it takes too long. Ctrl-C reaches us twice, from
 * the terminal and from npm, which passes it on: what follows at once is the same wish.
 */
function signalled(): { first: Promise<undefined>; second: Promise<undefined> } {
  let [firstAt, callFirst, callSecond] = [0, () => {}, () => {}];
  const first = new Promise<undefined>((call) => {
    callFirst = () => call(undefined);
  });
  const second = new Promise<undefined>((call) => {
    callSecond = () => call(undefined);
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      callFirst();
      firstAt ||= Date.now();
      if (Date.now() - firstAt > 1_000) callSecond();
    });
  }
  return { first, second };
}

// A terminal that is closed takes our output away, which is no reason to leave the children behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(messageOf(error));
    process.exit(1);
  },
);
