import type { Db } from '../../db/connect.ts';
import { type ContactWrite, contactArrays, writeContactsSql as writing } from '../../db/models/contact-writing.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { mergedTooLarge } from './data.ts';
import { isDataTooLarge } from './violations.ts';

export type { ContactWrite } from '../../db/models/contact-writing.ts';

export interface WrittenContact {
  id: string;
  email: string;
  isNew: boolean;
  /** Also true for new contacts. */
  isChanged: boolean;
}

export interface WriteResult<Written = WrittenContact> {
  written: Written[];
  refused: { email: string; error: string }[];
}

const write = statement<{ id: string; email: string; isNew: boolean; isChanged: boolean }>(
  'contacts-write',
  `with project as materialized (select id from projects where id = $1), ${writing(2)}
   select id, email, is_new, is_changed from contact`,
);

/**
 * Creates or changes many contacts in one statement, one per address. When one is refused, the others are written all the
 * same: halves are retried until the refused contact is alone.
 */
export async function writeContacts(db: Db, projectId: string, writes: ContactWrite[]): Promise<WriteResult> {
  if (writes.length === 0) return { written: [], refused: [] };
  try {
    return { written: await writeAll(db, projectId, writes), refused: [] };
  } catch (error) {
    if (!isDataTooLarge(error)) throw error;
    const [first] = writes;
    if (first && writes.length === 1)
      return { written: [], refused: [{ email: first.email, error: mergedTooLarge.message }] };
  }
  const middle = writes.length >> 1;
  const halves = [writes.slice(0, middle), writes.slice(middle)];
  const results: WriteResult[] = [];
  for (const half of halves) results.push(await writeContacts(db, projectId, half));
  return { written: results.flatMap(({ written }) => written), refused: results.flatMap(({ refused }) => refused) };
}

async function writeAll(db: Db, projectId: string, writes: ContactWrite[]): Promise<WrittenContact[]> {
  const values = [projectId, ...contactArrays(writes)];
  // A savepoint inside a transaction, so that a refusal does not roll back the caller's work.
  return retryDeadlocks(db, () => db.transaction((trx) => write(trx, values)));
}

const preview = statement<{ email: string; isNew: boolean; isChanged: boolean; isTooLarge: boolean }>(
  'contacts-preview',
  `select given.email, c.id is null as is_new,
     c.id is null or coalesce(given.subscribed, c.subscribed) <> c.subscribed or merged.data <> c.data as is_changed,
     octet_length(merged.data::text) > 131072 and pg_column_size(merged.data) > 131072 as is_too_large
   from unnest($2::text[], $3::boolean[], $4::jsonb[]) as given (email, subscribed, patch)
   left join contacts c on c.project_id = $1 and c.email = given.email
   cross join lateral (select coalesce(c.data, '{}') || given.patch as data) merged`,
);

/** Returns what `writeContacts` would do, without doing it. */
export async function previewContacts(
  db: Db,
  projectId: string,
  writes: ContactWrite[],
): Promise<WriteResult<Omit<WrittenContact, 'id'>>> {
  if (writes.length === 0) return { written: [], refused: [] };
  const rows = await preview(db, [
    projectId,
    writes.map(({ email }) => email),
    writes.map(({ subscribed }) => subscribed ?? null),
    writes.map(({ patch }) => JSON.stringify(patch)),
  ]);
  const refused = rows.filter((row) => row.isTooLarge);
  const written = rows.filter((row) => !row.isTooLarge);
  return {
    written: written.map(({ email, isNew, isChanged }) => ({
      email,
      isNew,
      isChanged,
    })),
    refused: refused.map(({ email }) => ({ email, error: mergedTooLarge.message })),
  };
}
