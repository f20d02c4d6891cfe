import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { dropUnusedAttachments } from '../emails/attachments.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { requireOpenProject } from '../projects/refusal.ts';
import { contactNotFound } from './save.ts';

export const CONTACT_DELETED = 'contact deleted';

/** In the order of addresses, as everybody who writes several contacts locks them. */
const removeContacts = `
  delete from contacts where id in (
    select id from contacts where project_id = ? and id = any (?::uuid[]) order by email collate "C" for update)
  returning id`;

const cancelPending = `
  update emails set status = 'CANCELLED', reason = ?, updated_at = now()
  where status = 'PENDING' and id in (
    select id from emails where project_id = ? and contact_id = any (?::uuid[]) and status = 'PENDING'
    order by id for update)`;

// The whole content goes: address and name stand in it, and what was rendered for the contact does too. A mail that is
// on the wire at this moment still arrives; should it come back, delivery finds that its content is gone.
const eraseContents = `
  delete from email_contents c using emails e
  where e.project_id = ? and e.contact_id = any (?::uuid[]) and c.email_id = e.id
  returning c.attachment_set`;

const eraseEvents = `
  update events set data = '{}' where project_id = ? and contact_id = any (?::uuid[]) and data <> '{}'`;

/**
 * Removes contacts, a thousand at a time or so, and erases what the project knows of them: their ledger rows and events
 * stay, without address and data, so that sums stay what they were. Gives back the ids that there were.
 */
export async function deleteContacts(db: Db, projectId: string, ids: string[]): Promise<string[]> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const { rows } = await trx.raw(removeContacts, [projectId, ids]);
      const gone = (rows as { id: string }[]).map(({ id }) => id);
      if (gone.length === 0) return [];
      await trx.raw(cancelPending, [CONTACT_DELETED, projectId, gone]);
      const contents: { rows: { attachment_set: string | null }[] } = await trx.raw(eraseContents, [projectId, gone]);
      await dropUnusedAttachments(trx, [...new Set(contents.rows.flatMap(({ attachment_set: set }) => set ?? []))]);
      await trx.raw(eraseEvents, [projectId, gone]);
      return gone;
    }),
  );
}

export async function deleteContact(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      await requireOpenProject(trx, project);
      const gone = await deleteContacts(trx, project.projectId, [id]);
      if (gone.length === 0) throw contactNotFound();
    }),
  );
}
