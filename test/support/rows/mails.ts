// Mails as they are stored: for results that only a relay or a provider reports, for time that has passed, and for proof
// that nothing was stored or is left in flight.
import type { Db } from '../../../db/connect.ts';
import type { RecipientRow } from '../../../services/sending/campaign-contents.ts';

export const storedMails = (db: Db, where: object = {}) => db('emails').where(where).orderBy('id');

/** The recipients of a campaign as a sender leases them. */
export const campaignRecipients = (db: Db, campaignId: string): Promise<RecipientRow[]> =>
  db('emails')
    .leftJoin('contacts', 'contacts.id', 'emails.contactId')
    .where({ campaignId })
    .orderBy('emails.id')
    .select('emails.id', 'contactId', 'email', 'subscribed', 'contacts.createdAt', 'data');

export const setMails = (db: Db, where: object, columns: object) => db('emails').where(where).update(columns);

export const setMailsOf = (db: Db, ids: string[], columns: object) => db('emails').whereIn('id', ids).update(columns);

/** Inserts rows of `emails` as they are, without content. */
export const addMailRows = (db: Db, rows: object | object[]) => db('emails').insert(rows);

/** Writes the result that the relay reports when it accepts the mail. */
export const markSent = (db: Db, id: string, columns: object = {}) =>
  setMails(db, { id }, { status: 'SENT', sentAt: new Date(), ...columns });

export const markFailed = (db: Db, where: object) => setMails(db, where, { status: 'FAILED' });

/** Makes mail that waits for its next attempt due. */
export const makeDue = (db: Db, where: object) => setMails(db, where, { dueAt: new Date(0) });

export const setAttemptLog = (db: Db, id: string, attempts: unknown[]) =>
  setMails(db, { id }, { attemptLog: JSON.stringify(attempts) });

/** Subject, addresses and values of mails, without the body. */
export const storedContents = (db: Db, where: object) => db('emailContents').where(where).orderBy('emailId');

export const setContents = (db: Db, where: object, columns: object) => db('emailContents').where(where).update(columns);

/** Removes the content as retention does. */
export const removeContents = (db: Db, where: object) => db('emailContents').where(where).del();

/** The content of one mail with its body, as accepted and before it is rendered. */
export const storedContent = (db: Db, emailId: string) =>
  db('emailContents').join('emailBodies', 'emailBodies.id', 'bodyId').where({ emailId }).first();

export const storedBodies = (db: Db, where: object) => db('emailBodies').where(where).orderBy('id');

export const removeBodies = (db: Db, where: object) => db('emailBodies').where(where).del();

export const storedAttachments = (db: Db, setId: string) => db('emailAttachments').where({ setId }).orderBy('position');

/** Our own mails whose text contains these words. */
export const systemMailsWith = (db: Db, words: string) =>
  db('emailContents').whereRaw('variables::text like ?', [`%${words}%`]);

/** Mails that a sender has leased or begun. */
export const outgoingMails = (db: Db, where: object = {}) => db('outgoingMails').where(where);

export const runningSenders = (db: Db) => db('senders');

/** Opens, clicks and notices of providers that are not applied yet. */
export const waitingNotices = (db: Db, where: object = {}) => db('emailNotices').where(where).orderBy('id');

export const setNotices = (db: Db, columns: object) => db('emailNotices').update(columns);

/** Results that are stored and not yet published as events. */
export const unpublishedResults = (db: Db, emailIds: string[]) =>
  db('unpublishedEmailResults').whereIn('emailId', emailIds);

export const addUnpublishedResult = (db: Db, emailId: string, contactId: string) =>
  db('unpublishedEmailResults').insert({ emailId, contactId });

/** Inserts mails that were sent just now, and returns their ids. */
export async function addSentMails(
  db: Db,
  projectId: string,
  count: number,
  sourceType = 'TRANSACTIONAL',
): Promise<string[]> {
  const { rows } = await db.raw(
    `insert into emails (id, project_id, contact_id, source_type, priority, status, sent_at)
     select uuidv7(), ?, uuidv7(), ?, 0, 'SENT', now() from generate_series(1, ?::integer) returning id`,
    [projectId, sourceType, count],
  );
  return rows.map(({ id }: { id: string }) => id);
}

/** No sender has begun any mail. */
export const endInFlight = (db: Db) => db('outgoingMails').del();

/** Lets time pass for stored previews. */
export const agePreviews = (db: Db, minutes: number) =>
  db('previews').update({ createdAt: db.raw('now() - make_interval(mins => ?)', [minutes]) });

/** Removes the rows only. */
export const removeMails = (db: Db, where: object = {}) => db('emails').where(where).del();

/** Counts from now on how often each mail is leased. */
export const countLeases = (db: Db) =>
  db.raw(`
    create table counted_leases (email_id uuid);
    create function count_lease() returns trigger language plpgsql as $$
      begin insert into counted_leases values (new.email_id); return null; end $$;
    create trigger count_lease after insert on outgoing_mails for each row execute function count_lease();`);

export const leasesPerMail = (db: Db): Promise<{ emailId: string; count: number }[]> =>
  db('countedLeases').groupBy('emailId').select('emailId', db.raw('count(*)::integer as count'));

/** Inserts a mail of a campaign for every contact of the project. */
export const addCampaignMails = (db: Db, campaignId: string, projectId: string) =>
  db.raw(
    `insert into emails (id, project_id, contact_id, campaign_id, source_type)
     select uuidv7(), project_id, id, ?, 'CAMPAIGN' from contacts where project_id = ?`,
    [campaignId, projectId],
  );

/** Inserts a mail with content for every contact of the project. */
export const addMailsToContacts = (db: Db, projectId: string) =>
  db.raw(
    `with mails as (
       insert into emails (id, project_id, contact_id) select gen_random_uuid(), project_id, id from contacts
       where project_id = ? returning id, project_id
     ),
     bodies as (insert into email_bodies (id, project_id, html) select id, project_id, 'b' from mails)
     insert into email_contents (email_id, project_id, body_id, to_email, from_email, subject)
     select id, project_id, id, 'a@b.co', 'a@b.co', 's' from mails`,
    [projectId],
  );

/** Reports permanent bounces of some sent mails of a campaign. */
export const bounceSentMails = (db: Db, campaignId: string, count: number) =>
  db.raw(
    `update emails set status = 'BOUNCED', bounced_at = now(), bounce_type = 'Permanent'
     where id in (select id from emails where campaign_id = ? and status = 'SENT' limit ?)`,
    [campaignId, count],
  );

/** Leases all mails to a sender that has died. */
export const leaseToDeadSender = (db: Db) =>
  db.raw(
    `with dead as (insert into senders (id, lease_until) values (uuidv7(), '-infinity') returning id)
     insert into outgoing_mails (email_id, sender_id, project_id, contact_id)
     select emails.id, dead.id, project_id, contact_id from emails, dead`,
  );

export const setOutgoingMails = (db: Db, columns: object) => db('outgoingMails').update(columns);

/** Leaves the queue of outgoing mail empty and its index large, as after much mail. */
export async function bloatOutgoingMails(db: Db, rows: number): Promise<void> {
  await db.raw(
    `insert into outgoing_mails (email_id, sender_id, project_id, contact_id)
     select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid() from generate_series(1, ?::integer)`,
    [rows],
  );
  await db('outgoingMails').del();
  await db.raw('analyze emails, outgoing_mails');
}

/** The bytes on disk of mails with their contents and bodies. */
export async function sizeOfMails(db: Db): Promise<number> {
  const { rows } = await db.raw(
    `select pg_total_relation_size('emails') + sum(pg_total_relation_size(leaf.relid)) as size
     from unnest(array['email_bodies', 'email_contents']) as root (name),
       pg_partition_tree(root.name::regclass) as leaf where leaf.isleaf`,
  );
  return Number(rows[0].size);
}
