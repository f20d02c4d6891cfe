// Mails as they are stored: for results that only a relay or a provider reports, for time that has passed, and for proof
// that nothing was stored or is left in flight.
import type { Db } from '../../../db/connect.ts';

export const storedMails = (db: Db, where: object = {}) => db('emails').where(where).orderBy('id');

export const setMails = (db: Db, where: object, columns: object) => db('emails').where(where).update(columns);

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
