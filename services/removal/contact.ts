import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { contactNotFound } from '../contacts/save.ts';
import { dropUnusedAttachments } from '../emails/attachments.ts';
import { CONTACT_DELETED, endExecutionsOf } from '../workflows/executions/cancel.ts';

/** In the order of addresses, as everybody who writes several contacts locks them. */
const removeContacts = `
  delete from contacts where id in (
    select id from contacts where project_id = ? and id = any (?::uuid[]) order by email collate "C" for update)
  returning id, email`;

// Somebody who was to get a campaign and is no more counts as skipped. Of mail that a campaign has sent, whose content
// is the campaign's, address and subject stand in the ledger itself. Relays like to repeat the address in what they say.
const cancelPending = `
  update emails set
    status = case when status <> 'PENDING' then status when campaign_id is null then 'CANCELLED' else 'SKIPPED' end,
    reason = case when status = 'PENDING' then ? when reason like '%@%' then null else reason end,
    to_email = null, rendered_subject = null, updated_at = now()
  where id in (
    select id from emails
    where project_id = ? and contact_id = any (?::uuid[])
      and (status = 'PENDING' or to_email is not null or reason like '%@%')
    order by id for update)`;

// The whole content goes: address and name stand in it, and what was rendered for the contact does too. A mail that is
// on the wire at this moment still arrives; should it come back, delivery finds that its content is gone.
const eraseContents = `
  delete from email_contents c using emails e
  where e.project_id = ? and e.contact_id = any (?::uuid[]) and c.email_id = e.id
  returning c.attachment_set`;

// Events, answers of relays, and what an import says of a bad row: there the address stands in the spelling of the file.
const eraseHistory = `
  with gone as (select ?::uuid as project_id, ?::uuid[] as ids, ?::text[] as emails),
  emptied as (
    -- Whether it was the first says nothing of anybody, and the feed of activity goes by it.
    update events e set data = case when e.data \\? 'isFirst' then jsonb_build_object('isFirst', e.data -> 'isFirst') else '{}' end
    from gone
    where e.project_id = gone.project_id and e.contact_id = any (gone.ids) and e.data <> '{}'
  ),
  answers as (
    update email_attempts a set answer = null from gone, emails e
    where e.project_id = gone.project_id and e.contact_id = any (gone.ids) and a.email_id = e.id and a.answer is not null
  )
  update jobs j set result = jsonb_set(j.result, '{errors}', (
    select jsonb_agg(
      case when lower(fault ->> 'email') = any (gone.emails) then fault || '{"email": null}' else fault end order by place)
    from jsonb_array_elements(j.result -> 'errors') with ordinality as faults (fault, place)))
  from gone
  where j.project_id = gone.project_id and j.type = 'IMPORT' and exists (
    select 1 from jsonb_array_elements(j.result -> 'errors') as fault where lower(fault ->> 'email') = any (gone.emails))`;

/**
 * Removes contacts, a thousand at a time or so, and erases what the project knows of them: their ledger rows and events
 * stay, without address and data, so that sums stay what they were. Gives back the ids that there were.
 */
export async function deleteContacts(db: Db, projectId: string, ids: string[]): Promise<string[]> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const { rows } = await trx.raw(removeContacts, [projectId, ids]);
      const contacts = rows as { id: string; email: string }[];
      const gone = contacts.map(({ id }) => id);
      if (gone.length === 0) return [];
      await endExecutionsOf(trx, projectId, gone, CONTACT_DELETED);
      await trx.raw(cancelPending, [CONTACT_DELETED, projectId, gone]);
      const contents: { rows: { attachment_set: string | null }[] } = await trx.raw(eraseContents, [projectId, gone]);
      await dropUnusedAttachments(trx, [...new Set(contents.rows.flatMap(({ attachment_set: set }) => set ?? []))]);
      await trx.raw(eraseHistory, [projectId, gone, contacts.map(({ email }) => email)]);
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
