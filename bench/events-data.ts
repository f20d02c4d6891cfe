import type { Db } from '../db/connect.ts';
import { aggregateCounters } from '../db/models/counters.ts';
import { makeProject, type TestProject } from '../test/support/connected-database.ts';

const BATCH = 500_000;
const DAYS = 365;
/** Events per contact. */
const PER_CONTACT = 100;

/**
 * Creates a project with events of the last year, the last of them now, and with their counts. Runs without triggers and
 * builds the large indexes afterwards: the result is the same, in a fraction of the time.
 */
export async function projectWithEvents(db: Db, count: number, progress: (line: string) => void): Promise<TestProject> {
  const project = await makeProject(db);
  const contacts = Math.max(10_000, Math.round(count / PER_CONTACT));
  await db.raw(insertContacts, [project.id, contacts]);
  await db.raw(
    `select add_month_partition('events', month::date) from generate_series(
       date_trunc('month', now() - make_interval(days => ?)), now(), interval '1 month') month`,
    [DAYS + 1],
  );
  await withoutIndexes(db, async () => {
    for (let from = 1; from <= count; from += BATCH) {
      const to = Math.min(from + BATCH - 1, count);
      await db.raw(insertEvents, [project.id, count, contacts, from, to]);
      progress(`${to} of ${count} events`);
    }
  });
  for (const sum of sums) await db.raw(sum, [project.id]);
  await db.raw(mailHours, [project.id, count]);
  await aggregateCounters(db);
  await db.raw('vacuum analyze');
  progress(`${count} events are counted`);
  return project;
}

/** Drops the indexes of the tables, except for primary keys, and creates them again after `work`. */
export async function withoutIndexes(db: Db, work: () => Promise<void>, tables = ['events']): Promise<void> {
  const { rows } = await db.raw(
    `select indexname, indexdef from pg_indexes where tablename = any (?) and indexname not like '%key'`,
    [tables],
  );
  for (const { indexname } of rows) await db.raw('drop index ??', [indexname]);
  for (const table of tables) await db.raw('alter table ?? disable trigger user', [table]);
  await work();
  // `ON ONLY` would not create the index on the partitions.
  for (const { indexdef } of rows) await db.raw(indexdef.replace(' ON ONLY ', ' ON ').replaceAll('?', '\\?'));
  for (const table of tables) await db.raw('alter table ?? enable trigger user', [table]);
}

// The addresses that the load of `accept` uses: it tracks existing contacts.
const insertContacts = `
  insert into contacts (id, project_id, email, subscribed, data)
  select uuidv7(), ?, 'user' || n || '@example.com', true, '{}' from generate_series(0, ?::integer - 1) n`;

const insertEvents = `
  insert into events (id, project_id, contact_id, name, data, created_at)
  select uuidv7(at - now()), given.project_id, contact.id, named.name,
    case when named.name like 'email.%' then '{"subject": "Hello", "isFirst": true}' else '{"plan": "pro", "seats": 3}' end::jsonb, at
  from (select ?::uuid as project_id, ?::integer as events, ?::bigint as contacts) given
    cross join generate_series(?::integer, ?::integer) n
    cross join lateral (select now() - make_interval(secs => (given.events - n) * (${DAYS} * 86400.0 / given.events)) as at) time
    cross join lateral (select (array['login', 'login', 'login', 'view', 'view', 'email.sent', 'email.delivery', 'email.open',
      'purchase', 'event' || n % 12])[1 + n % 10] as name) named
    join contacts contact on contact.project_id = given.project_id
      and contact.email = 'user' || (n::bigint * 7919 + n / 13) % given.contacts || '@example.com'`;

const sums = [
  `insert into event_hours (project_id, hour, name, count, in_feed, last_contacts, last_at)
   select project_id, date_trunc('hour', created_at, 'UTC'), name, count(*),
     count(*) filter (where activity_type(name, data) <> 'hidden'), 0, max(created_at)
   from events where project_id = ? group by 1, 2, 3`,
  `insert into event_contacts (project_id, name, contact_id, last_hour)
   select project_id, name, contact_id, date_trunc('hour', max(created_at), 'UTC') from events where project_id = ? group by 1, 2, 3`,
  `update event_hours h set last_contacts = c.contacts
   from (select project_id, name, last_hour, count(*) as contacts from event_contacts group by 1, 2, 3) c
   where h.project_id = ? and c.project_id = h.project_id and c.name = h.name and c.last_hour = h.hour`,
  `insert into event_days (project_id, day, name, count, in_feed, last_contacts, last_at)
   select project_id, date_trunc('day', hour, 'UTC'), name, sum(count), sum(in_feed), sum(last_contacts), max(last_at)
   from event_hours where project_id = ? group by 1, 2, 3`,
  `insert into event_names (project_id, name, count, retained, in_feed, contacts, last_at)
   select project_id, name, sum(count), sum(count), sum(in_feed), sum(last_contacts), max(last_at)
   from event_hours where project_id = ? group by 1, 2`,
];

const mailHours = `
  insert into counter_deltas (project_id, subject, period, counts)
  select ?, 'activity/hours', hour, jsonb_build_object('sent', ?::bigint / 8760, 'delivered', 90, 'opened', 40, 'clicked', 10,
    'bounced', 1, 'started', 3, 'completed', 2)
  from generate_series(date_trunc('hour', now() - make_interval(days => ${DAYS})), now(), interval '1 hour') hour`;
