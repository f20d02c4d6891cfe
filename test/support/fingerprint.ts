import type { Db } from '../../db/connect.ts';
import { aggregateCounters } from '../../db/models/counters.ts';
import { aggregateContactCounts } from '../../services/contacts/counts.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';

/** Tables that change with every request, or with reading. */
const IGNORED_TABLES = [
  'rate_windows',
  'session_rate_windows',
  'processes',
  'failed_requests',
  'previews',
  'knex_migrations',
  'knex_migrations_lock',
];
/** Columns that change with time: when and from where a session was last used, written once a minute. */
const IGNORED_COLUMNS = "array['last_seen_at', 'ip', 'user_agent']";

/** Returns row count and checksum of each table: equal when nothing has changed. */
export async function fingerprint(db: Db): Promise<Record<string, string>> {
  // Reads aggregate pending deltas. Doing it here keeps a later read from changing the tables.
  await aggregateCounters(db);
  await aggregateContactCounts(db);
  await aggregateEventCounts(db);
  const { rows } = await db.raw(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`);
  const names = (rows as { name: string }[]).map(({ name }) => name).filter((name) => !IGNORED_TABLES.includes(name));
  const parts = names.map(
    (
      name,
    ) => `select '${name}' as name, count(*) || ' ' || coalesce(sum(hashtextextended((to_jsonb(t) - ${IGNORED_COLUMNS})::text, 0)::numeric), 0) as print
      from "${name}" t`,
  );
  const found: { rows: { name: string; print: string }[] } = await db.raw(parts.join(' union all '));
  return Object.fromEntries(found.rows.map(({ name, print }) => [name, print]));
}
