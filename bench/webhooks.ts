import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { root } from '../dev/root.ts';
import { createResolver } from '../platform/http/resolver.ts';
import { readSettings, type Settings } from '../platform/settings.ts';
import { deliverSlice } from '../services/webhooks/deliver.ts';
import { createEndpoint } from '../services/webhooks/endpoints.ts';
import { expandWebhookEvents } from '../services/webhooks/expand.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { startWorker } from '../test/support/processes.ts';
import { ownNamespace } from '../test/support/temporal-work.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { audience, CONNECTIONS, ours, RECIPIENTS } from './campaigns.ts';
import { innocentCalls } from './innocent-calls.ts';
import { startSink } from './sink.ts';

const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const DELIVERIES = Math.round(10_000 * SCALE);
const MANY = Math.round(100_000 * SCALE);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CALLS_AT_ONCE = 10;
const MEGABYTE = 1_048_576;

type Progress = (line: string) => void;

interface HookSink {
  url: string;
  host: string;
  received(): Promise<number>;
}

export const webhooksBench: Bench = {
  name: 'webhooks',
  about: `deliveries compared with bare undici posts; memory while ${MANY} are drained; a campaign to ${RECIPIENTS} with and without an endpoint that wants email.sent; the wait of a call beside floods of slow ones`,
  async run(progress) {
    const postgres = await startPostgres({
      dataDir: join(runDirectory(), 'bench-webhooks'),
      port: await freePort(),
      database: 'everpost',
      logFile: join(runDirectory(), 'bench-webhooks.log'),
    });
    atEnd(() => postgres.stop());
    await migrate(postgres.url);
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 8 });
    const sink = await startHookSink();
    const settings = readSettings({ WEBHOOK_ALLOWED_HOSTS: sink.host });
    const measures = [
      await delivering(db, sink, settings, progress),
      await draining(db, sink, settings, progress),
      await campaigns(db, postgres.url, sink, settings, progress),
      ...(await innocentCalls(db, postgres.url, progress)),
    ];
    await db.destroy();
    return measures;
  },
};

async function startHookSink(): Promise<HookSink> {
  const child = fork(join(root, 'bench/hook-sink.ts'), [], { execArgv: ['--import', 'tsx'] });
  atEnd(async () => void (child.connected && child.disconnect()));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const host = `127.0.0.1:${port}`;
  return {
    host,
    url: `http://${host}/hook`,
    received: async () => {
      child.send({});
      const [{ received }] = (await once(child, 'message')) as [{ received: number }];
      return received;
    },
  };
}

/** Queues tracked events for a new endpoint, and expands them. */
async function queue(db: Db, sink: HookSink, settings: Settings, count: number): Promise<string> {
  const project = await makeProject(db);
  const input = { url: sink.url, types: ['event.*'] };
  const { endpoint } = await createEndpoint(db, project.access, input, settings);
  for (let left = count; left > 0; left -= 5_000)
    await db.raw(
      `insert into events (id, project_id, contact_id, name, data)
       select uuidv7(), ?, uuidv7(), 'bought', '{"total": 3, "currency": "EUR", "items": ["one", "two", "three"]}'
       from generate_series(1, ?::integer)`,
      [project.id, Math.min(left, 5_000)],
    );
  while ((await expandWebhookEvents(db)) > 0);
  await db.raw('analyze webhook_deliveries, webhook_events');
  return endpoint.id;
}

async function drain(db: Db, settings: Settings, endpointId: string): Promise<void> {
  const resolver = createResolver({ servers: [] });
  const deps = {
    db,
    resolver,
    allowedHosts: settings.webhookAllowedHosts,
    keys: settings.secretKeys,
    now: () => new Date(),
    systemFrom: settings.systemFrom,
  };
  const control = { isOver: () => false, lingerMs: 0 };
  while ((await deliverSlice(deps, { endpointId, generation: 1 }, control)).kind === 'more');
  resolver.close();
}

const BODY = JSON.stringify({
  type: 'event.bought',
  timestamp: new Date().toISOString(),
  data: { text: 'x'.repeat(400) },
});

/** Posts as fast as undici can, over as many connections. */
async function barePosts(sink: HookSink, count: number): Promise<void> {
  const dispatcher = new Agent({ connections: CALLS_AT_ONCE });
  let left = count;
  const lane = async () => {
    while (left-- > 0) {
      const headers = { 'content-type': 'application/json' };
      const response = await request(sink.url, { dispatcher, method: 'POST', headers, body: BODY });
      await response.body.dump();
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane));
  await dispatcher.close();
}

async function delivering(db: Db, sink: HookSink, settings: Settings, progress: Progress): Promise<Measure> {
  const rates: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  const rateOf = async (work: () => Promise<void>) => {
    const started = performance.now();
    await work();
    return (DELIVERIES / (performance.now() - started)) * 1_000;
  };
  for (let round = 0; round <= ROUNDS; round++) {
    const endpointId = await queue(db, sink, settings, DELIVERIES);
    const before = await sink.received();
    const mine = await rateOf(() => drain(db, settings, endpointId));
    if ((await sink.received()) - before !== DELIVERIES) throw new Error('some deliveries are missing');
    const theirs = await rateOf(() => barePosts(sink, DELIVERIES));
    // The first round warms up.
    if (round === 0) continue;
    rates.ours.push(mine);
    rates.bare.push(theirs);
    progress(`deliveries, round ${round} of ${ROUNDS}: ${mine.toFixed(0)} against ${theirs.toFixed(0)}`);
  }
  return measure('deliveries', 'requests/s', median(rates.ours), median(rates.bare), '>= 0.6');
}

/** Compares the largest memory while many deliveries are drained with that of a tenth of them. */
async function draining(db: Db, sink: HookSink, settings: Settings, progress: Progress): Promise<Measure> {
  const peakOf = async (count: number): Promise<number> => {
    const endpointId = await queue(db, sink, settings, count);
    let peak = 0;
    const sampling = setInterval(() => {
      const { heapUsed, external } = process.memoryUsage();
      peak = Math.max(peak, heapUsed + external);
    }, 20);
    await drain(db, settings, endpointId).finally(() => clearInterval(sampling));
    progress(`drained ${count} with at most ${(peak / MEGABYTE).toFixed(0)} MB`);
    return peak / MEGABYTE;
  };
  const few = await peakOf(Math.round(MANY / 10));
  return measure(`largest memory while ${MANY} are drained`, 'MB', await peakOf(MANY), few, '<= 1.5');
}

async function campaigns(
  db: Db,
  databaseUrl: string,
  hooks: HookSink,
  settings: Settings,
  progress: Progress,
): Promise<Measure> {
  const plain = await audience(db, RECIPIENTS, 'plain.bench.example');
  const subscriber = await audience(db, RECIPIENTS, 'subscriber.bench.example');
  await createEndpoint(db, subscriber.access, { url: hooks.url, types: ['email.sent'] }, settings);
  await db.raw('vacuum analyze contacts');
  const sink = await startSink();
  const temporal = await ownNamespace();
  atEnd(() => temporal.close());
  const worker = await startWorker({
    DATABASE_URL: databaseUrl,
    SMTP_URL: sink.url,
    WEBHOOK_ALLOWED_HOSTS: hooks.host,
    LOG_LEVEL: 'warn',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SMTP_MAX_CONNECTIONS: String(CONNECTIONS),
    DKIM_SIGNING: 'false',
  });
  const rates: { subscribed: number[]; plain: number[] } = { subscribed: [], plain: [] };
  const send = async (project: typeof plain) => (await ours({ db, sink, worker }, project, RECIPIENTS)).rate;
  for (let round = 0; round <= ROUNDS; round++) {
    const without = await send(plain);
    const before = await hooks.received();
    const withEndpoint = await send(subscriber);
    while ((await hooks.received()) < before + RECIPIENTS) await sleep(100);
    if (round === 0) continue;
    rates.plain.push(without);
    rates.subscribed.push(withEndpoint);
    progress(`campaign, round ${round} of ${ROUNDS}: ${withEndpoint.toFixed(0)} against ${without.toFixed(0)}`);
  }
  await worker.stop();
  return measure('campaign with an endpoint', 'mails/s', median(rates.subscribed), median(rates.plain), '>= 0.85');
}
