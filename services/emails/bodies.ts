import type { Db } from '../../db/connect.ts';

/** The body and the attachments of a mail whose content was removed. */
export interface RemovedContent {
  body_id: string;
  attachment_set: string | null;
}

/**
 * Removes the bodies and attachments that no mail refers to any more. Call it in the transaction that removed the contents.
 * The text of a template stays until its month is over: other mails may begin to use it at any time.
 */
export async function dropUnusedParts(trx: Db, removed: RemovedContent[]): Promise<void> {
  await dropUnusedAttachments(trx, [...new Set(removed.flatMap(({ attachment_set: set }) => set ?? []))]);
  await dropUnusedBodies(trx, [...new Set(removed.map(({ body_id: id }) => id))]);
}

// The locks make concurrent removals of the last mails of a body or set wait for each other, so that the second sees what
// the first removed.

async function dropUnusedBodies(trx: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await trx.raw('select 1 from email_bodies where id = any (?::uuid[]) and not shared order by id for update', [ids]);
  await trx.raw(`delete from email_bodies b where b.id = any (?::uuid[]) and not b.shared and ${isUnused('b.id')}`, [
    ids,
  ]);
}

/** SQL: whether no mail has the body. In two parts, as its indexes. */
export const isUnused = (bodyId: string): string => `(
  not exists (select 1 from email_contents c where c.email_id = ${bodyId} and c.body_id = c.email_id)
  and not exists (select 1 from email_contents c where c.body_id = ${bodyId} and c.body_id <> c.email_id))`;

export async function dropUnusedAttachments(trx: Db, setIds: string[]): Promise<void> {
  if (setIds.length === 0) return;
  await trx.raw('select 1 from email_attachments where set_id = any (?::uuid[]) order by set_id, position for update', [
    setIds,
  ]);
  await trx.raw(
    `delete from email_attachments a where a.set_id = any (?::uuid[])
     and not exists (select 1 from email_contents c where c.attachment_set = a.set_id)`,
    [setIds],
  );
}
