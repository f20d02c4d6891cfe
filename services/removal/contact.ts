import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { contactNotFound } from '../contacts/save.ts';
import { dropUnusedParts, type RemovedContent } from '../emails/bodies.ts';
import { CONTACT_DELETED, endExecutionsOf } from '../workflows/executions/cancel.ts';

/** Locks contacts in the order of their addresses, as all statements that write several. */
const removeContacts = `
  delete from contacts where id in (
    select id from contacts where project_id = ? and id = any (?::uuid[]) order by email collate "C" for update)
  returning id, email, contact_id_of_address(project_id, email) as address_id`;

// A deleted recipient of a campaign counts as skipped. Mails of campaigns have address and subject in the ledger itself.
// Reasons with an @ and the replies of relays are erased, because relays repeat the address in them.
const cancelPending = `
  update emails set
    status = case when status <> 'PENDING' then status when campaign_id is null then 'CANCELLED' else 'SKIPPED' end,
    reason = case when status = 'PENDING' then ? when reason like '%@%' then null else reason end,
    attempt_log = (
      select jsonb_agg(entry || '{"answer": null}' order by place)
      from jsonb_array_elements(attempt_log) with ordinality as log (entry, place)),
    to_email = null, rendered_subject = null, updated_at = now()
  where id in (
    select id from emails
    where project_id = ? and contact_id = any (?::uuid[])
      and (status = 'PENDING' or to_email is not null or reason like '%@%' or attempt_log is not null)
    order by id for update)`;

// Deletes the whole content, because it contains the address, the name and rendered data. A mail in flight still arrives;
// when it would be sent again, the sender finds no content.
const eraseContents = `
  delete from email_contents c using emails e
  where e.project_id = ? and e.contact_id = any (?::uuid[]) and c.email_id = e.id
  returning c.body_id, c.attachment_set`;

// Erases the data of events, previews, and rejected rows of imports, which are spelled as in the file.
const eraseHistory = `
  with deleted as (select ?::uuid as project_id, ?::uuid[] as ids, ?::text[] as emails),
  emptied as (
    -- These are not personal data, and the activity feed and the counts need them.
    update events e set data = (
      select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(e.data)
      where key in ('isFirst', 'isFirstHuman', 'machine'))
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
    where addresses_in(error ->> 'email') && deleted.emails)`;

/**
 * Deletes up to about a thousand contacts, erases their personal data and returns the ids that existed. Their ledger rows
 * and events stay without address and data, so that counts do not change.
 */
export async function deleteContacts(db: Db, projectId: string, ids: string[]): Promise<string[]> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const { rows } = await trx.raw(removeContacts, [projectId, ids]);
      const contacts = rows as { id: string; email: string; address_id: string }[];
      const deleted = contacts.map(({ id }) => id);
      if (deleted.length === 0) return [];
      await endExecutionsOf(trx, projectId, deleted, CONTACT_DELETED);
      // Test mail that was sent before there was a contact.
      const recipients = [...deleted, ...contacts.map(({ address_id }) => address_id)];
      await trx.raw(cancelPending, [CONTACT_DELETED, projectId, recipients]);
      const contents: { rows: RemovedContent[] } = await trx.raw(eraseContents, [projectId, recipients]);
      await dropUnusedParts(trx, contents.rows);
      const emails = contacts.map(({ email }) => email);
      await trx.raw(eraseHistory, [projectId, recipients, emails]);
      await trx.raw('select erase_webhook_payloads(?, ?::uuid[], ?::text[])', [projectId, deleted, emails]);
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
