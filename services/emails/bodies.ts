import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** The body and the attachments of a mail whose content was removed. */
export interface RemovedContent {
  bodyId: string;
  attachmentSet: string | null;
}

/**
 * Removes the bodies and attachments that no mail refers to any more. Call it in the transaction that removed the contents.
 * The text of a template stays until its month is over: other mails may begin to use it at any time.
 */
export async function dropUnusedParts(trx: Db, removed: RemovedContent[]): Promise<void> {
  await dropUnusedAttachments(trx, [...new Set(removed.flatMap(({ attachmentSet: set }) => set ?? []))]);
  await dropUnusedBodies(trx, [...new Set(removed.map(({ bodyId: id }) => id))]);
}

/** SQL: whether no mail has the body. In two parts, as its indexes. */
export const isUnused = (bodyId: string): string => `(
  not exists (select 1 from email_contents c where c.email_id = ${bodyId} and c.body_id = c.email_id)
  and not exists (select 1 from email_contents c where c.body_id = ${bodyId} and c.body_id <> c.email_id))`;

// The locks make concurrent removals of the last mails of a body or set wait for each other, so that the second sees what
// the first removed.

const lockBodies = statement(
  'bodies-lock',
  'select 1 from email_bodies where id = any ($1::uuid[]) and not shared order by id for update',
);
const removeBodies = statement(
  'bodies-remove',
  `delete from email_bodies b where b.id = any ($1::uuid[]) and not b.shared and ${isUnused('b.id')}`,
);
const lockAttachments = statement(
  'attachments-lock',
  'select 1 from email_attachments where set_id = any ($1::uuid[]) order by set_id, position for update',
);
const removeAttachments = statement(
  'attachments-remove',
  `delete from email_attachments a where a.set_id = any ($1::uuid[])
   and not exists (select 1 from email_contents c where c.attachment_set = a.set_id)`,
);

async function dropUnusedBodies(trx: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockBodies(trx, [ids]);
  await removeBodies(trx, [ids]);
}

export async function dropUnusedAttachments(trx: Db, setIds: string[]): Promise<void> {
  if (setIds.length === 0) return;
  await lockAttachments(trx, [setIds]);
  await removeAttachments(trx, [setIds]);
}
