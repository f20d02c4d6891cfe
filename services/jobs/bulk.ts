import type { Db } from '../../db/connect.ts';
import type { BulkResult, BulkType } from '../../db/models/job.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { deleteContacts } from '../removal/contact.ts';

// Locks all contacts before changing any, in the order of their addresses, as all statements that write several.
const subscribe = statement<{ id: string; is_changed: boolean }>(
  'contacts-subscribe',
  `with locked as materialized (
     select id from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for update
   )
   select written.id, written.is_changed
   from locked join unnest($2::uuid[], $3::uuid[]) as given (id, event_id) using (id),
     update_contact($1::uuid, locked.id, null, $4::boolean, '{}', '[]', given.event_id) as written
   where written.id is not null`,
);

/** Applies the whole job in the caller's transaction: at most a thousand contacts, in few statements. */
export async function applyBulk(trx: Db, projectId: string, type: BulkType, contactIds: string[]): Promise<BulkResult> {
  const ids = [...new Set(contactIds.map((id) => id.toLowerCase()))];
  const known = await apply(trx, projectId, type, ids);
  const unknown = ids.filter((id) => !known.has(id));
  const changed = [...known.values()].filter(Boolean).length;
  return {
    requested: contactIds.length,
    changed,
    unchanged: contactIds.length - changed - unknown.length,
    failed: unknown.length,
    errors: unknown.map((contactId) => ({ contactId, error: 'there is no such contact in this project' })),
  };
}

/** Returns the existing contacts, and whether each was changed. */
async function apply(trx: Db, projectId: string, type: BulkType, ids: string[]): Promise<Map<string, boolean>> {
  if (type === 'BULK_DELETE') {
    const deleted = await deleteContacts(trx, projectId, ids);
    return new Map(deleted.map((id) => [id, true]));
  }
  const rows = await subscribe(trx, [projectId, ids, ids.map(() => newId()), type === 'BULK_SUBSCRIBE']);
  return new Map(rows.map(({ id, is_changed }) => [id, is_changed]));
}
