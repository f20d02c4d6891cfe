import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { newId } from '../platform/ids.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { startApi, startWorker } from '../test/support/processes.ts';
import { type OwnNamespace, ownNamespace } from '../test/support/temporal-work.ts';
import { startBare } from './accept.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { receiptHtml } from './mail-text.ts';
import { forked, type Sink, startSink, until } from './sink.ts';

const PER_SECOND = 100;
const SECONDS = Math.max(1, Math.round(10 * Number(process.env.EVERPOST_BENCH_SCALE ?? 1)));
const ROUNDS = 3;
const IDLE_MAILS = Math.max(5, Math.round(40 * Number(process.env.EVERPOST_BENCH_SCALE ?? 1)));

interface Target {
  url: string;
  key: string;
  from: string;
}

const now = () => performance.timeOrigin + performance.now();

export const latencyBench: Bench = {
  name: 'latency',
  about:
    'what a client of /v1/send waits for, and its mail after the answer, compared with a bare server and a bare workflow',
  async run(progress) {
    const postgres = await startPostgres({
      dataDir: join(runDirectory(), 'bench-latency'),
      port: await freePort(),
      database: 'everpost',
      logFile: join(runDirectory(), 'bench-latency.log'),
    });
    atEnd(() => postgres.stop());
    await migrate(postgres.url);
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
    const project = await makeProject(db);
    const env = { DATABASE_URL: postgres.url, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' };
    const api = await startApi(env);
    const from = `shop@${project.senderDomain}`;
    const ours = { url: api.url, key: project.secretKey, from };
    const bare = { url: await startBare(postgres.url, project.id), key: 'none', from };
    const measures = await accepting(ours, bare, progress);
    await db.raw('truncate emails, email_bodies, email_contents, outbox');
    measures.push(await idle(ours, db, env, progress));
    await db.destroy();
    return measures;
  },
};

/** Sends requests at a fixed rate, whether or not earlier ones were answered. */
async function accepting(ours: Target, bare: Target, progress: (line: string) => void): Promise<Measure[]> {
  const rounds: { ours: number[][]; bare: number[][] } = { ours: [], bare: [] };
  for (const target of [ours, bare]) await load(target, 2);
  for (let round = 1; round <= ROUNDS; round++) {
    rounds.bare.push(await load(bare, SECONDS));
    rounds.ours.push(await load(ours, SECONDS));
    progress(`${PER_SECOND} requests a second, round ${round} of ${ROUNDS}`);
  }
  return [50, 99].map((percent) => {
    const of = (side: number[][]) => median(side.map((times) => percentile(times, percent)));
    return measure(`/v1/send p${percent} at ${PER_SECOND}/s`, 'ms', of(rounds.ours), of(rounds.bare), '<= 2');
  });
}

async function load(target: Target, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const pending: Promise<void>[] = [];
  const started = performance.now();
  for (let n = 0; n < seconds * PER_SECOND; n++) {
    await sleep(Math.max(0, started + (n * 1000) / PER_SECOND - performance.now()));
    const sentAt = performance.now();
    pending.push(post(target, `user${n % 5_000}@example.com`).then(() => void times.push(performance.now() - sentAt)));
  }
  await Promise.all(pending);
  return times;
}

async function post({ url, key, from }: Target, to: string): Promise<void> {
  const answer = await fetch(`${url}/v1/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ to, from, subject: 'Your receipt', body: receiptHtml('Ann') }),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  await answer.arrayBuffer();
}

const percentile = (times: number[], percent: number): number =>
  [...times].sort((a, b) => a - b)[Math.ceil((times.length * percent) / 100) - 1] ?? Number.NaN;

async function idle(
  ours: Target,
  db: Db,
  env: Record<string, string>,
  progress: (line: string) => void,
): Promise<Measure> {
  const sink = await startSink();
  const temporal = await ownNamespace();
  atEnd(() => temporal.close());
  await startWorker({
    ...env,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SMTP_URL: sink.url,
  });
  const bareSink = await startSink();
  const start = await bareWorkflows(temporal, bareSink);
  const times: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let n = -3; n < IDLE_MAILS; n++) {
    const bareMs = await untilAccepted(bareSink, start);
    const oursMs = await untilAccepted(sink, () => post(ours, `${newId()}@example.com`));
    // The first rounds are a warm-up.
    if (n >= 0) times.bare.push(bareMs);
    if (n >= 0) times.ours.push(oursMs);
    await until(async () => (await db('outgoing_mails')).length === 0);
  }
  progress(`${IDLE_MAILS} mails one by one`);
  return measure('from the answer to the SMTP server, idle', 'ms', median(times.ours), median(times.bare), '<= 2');
}

async function untilAccepted(sink: Sink, send: () => Promise<void>): Promise<number> {
  const before = await sink.count();
  await send();
  const answered = now();
  return Math.max(0, (await sink.reached(before + 1)) - answered);
}

async function bareWorkflows({ address, namespace, client }: OwnNamespace, sink: Sink): Promise<() => Promise<void>> {
  const child = forked('bare-workflow.ts', { ADDRESS: address, NAMESPACE: namespace, SMTP: sink.url });
  atEnd(() => void child.kill());
  await once(child, 'message');
  return async () =>
    void (await client.workflow.start('bareSend', {
      taskQueue: 'bare',
      workflowId: newId(),
      args: ['ann@example.com'],
    }));
}
