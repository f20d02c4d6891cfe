import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { contactNotFound } from '../contacts/save.ts';
import { dropUnusedParts, type RemovedContent } from '../emails/bodies.ts';
import { eraseEmailsSql } from '../emails/erase.ts';
import { CONTACT_DELETED, endExecutionsOf } from '../workflows/executions/cancel.ts';

/** Locks contacts in the order of their addresses, as all statements that write several. */
const removeContacts = statement<{ id: string; email: string; addressId: string }>(
  'contacts-remove',
  `delete from contacts where id in (
    select id from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for update)
  returning id, email, contact_id_of_address(project_id, email) as address_id`,
);

const cancelPending = statement(
  'contacts-remove-pending',
  eraseEmailsSql('project_id = $2 and contact_id = any ($3::uuid[])'),
);

// Deletes the whole content, because it contains the address, the name and rendered data. A mail in flight still arrives;
// when it would be sent again, the sender finds no content.
const eraseContents = statement<RemovedContent>(
  'contacts-remove-contents',
  `delete from email_contents c using emails e
  where e.project_id = $1 and e.contact_id = any ($2::uuid[]) and c.email_id = e.id
  returning c.body_id, c.attachment_set`,
);

// Erases the data of events, previews, and rejected rows of imports, which are spelled as in the file.
const eraseHistory = statement(
  'contacts-remove-history',
  `with deleted as (select $1::uuid as project_id, $2::uuid[] as ids, $3::text[] as emails),
  emptied as (
    -- These are not personal data, and the activity feed and the counts need them.
    update events e set data = (
      select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(e.data)
      where key in ('isFirst', 'isFirstHuman', 'isFirstReading', 'machine'))
    from deleted
    where e.project_id = deleted.project_id and e.contact_id = any (deleted.ids) and e.data <> '{}'
  ),
  bad_rows as (
    update job_errors j set email = null from deleted
    where j.project_id = deleted.project_id and addresses_in(j.email) && deleted.emails
  ),
  shown as (
    delete from previews p using deleted
    where p.project_id = deleted.project_id and p.contact_id = any (deleted.ids)
  )
  update jobs j set result = jsonb_set(j.result, '{errors}', (
    select jsonb_agg(
      case when addresses_in(error ->> 'email') && deleted.emails then error || '{"email": null}' else error end order by n)
    from jsonb_array_elements(j.result -> 'errors') with ordinality as errors (error, n)))
  from deleted
  where j.project_id = deleted.project_id and j.type in ('IMPORT', 'SUPPRESSION_IMPORT') and exists (
    select 1 from jsonb_array_elements(j.result -> 'errors') as error
    where addresses_in(error ->> 'email') && deleted.emails)`,
);

const eraseWebhookPayloads = statement('contacts-remove-webhooks', 'select erase_webhook_payloads($1, $2, $3)');

/**
 * Deletes up to about a thousand contacts, erases their personal data and returns the ids that existed. Their ledger rows
 * and events stay without address and data, so that counts do not change.
 */
export async function deleteContacts(db: Db, projectId: string, ids: string[]): Promise<string[]> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const contacts = await removeContacts(trx, [projectId, ids]);
      const deleted = contacts.map(({ id }) => id);
      if (deleted.length === 0) return [];
      await endExecutionsOf(trx, projectId, deleted, CONTACT_DELETED);
      // Test mail and confirmations that were sent before there was a contact, and webhooks of submissions.
      const recipients = [...deleted, ...contacts.map(({ addressId }) => addressId)];
      await cancelPending(trx, [CONTACT_DELETED, projectId, recipients]);
      await dropUnusedParts(trx, await eraseContents(trx, [projectId, recipients]));
      const emails = contacts.map(({ email }) => email);
      await eraseHistory(trx, [projectId, recipients, emails]);
      await eraseWebhookPayloads(trx, [projectId, recipients, emails]);
      return deleted;
    }),
  );
}

export async function deleteContact(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const deleted = await deleteContacts(trx, project.projectId, [id]);
    if (deleted.length === 0) throw contactNotFound();
  });
}
