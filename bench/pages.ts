import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { connectDb } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { query, startPostgres } from '../dev/postgres.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { startApi } from '../test/support/processes.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';
import { PAGE_CALLS, POSTED_CALLS } from './pages-calls.ts';
import { fillForPages, type PagesProject } from './pages-data.ts';

/** For a quick run: EVERPOST_BENCH_SCALE=0.01 */
const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
const FEW = 10_000;
const MANY = Math.max(FEW, Math.round(1_000_000 * SCALE));
const ROUNDS = 15;
/** Measures only calls that contain this. */
const ONLY = process.env.BENCH_CALLS ?? '';
/** Turns billing on. A project without a plan asks the provider nothing. */
const BILLING = {
  STRIPE_SECRET_KEY: 'sk_test_unused',
  STRIPE_WEBHOOK_SECRET: 'whsec_unused',
  STRIPE_PRICE_ID: 'price_unused',
};

interface Side extends PagesProject {
  url: string;
}

export const pagesBench: Bench = {
  name: 'pages',
  about: `the API calls of every page with ${MANY} contacts, ten times as many events and a campaign for each thousand, compared with ${FEW} contacts`,
  async run(progress) {
    const dataDir = process.env.BENCH_DATA_DIR ?? join(runDirectory(), 'bench-pages');
    const postgres = await startPostgres({
      dataDir,
      port: await freePort(),
      database: 'few',
      settings: {
        shared_buffers: '3GB',
        max_wal_size: '16GB',
        maintenance_work_mem: '512MB',
        random_page_cost: '1.1',
        fsync: 'off',
        full_page_writes: 'off',
        synchronous_commit: 'off',
        max_connections: '100',
        wal_level: 'minimal',
        max_wal_senders: '0',
        checkpoint_timeout: '30min',
      },
      logFile: join(runDirectory(), 'bench-pages.log'),
    });
    atEnd(() => postgres.stop());
    const { few, many } = await startBoth(postgres.url, `${dataDir}.json`, progress);
    progress(`load average ${loadavg()[0]?.toFixed(1)}`);
    const measures: Measure[] = [];
    const measureCall = async (what: string, call: Time) => {
      const measured = await compare(what, few, many, call);
      measures.push(measured);
      if (measured.ratio > 2) progress(`${measured.ratio} (${measured.ours} ms): ${what}`);
    };
    const measured = new Set<string>();
    for (const [page, calls] of Object.entries(PAGE_CALLS))
      for (const call of calls.filter((call) => !measured.has(call) && call.includes(ONLY))) {
        measured.add(call);
        await measureCall(`${page}: ${call}`, (side) => time(side, call));
      }
    for (const [page, { path, body }] of Object.entries(POSTED_CALLS))
      if (path.includes(ONLY)) await measureCall(`${page}: POST ${path}`, (side) => time(side, path, body));
    progress(`load average ${loadavg()[0]?.toFixed(1)}`);
    return measures;
  },
};

/** `knownFile` records what the databases of an earlier run contain, where BENCH_DATA_DIR has kept them. */
async function startBoth(
  url: string,
  knownFile: string,
  progress: (line: string) => void,
): Promise<{ few: Side; many: Side }> {
  const urls = { few: url, many: url.replace(/few$/, 'many') };
  if (!existsSync(knownFile)) {
    await query(url, 'create database many');
    const few = await fill(urls.few, FEW, progress);
    const many = await fill(urls.many, MANY, progress);
    writeFileSync(knownFile, JSON.stringify({ few, many }));
  }
  const known: Record<'few' | 'many', PagesProject> = JSON.parse(readFileSync(knownFile, 'utf8'));
  return { few: await serve(urls.few, known.few), many: await serve(urls.many, known.many) };
}

async function fill(databaseUrl: string, contacts: number, progress: (line: string) => void): Promise<PagesProject> {
  await migrate(databaseUrl);
  const db = connectDb({ databaseUrl, poolSize: 2 });
  try {
    return await fillForPages(db, contacts, progress);
  } finally {
    await db.destroy();
  }
}

async function serve(databaseUrl: string, project: PagesProject): Promise<Side> {
  await migrate(databaseUrl);
  const { url } = await startApi({
    DATABASE_URL: databaseUrl,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
    ...BILLING,
  });
  return { ...project, url };
}

type Time = (side: Side) => Promise<number>;

async function compare(what: string, few: Side, many: Side, time: Time): Promise<Measure> {
  const times = { few: [] as number[], many: [] as number[] };
  // Alternating, so that a machine that slows down slows both. The first rounds fill caches.
  for (let round = -3; round < ROUNDS; round++) {
    const a = await time(few);
    const b = await time(many);
    if (round < 0) continue;
    times.few.push(a);
    times.many.push(b);
  }
  return measure(what, 'ms', median(times.many), median(times.few), '<= 2');
}

async function time({ url, cookie, ids }: Side, call: string, posted?: object): Promise<number> {
  const path = call.replace(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);
  const started = performance.now();
  const response = await fetch(url + path, {
    headers: { cookie, 'x-project-id': ids.project, ...(posted && { 'content-type': 'application/json' }) },
    ...(posted && { method: 'POST', body: JSON.stringify(posted) }),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${body.slice(0, 300)}`);
  return performance.now() - started;
}
