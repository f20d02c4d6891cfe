import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** How long an import remains a filter of the list of contacts. */
const KEPT_DAYS = 90;
const CHUNK = 10_000;

const store = statement(
  'import-contacts-store',
  `insert into import_contacts (job_id, project_id, contact_id)
   select $1, $2, id from unnest($3::uuid[]) as imported (id) on conflict do nothing`,
);

/** Remembers which contacts were in the file of an import. */
export async function storeImported(
  trx: Db,
  { id, projectId }: { id: string; projectId: string },
  contacts: { id: string }[],
): Promise<void> {
  if (contacts.length > 0) await store(trx, [id, projectId, contacts.map((contact) => contact.id)]);
}

// Ids of jobs grow with time.
const removeOld = statement(
  'import-contacts-remove',
  `delete from import_contacts where ctid = any (array(
     select ctid from import_contacts where job_id < uuid_floor(now() - interval '${KEPT_DAYS} days') limit ${CHUNK}))`,
);

/** Housekeeping. */
export async function deleteOldImported(db: Db): Promise<void> {
  for (let removed = CHUNK; removed === CHUNK; ) removed = await removeOld.count(db);
}
