import { join } from 'node:path';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { type Postgres, query, startPostgres } from '../dev/postgres.ts';
import type { SigningKeys } from '../platform/crypto/signed-token.ts';
import { listActivity } from '../services/activity/feed.ts';
import { activityStats } from '../services/activity/stats.ts';
import { timeseries } from '../services/analytics/timeseries.ts';
import { topEvents } from '../services/analytics/top-events.ts';
import { listEvents } from '../services/events/list.ts';
import { listEventNames } from '../services/events/names.ts';
import { eventStats } from '../services/events/stats.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import type { TestProject } from '../test/support/connected-database.ts';
import { startApi } from '../test/support/processes.ts';
import { load, startBare, type Target } from './accept.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { projectWithEvents } from './events-data.ts';

/** For a quick run: EVERPOST_BENCH_SCALE=0.01 */
const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const FEW = Math.max(1_000, Math.round(10_000 * SCALE));
const SOME = Math.max(1_000, Math.round(100_000 * SCALE));
const MANY = Math.max(1_000, Math.round(10_000_000 * SCALE));
const ROUNDS = 40;
const LOAD_ROUNDS = 5;
const LOAD_SECONDS = 5;
const keys: SigningKeys = ['a key of the benchmark'];

type Work = (db: Db, projectId: string) => Promise<unknown>;

/** Must not depend on the number of events, because as many rows are returned. */
const constant: Record<string, Work> = {
  feed: (db, id) => listActivity(db, id, keys, { limit: 20 }),
  'feed, second page': async (db, id) => {
    const { cursor } = await listActivity(db, id, keys, { limit: 20, types: ['email.opened', 'event.triggered'] });
    const types = ['email.opened', 'event.triggered'] as const;
    return listActivity(db, id, keys, { limit: 20, types: [...types], cursor: cursor ?? undefined });
  },
  'feed of one day': (db, id) => {
    const day = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
    return listActivity(db, id, keys, { limit: 20, startDate: day, endDate: day });
  },
  'feed stats': (db, id) => activityStats(db, id, {}),
  'list of events': (db, id) => listEvents(db, id, keys, { limit: 20 }),
  'list of one event': (db, id) => listEvents(db, id, keys, { limit: 20, eventName: 'purchase' }),
  names: (db, id) => listEventNames(db, id),
  stats: (db, id) => eventStats(db, id, {}),
  'top events': (db, id) => topEvents(db, id, { limit: 10 }),
  'timeseries by the day': (db, id) => timeseries(db, id, { granularity: 'day' }),
  'timeseries by the hour': (db, id) => timeseries(db, id, { granularity: 'hour' }),
};

export const eventsBench: Bench = {
  name: 'events',
  about: `/v1/track with ${MANY} events compared with ${FEW}, and a bare server; figures of ${MANY} events compared with those of ${SOME}`,
  async run(progress) {
    const postgres = await startPostgres({
      dataDir: join(runDirectory(), 'bench-events'),
      port: await freePort(),
      database: 'everpost',
      settings: { shared_buffers: '1GB', max_wal_size: '8GB', maintenance_work_mem: '512MB', max_connections: '200' },
      logFile: join(runDirectory(), 'bench-events.log'),
    });
    atEnd(() => postgres.stop());
    const few = await database(postgres, 'few', FEW, progress);
    const some = await database(postgres, 'some', SOME, progress);
    const many = await database(postgres, 'many', MANY, progress);
    const measures: Measure[] = [];
    for (const [what, work] of Object.entries(constant)) measures.push(await compare(what, work, some, many));
    for (const { db } of [few, some, many]) await db.destroy();
    measures.push(...(await tracking(few, many, progress)));
    return measures;
  },
};

interface EventDatabase {
  url: string;
  db: Db;
  project: TestProject;
}

/** Creates a database with this number of events. */
async function database(
  postgres: Postgres,
  name: string,
  count: number,
  progress: (line: string) => void,
): Promise<EventDatabase> {
  await query(postgres.url, `create database events_${name}`);
  const url = Object.assign(new URL(postgres.url), { pathname: `/events_${name}` }).href;
  await migrate(url);
  const db = connectDb({ databaseUrl: url, poolSize: 4 });
  return { url, db, project: await projectWithEvents(db, count, progress) };
}

/** Alternates, so that a machine that slows down slows both. The first rounds fill caches. */
async function compare(what: string, work: Work, small: EventDatabase, large: EventDatabase): Promise<Measure> {
  const times = { small: [] as number[], large: [] as number[] };
  const time = async ({ db, project }: EventDatabase): Promise<number> => {
    const started = performance.now();
    await work(db, project.id);
    return performance.now() - started;
  };
  for (let round = -3; round < ROUNDS; round++) {
    const a = await time(small);
    const b = await time(large);
    if (round < 0) continue;
    times.small.push(a);
    times.large.push(b);
  }
  return measure(what, 'ms', median(times.large), median(times.small), '<= 2');
}

async function tracking(few: EventDatabase, many: EventDatabase, progress: (line: string) => void): Promise<Measure[]> {
  const targets = {
    'few/ours': await ours(few),
    'few/bare': await bare(few),
    'many/ours': await ours(many),
    'many/bare': await bare(many),
  };
  const rates = new Map<string, number[]>();
  for (let round = 0; round <= LOAD_ROUNDS; round++) {
    for (const [name, target] of Object.entries(targets)) {
      const { rate } = await load(target, '/v1/track', round === 0 ? 2 : LOAD_SECONDS);
      if (round > 0) rates.set(name, [...(rates.get(name) ?? []), rate]);
    }
    progress(`/v1/track round ${round} of ${LOAD_ROUNDS}`);
  }
  const rate = (name: keyof typeof targets) => median(rates.get(name) ?? []);
  return [
    measure(`/v1/track at ${FEW}, compared with bare`, 'requests/s', rate('few/ours'), rate('few/bare'), '>= 0.7'),
    measure(`/v1/track at ${MANY}, compared with bare`, 'requests/s', rate('many/ours'), rate('many/bare'), '>= 0.7'),
    measure(
      `/v1/track at ${MANY}, compared with ${FEW}`,
      'ms',
      1000 / rate('many/ours'),
      1000 / rate('few/ours'),
      '<= 1.3',
    ),
  ];
}

/** The limit is high, not off: its cost is part of ours. */
async function ours({ url, project }: EventDatabase): Promise<Target> {
  const api = await startApi({ DATABASE_URL: url, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' });
  return { url: api.url, key: project.publicKey };
}

async function bare({ url, project }: EventDatabase): Promise<Target> {
  return { url: await startBare(url, project.id), key: 'none' };
}
