import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, linkSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../dev/ports.ts';
import { query, startPostgres } from '../dev/postgres.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { ownNamespace } from '../test/support/temporal-work.ts';
import { load, type Path, ROUND_SECONDS, type Targets } from './accept.ts';
import type { SideAnswer, SideOrder } from './before-side.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { RECIPIENTS } from './campaigns.ts';

const root = resolve(import.meta.dirname, '..');
const REVISION = process.env.BENCH_BEFORE ?? 'HEAD~1';
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const AIM = '>= 0.97';

type SideName = 'before' | 'now';
type Rates = Record<SideName, number[]>;

export const beforeBench: Bench = {
  name: 'before',
  about: `/v1/track, /v1/send and a campaign to ${RECIPIENTS} compared with the same of ${REVISION}`,
  onlyByName: true,
  async run(progress) {
    const checkouts = { before: checkOut(REVISION), now: root };
    const serverUrl = await startServer();
    return [...(await accept(checkouts, serverUrl, progress)), await campaign(checkouts, serverUrl, progress)];
  },
};

type Checkouts = Record<SideName, string>;
type Progress = (line: string) => void;

/** Creates a worktree of the revision, with the packages and the benchmarks of this one. */
export function checkOut(revision: string): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const folder = join(runDirectory(), 'before');
  git('worktree', 'add', '--detach', '--quiet', folder, revision);
  atEnd(() => void git('worktree', 'remove', '--force', folder));
  linkTree(join(root, 'node_modules'), join(folder, 'node_modules'));
  rmSync(join(folder, 'bench'), { recursive: true, force: true });
  cpSync(join(root, 'bench'), join(folder, 'bench'), { recursive: true });
  return folder;
}

/** Uses hard links, not one symbolic link: the renderer may only read below its real folder. Caches are not shared. */
function linkTree(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === '.cache') continue;
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    // The target is on another file system.
    copyFileSync(source, target);
  }
}

async function startServer(): Promise<string> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-before'),
    port: await freePort(),
    settings: { max_connections: '200' },
    logFile: join(runDirectory(), 'bench-before.log'),
  });
  atEnd(() => postgres.stop());
  return postgres.url;
}

async function database(serverUrl: string, name: string): Promise<string> {
  await query(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** A process with the modules of one revision: those of two would clash in one process. */
class Side {
  private readonly checkout: string;
  private readonly child: ChildProcess;

  constructor(checkout: string) {
    this.checkout = checkout;
    this.child = fork(join(checkout, 'bench', 'before-side.ts'), [], {
      cwd: checkout,
      execArgv: ['--import', 'tsx'],
    });
    atEnd(() => this.stop());
  }

  async execute(order: SideOrder): Promise<SideAnswer> {
    this.child.send(order);
    const exited = once(this.child, 'exit').then(() => {
      throw new Error(`${this.checkout}: ${order.kind} failed (see above)`);
    });
    const [answer] = (await Promise.race([once(this.child, 'message'), exited])) as [SideAnswer];
    return answer;
  }

  async stop(): Promise<void> {
    if (!this.child.connected) return;
    this.child.disconnect();
    await once(this.child, 'exit');
  }
}

async function accept(checkouts: Checkouts, serverUrl: string, progress: Progress): Promise<Measure[]> {
  const sides: Side[] = [];
  const start = async (name: SideName): Promise<Targets> => {
    const side = new Side(checkouts[name]);
    sides.push(side);
    const { targets } = await side.execute({ kind: 'api', databaseUrl: await database(serverUrl, `accept_${name}`) });
    if (!targets) throw new Error(`no API of ${name}`);
    return targets;
  };
  const targets = { before: await start('before'), now: await start('now') };
  const measures: Measure[] = [];
  for (const path of ['/v1/track', '/v1/send'] satisfies Path[])
    measures.push(
      await alternate(path, 'requests/s', progress, async (name, isWarmUp) => {
        return (await load(targets[name][path], path, isWarmUp ? 2 : ROUND_SECONDS)).rate;
      }),
    );
  for (const side of sides) await side.stop();
  return measures;
}

async function campaign(checkouts: Checkouts, serverUrl: string, progress: Progress): Promise<Measure> {
  const start = async (name: SideName): Promise<Side> => {
    const side = new Side(checkouts[name]);
    const { address, namespace, close } = await ownNamespace();
    atEnd(close);
    const databaseUrl = await database(serverUrl, `campaign_${name}`);
    await side.execute({ kind: 'worker', databaseUrl, temporal: { address, namespace } });
    return side;
  };
  const sides = { before: await start('before'), now: await start('now') };
  const result = await alternate(`campaign to ${RECIPIENTS}`, 'mails/s', progress, async (name) => {
    return (await sides[name].execute({ kind: 'campaign' })).rate ?? Number.NaN;
  });
  await Promise.all([sides.before.stop(), sides.now.stop()]);
  return result;
}

/** Runs one warm-up round of each, then the rounds that count. The side that goes first alternates. */
async function alternate(
  what: string,
  unit: string,
  progress: Progress,
  rateOf: (name: SideName, isWarmUp: boolean) => Promise<number>,
): Promise<Measure> {
  const rates: Rates = { before: [], now: [] };
  for (let round = 0; round <= ROUNDS; round++) {
    const order: SideName[] = round % 2 ? ['before', 'now'] : ['now', 'before'];
    for (const name of order) {
      const rate = await rateOf(name, round === 0);
      if (round > 0) rates[name].push(rate);
    }
    const [now = 0, before = 0] = [rates.now.at(-1), rates.before.at(-1)];
    if (round > 0)
      progress(
        `${what}, round ${round} of ${ROUNDS}: ${now.toFixed(0)} against ${before.toFixed(0)}, ${(now / before).toFixed(2)}`,
      );
  }
  return measure(what, unit, median(rates.now), median(rates.before), AIM);
}
