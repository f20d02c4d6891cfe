import type { Db } from '../../db/connect.ts';

const TIDY_LOCK = 0x74696479; // "tidy"

/**
 * Housekeeping: sorts what was written lately into the search indexes, and gives back how many pages of it there were.
 * Postgres does it by itself as well, but in the middle of some request, which then takes a tenth of a second; and until
 * then every search reads all of it.
 */
export async function cleanContactIndexes(db: Db): Promise<number> {
  const { rows } = await db.raw(
    `select coalesce(sum(gin_clean_pending_list(i.indexrelid)), 0)::integer as pages
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am on pg_am.oid = c.relam
     where i.indrelid = 'contacts'::regclass and pg_am.amname = 'gin' and i.indisready
       and (select pg_try_advisory_xact_lock(?))`,
    [TIDY_LOCK],
  );
  return rows[0].pages;
}
