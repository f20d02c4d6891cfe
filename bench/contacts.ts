import { join } from 'node:path';
import { connectDb, type Db } from '../db/connect.ts';
import { migrate } from '../db/migrate.ts';
import { freePort } from '../dev/ports.ts';
import { startPostgres } from '../dev/postgres.ts';
import { signCursor } from '../platform/crypto/cursor.ts';
import type { SigningKeys } from '../platform/crypto/signed-token.ts';
import { aggregateContactCounts } from '../services/contacts/counts.ts';
import { listFieldValues } from '../services/contacts/field-values.ts';
import { listFields } from '../services/contacts/fields.ts';
import { type ContactsQuery, listContacts } from '../services/contacts/list.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { type Bench, type Measure, measure, median } from './bench.ts';

const SMALL = 10_000;
const LARGE = 1_000_000;
const BATCH = 50_000;
const MATCHES = 100;
const ROUNDS = 40;
const keys: SigningKeys = ['a key of the benchmark'];

interface ContactSet {
  projectId: string;
  /** A cursor to the middle of the list. */
  middle: string;
}

type Work = (db: Db, set: ContactSet) => Promise<unknown>;

const list =
  (query: Partial<ContactsQuery> = {}): Work =>
  (db, { projectId }) =>
    listContacts(db, projectId, keys, { limit: 20, sort: 'createdAt', dir: 'desc', ...query });

/** Must not depend on the number of contacts, because the number of matches is the same. */
const constant: Record<string, Work> = {
  'first page': list(),
  'deep page': (db, set) => list({ cursor: set.middle })(db, set),
  'first page, by address': list({ sort: 'email', dir: 'asc' }),
  'search for a part of the address': list({ search: 'needle' }),
  'filter by a value in data': list({ data: { tag: 'rare' } }),
  'filter and search': list({ search: 'needle', subscribed: true, data: { tag: 'rare' } }),
  fields: (db, { projectId }) => listFields(db, projectId),
  'values of a field that few have': (db, { projectId }) => listFieldValues(db, projectId, 'data.tag', 100),
};

/** Grows with the number of matches, or with the project. */
const growing: Record<string, Work> = {
  'first page of all subscribed, by address': list({ subscribed: true, sort: 'email' }),
  'search for two characters': list({ search: 'zq' }),
  'search that a fifth match': list({ search: 'gmail' }),
  'values of a field that all have': (db, { projectId }) => listFieldValues(db, projectId, 'data.plan', 100),
};

export const contactsBench: Bench = {
  name: 'contacts',
  about: `lists, search and fields of a project with ${LARGE} contacts, compared with one with ${SMALL} in the same database`,
  async run(progress) {
    const postgres = await startPostgres({
      dataDir: join(runDirectory(), 'bench-contacts'),
      port: await freePort(),
      database: 'everpost',
      settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
      logFile: join(runDirectory(), 'bench-contacts.log'),
    });
    atEnd(() => postgres.stop());
    await migrate(postgres.url);
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
    const small = await populate(db, SMALL, progress);
    const large = await populate(db, LARGE, progress);
    await aggregateContactCounts(db);
    await db.raw('vacuum analyze');
    const measures: Measure[] = [];
    for (const [what, work] of Object.entries(constant))
      measures.push(await compare(db, what, work, small, large, '<= 2'));
    for (const [what, work] of Object.entries(growing)) measures.push(await compare(db, what, work, small, large));
    await db.destroy();
    return measures;
  },
};

async function compare(
  db: Db,
  what: string,
  work: Work,
  small: ContactSet,
  large: ContactSet,
  aim?: string,
): Promise<Measure> {
  const times = { small: [] as number[], large: [] as number[] };
  const time = async (set: ContactSet): Promise<number> => {
    const started = performance.now();
    await work(db, set);
    return performance.now() - started;
  };
  // Alternating, so that a machine that slows down slows both. The first rounds fill caches.
  for (let round = -3; round < ROUNDS; round++) {
    const a = await time(small);
    const b = await time(large);
    if (round >= 0) {
      times.small.push(a);
      times.large.push(b);
    }
  }
  return measure(what, 'ms', median(times.large), median(times.small), aim);
}

/** Inserts with triggers and indexes enabled, so that counts and fields are maintained as usual. */
async function populate(db: Db, count: number, progress: (line: string) => void): Promise<ContactSet> {
  const { id: projectId } = await makeProject(db);
  for (let from = 1; from <= count; from += BATCH) {
    const to = Math.min(from + BATCH - 1, count);
    await db.raw(insertContacts, [projectId, count / MATCHES, count / MATCHES, from, to]);
    progress(`${to} of ${count} contacts`);
  }
  const { rows } = await db.raw(
    `select id, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as by
     from contacts where project_id = ? order by created_at offset ? limit 1`,
    [projectId, count / 2],
  );
  const middle = signCursor(keys, [projectId, 'contacts', 'createdAt', 'desc'], { ...rows[0], few: false });
  return { projectId, middle };
}

const insertContacts = `
  insert into contacts (id, project_id, email, subscribed, data, created_at)
  select gen_random_uuid(), ?,
    (array['anna', 'bob', 'carol', 'dave', 'erin'])[1 + n % 5] || '.' || substr(md5(n::text), 1, 12)
      || case when n % ? = 0 then '.needle' else '' end
      || '@' || (array['gmail.com', 'outlook.com', 'example.com', 'web.de', 'corp' || n % 500 || '.io'])[1 + n / 7 % 5],
    n % 10 <> 0,
    jsonb_build_object('firstName', substr(md5(n::text), 1, 6), 'plan', (array['free', 'pro', 'team'])[1 + n % 3],
      'age', n % 80, 'active', n % 2 = 0, 'signedUp', '2024-01-01')
      || case when n % ? = 0 then '{"tag": "rare"}'::jsonb else '{}' end,
    timestamptz '2024-01-01' + n * interval '1 second'
  from generate_series(?::integer, ?::integer) n`;
