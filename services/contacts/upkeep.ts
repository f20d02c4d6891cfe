import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

const CLEANING_LOCK = 0x74696479; // "tidy"

const clean = statement<{ pages: number }>(
  'contacts-clean-indexes',
  `select coalesce(sum(gin_clean_pending_list(i.indexrelid)), 0)::integer as pages
   from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am on pg_am.oid = c.relam
   where i.indrelid = 'contacts'::regclass and pg_am.amname = 'gin' and i.indisready
     and (select pg_try_advisory_xact_lock($1))`,
);

/**
 * Housekeeping: moves the pending lists of the GIN indexes into the indexes and returns the number of pages. Postgres does
 * it as well, but inside a request, which then takes a tenth of a second; until then every search reads the pending list.
 */
export async function cleanContactIndexes(db: Db): Promise<number> {
  const [row] = await clean(db, [CLEANING_LOCK]);
  return row?.pages ?? 0;
}
