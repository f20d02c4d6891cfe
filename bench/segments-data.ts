import { join } from 'node:path';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject, type TestProject } from '../test/support/connected-database.ts';
import { withoutIndexes } from './events-data.ts';

/** For a quick run: EVERPOST_BENCH_SCALE=0.1 */
const SCALE = Number(process.env.EVERPOST_BENCH_SCALE ?? 1);
export const CONTACTS = Math.round(1_000_000 * SCALE);
export const EVENTS = CONTACTS * 10;
const BATCH = 200_000;

/** Creates a database with one project of that size. */
export async function startWithContacts(
  progress: (line: string) => void,
  { events = EVENTS }: { events?: number } = {},
): Promise<{ db: Db; project: TestProject }> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), 'bench-segments'),
    port: await freePort(),
    database: 'everpost',
    settings: { shared_buffers: '2GB', max_wal_size: '8GB', maintenance_work_mem: '1GB', random_page_cost: '1.1' },
    logFile: join(runDirectory(), 'bench-segments.log'),
  });
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const db = connectDb({ databaseUrl: postgres.url, poolSize: 4 });
  atEnd(() => db.destroy());
  const project = await makeProject(db);
  await load(db, project.id, events, progress);
  return { db, project };
}

/** Runs without triggers and builds the large indexes afterwards: the result is the same, in a tenth of the time. */
async function load(db: Db, projectId: string, events: number, progress: (line: string) => void): Promise<void> {
  await db.raw(
    `select add_month_partition('events', month::date) from generate_series(
       date_trunc('month', now() - interval '366 days'), now(), interval '1 month') month`,
  );
  await withoutIndexes(db, () => fill(db, projectId, events, progress), ['contacts', 'events']);
  progress('indexes');
  await db.raw(
    `insert into contact_counts select project_id, count(*), count(*) filter (where subscribed) from contacts group by 1`,
  );
  await db.raw('vacuum analyze contacts, events');
}

async function fill(db: Db, projectId: string, events: number, progress: (line: string) => void): Promise<void> {
  for (let from = 1; from <= CONTACTS; from += BATCH) {
    await db.raw(insertContacts, [projectId, from, Math.min(from + BATCH - 1, CONTACTS)]);
    progress(`contacts up to ${from + BATCH - 1}`);
  }
  await db.raw('create unlogged table numbered_contacts as select row_number() over () as number, id from contacts');
  await db.raw('create unique index on numbered_contacts (number)');
  for (let from = 1; from <= events; from += BATCH * 5) {
    await db.raw(insertEvents, [projectId, events, CONTACTS, from, Math.min(from + BATCH * 5 - 1, events)]);
    progress(`events up to ${from + BATCH * 5 - 1}`);
  }
  await db.raw('drop table numbered_contacts');
}

const insertContacts = `
  insert into contacts (id, project_id, email, subscribed, data, created_at)
  select uuidv7(make_interval(days => -400) + make_interval(secs => n)), ?, 'user' || n || '@example' || n % 7 || '.com', n % 10 > 0,
    jsonb_build_object('plan', (array['free', 'pro', 'team', 'trial'])[1 + n % 4], 'city', 'city' || (n * 7) % 1000,
      'country', 'c' || (n / 3) % 50, 'seats', n % 100, 'locale', (array['en', 'de', 'fr'])[1 + n % 3],
      'lastLogin', to_char(now() - make_interval(mins => n % 500000), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'profile', jsonb_build_object('tier', n % 10, 'score', n % 1000), 'active', n % 2 = 0)
    || (select jsonb_object_agg('key' || k, 'value' || (n * k) % 100) from generate_series(1, 12) k),
    now() - make_interval(days => 400) + make_interval(secs => n)
  from generate_series(?::integer, ?::integer) n`;

const insertEvents = `
  insert into events (id, project_id, contact_id, name, created_at)
  select uuidv7(at - now()), projects.id, numbered_contacts.id,
    -- A fifth of the contacts never logs in.
    case when n % 10 < 5 then 'login' when n % 10 < 6 then 'purchase' else 'event' || n % 40 end, at
  from (select ?::uuid as id, ?::integer as events, ?::bigint as contacts) projects
    cross join generate_series(?::integer, ?::integer) n
    cross join lateral (select now() - make_interval(secs => (projects.events - n) * (365 * 86400.0 / projects.events)) as at) time
    join numbered_contacts on numbered_contacts.number = 1 + (n::bigint * 7919 + n / 13) % case when n % 10 < 5 then contacts * 4 / 5 else contacts end`;
