import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { LOWEST_ID } from '../../platform/ids.ts';
import { daysAgo } from './partitions.ts';

const CHUNK = 5_000;
/** Few, because records that name one of these wordings wait for the transaction. */
const TEXTS_CHUNK = 500;

const remove = statement(
  'retention-consents',
  `delete from consents where id = any (array(
     select id from consents where erased_at < $1 order by erased_at limit $2))`,
);

/**
 * Removes the consent records of contacts that were deleted more than `days` ago, with the wordings that no other record
 * has, and returns how many records it removed.
 */
export async function removeOldConsents(db: Db, days: number, now = new Date()): Promise<number> {
  for (let removed = 0; ; ) {
    const count = await remove.count(db, [daysAgo(days, now), CHUNK]);
    removed += count;
    if (count === CHUNK) continue;
    await removeUnusedTexts(db);
    return removed;
  }
}

const UNUSED = 'not exists (select from consents c where c.project_id = t.project_id and c.text_id = t.id)';
// A record that is being written holds its wording by a weaker lock.
const lockUnusedTexts = statement<{ id: string }>(
  'retention-consent-texts-lock',
  `select t.id from consent_texts t where t.id > $1 and ${UNUSED} order by t.id limit $2 for update skip locked`,
);
const removeTexts = statement(
  'retention-consent-texts',
  `delete from consent_texts t where t.id = any ($1::uuid[]) and ${UNUSED}`,
);

/** Asks again under the locks, because the first of the two statements does not see what was written meanwhile. */
async function removeUnusedTexts(db: Db): Promise<void> {
  for (let after: string | undefined = LOWEST_ID; after; ) {
    const start: string = after;
    after = await inTransaction(db, async (trx) => {
      const unused = (await lockUnusedTexts(trx, [start, TEXTS_CHUNK])).map(({ id }) => id);
      await removeTexts(trx, [unused]);
      return unused.at(-1);
    });
  }
}

/** For a year no email of a form goes to an address that has declined one. */
const LEAST_DAYS = 366;

// Their ids grow with time, and a settled row is younger than its id. One that was confirmed keeps its address, and stays
// with its contact: the link shows its page however late.
const removeSettled = statement(
  'retention-submissions',
  `delete from form_submissions where id = any (array(
     select id from form_submissions
     where id < uuid_floor($1::timestamptz) and settled_at < $1 and email is null order by id limit $2))`,
);

/** Removes settled submissions of which only the hash of the address is left, and returns how many. */
export async function removeOldSubmissions(db: Db, days: number, now = new Date()): Promise<number> {
  const before = daysAgo(Math.max(days, LEAST_DAYS), now);
  for (let removed = 0; ; ) {
    const count = await removeSettled.count(db, [before, CHUNK]);
    removed += count;
    if (count < CHUNK) return removed;
  }
}
