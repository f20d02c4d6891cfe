// Persists results of campaign mails from `campaign_mails_in_flight` to the ledger in batches.
import { type Db, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { coalesced } from '../../platform/coalesce.ts';
import { insertUsageDeltas } from '../billing/usage.ts';
import { leaseBatch } from '../emails/delivery-lease.ts';
import { attemptsOf, settledBy } from '../emails/delivery-ledger.ts';
import { settle } from '../emails/delivery-settlement.ts';
import { insertResultEvents, insertUnpublishedResults, senderDomainArrays } from '../emails/publish-results.ts';
import { endColumns } from './turn.ts';

/** What has come of mails is carried over to the ledger, with all its indexes, in sets. */
const AT_ONCE = 500;
/** They come by turns. */
const GROUPS = 25;
const LINGER_MS = 200;
/** Whoever wrote a result books it before long, or is no more. */
const LEFT_SECONDS = 5;

// What has become of a mail is written whatever its row says by now (its contact may have been deleted while it was on
// the wire), but it is tried again only where it is still to be sent. Of somebody who is gone no address is kept; one who
// is being deleted at this moment is still there for us, but the row, which we had to wait for, is PENDING no more.
const booking = (which: string, { locked = '', tell }: { locked?: string; tell: string }): string => `
  with done as (
    delete from campaign_mails_in_flight where email_id = any (array(
      select email_id from campaign_mails_in_flight where ${which} and ended_at is not null
      order by email_id limit ${AT_ONCE} for update skip locked))
    returning *
  ),
  told as materialized (
    select done.*, k.id is not null as is_free, done.result ->> 'status' as status, done.result ->> 'reason' as reason,
      done.result ->> 'attemptNotCounted' is not null as attempt_not_counted, done.result ->> 'unknown' is not null as "unknown",
      (done.result ->> 'retryAfterSeconds')::float8 as again_after, done.result ->> 'providerMessageId' as provider_message_id,
      done.result ->> 'outcome' as outcome, done.result ->> 'answer' as answer,
      k.id is not null or exists (select 1 from contacts where id = done.contact_id) as is_there
    from done left join lateral (select id from contacts where id = done.contact_id ${locked}) k on true
  ),
  booked as (
    update emails e set
      ${settledBy('told', 'told.ended_at')},
      attempts = told.number - case when told.attempt_not_counted then 1 else 0 end,
      to_email = case when told.is_there and e.status = 'PENDING' and not told.attempt_not_counted then told.recipient end,
      rendered_subject = case when told.is_there and e.status = 'PENDING' and not told.attempt_not_counted then told.subject end
    from told where e.id = told.email_id and (told.status <> 'PENDING' or e.status = 'PENDING')
    returning e.*, told.number, told.started_at, told.ended_at, told.outcome, told.is_free,
      case when told.is_there and old.status = 'PENDING' then coalesce(told.answer, told.reason) end as answer
  ),
  ${tell},
  ${attemptsOf('booked')}
  select count(*)::integer as count from done`;

interface Count {
  count: number;
}

const FINAL = "status in ('SENT', 'FAILED')";
/** Its results are left to whoever tells results. */
const plainly = (which: string): string =>
  booking(which, { tell: `result as (${insertUnpublishedResults(`booked where ${FINAL}`)})` });
const bookSome = statement<Count>('campaign-book-some', plainly('email_id = any ($1::uuid[])'));
const bookOfCampaign = statement<Count>('campaign-book-all', plainly('campaign_id = $1'));
const bookLeft = statement<Count>('campaign-book-left', plainly('ended_at < now() - make_interval(secs => $1)'));

// Told at once, but for those of whom somebody else is busy with the contact, or has something to tell of the mail from
// before: that is for one who can wait. The content of these mails is their campaign's.
const AT_ONCE_TOLD = `${FINAL} and is_free and number = 1`;
const toldNow = (condition: string): string =>
  `(select * from booked where ${AT_ONCE_TOLD} and not without_events and ${condition}) mail`;
const withCampaign = `join campaigns campaign on campaign.id = mail.campaign_id
  cross join (select null::text as from_email, null::text as subject, null::text as rendered_subject) content
  cross join (select null::integer as depth) execution`;
const bookAndTell = statement<Count>(
  'campaign-book',
  booking('email_id = any ($1::uuid[])', {
    locked: 'for update skip locked',
    tell: `
      event as (${insertResultEvents(`${toldNow('true')} ${withCampaign}`, '$2::text[], $3::text[]')}),
      usage as (${insertUsageDeltas(toldNow('$4'))}),
      result as (${insertUnpublishedResults(`booked where ${FINAL} and not (${AT_ONCE_TOLD})`)})`,
  }),
);

export interface Booking {
  id: string;
  /** Of the campaign. */
  from: string;
}

/** Carries the ends of mails over to the ledger, some at a time. What does not succeed is for `tidyWire`. */
export const booker = (db: Db, { billing = false } = {}): ((some: Booking[]) => Promise<void>) =>
  coalesced(
    async (groups) => {
      const all = groups.flat();
      for (let at = 0; at < all.length; at += AT_ONCE) await book(db, all.slice(at, at + AT_ONCE), billing);
      wake(db, 'events');
      return groups.map(() => undefined);
    },
    { maxItems: GROUPS, linger: { ms: LINGER_MS, enough: GROUPS } },
  );

async function book(db: Db, some: Booking[], billing: boolean): Promise<void> {
  const senders = [...new Set(some.map(({ from }) => from))];
  const values = [plainArray(some.map(({ id }) => id)), ...senderDomainArrays(senders), billing];
  await retryDeadlocks(db, () => bookAndTell(db, values));
}

/** For one who shows or decides how it stands, to the last mail. */
export async function bookCampaign(db: Db, campaignId: string): Promise<void> {
  while (((await bookOfCampaign(db, [campaignId]))[0]?.count ?? 0) === AT_ONCE);
}

interface OnWire {
  email_id: string;
  number: number;
  has_ended: boolean;
}

const ofBatch = statement<OnWire>(
  'campaign-wire-of-batch',
  `select w.email_id, w.number, w.ended_at is not null as has_ended
   from emails e join campaign_mails_in_flight w on w.email_id = e.id where e.batch_id = $1 and e.status = 'PENDING'`,
);
const endInterrupted = statement(
  'campaign-end-interrupted',
  `update campaign_mails_in_flight w set ended_at = now(), result = told.result
   from rows from (unnest($1::uuid[]), unnest($2::integer[]), jsonb_array_elements($3::jsonb)) as told (id, number, result)
   where w.email_id = told.id and w.number = told.number and w.ended_at is null`,
);

/** Whoever has just got the lease and finds mails on the wire, finds what somebody left there who died or was shut out. */
export async function settleWireOf(db: Db, batchId: string): Promise<void> {
  const found = await ofBatch(db, [batchId]);
  await resolveInterrupted(
    db,
    found.filter(({ has_ended }) => !has_ended),
  );
  const ids = found.map(({ email_id }) => email_id);
  for (let at = 0; at < ids.length; at += AT_ONCE)
    await retryDeadlocks(db, () => bookSome(db, [ids.slice(at, at + AT_ONCE)]));
}

async function resolveInterrupted(db: Db, left: Pick<OnWire, 'email_id' | 'number'>[]): Promise<void> {
  if (left.length === 0) return;
  const outcome = { kind: 'unknown', reason: 'the worker was interrupted while it was sending' } as const;
  const ends = left.map(({ email_id: id, number: attempts }) => ({
    ...{ id, attempts },
    settlement: settle({ id, sourceType: 'CAMPAIGN', attempts, unknownOutcomes: 0 }, outcome),
  }));
  await endInterrupted(db, endColumns(ends));
}

const leftBehind = statement<{ email_id: string; number: number; batch_id: string }>(
  'campaign-left-behind',
  `select w.email_id, w.number, w.batch_id from campaign_mails_in_flight w
   where w.ended_at is null and not exists (
     select 1 from delivery_batches b where b.id = w.batch_id and b.lease_until > now())
   order by w.batch_id limit 1000`,
);

/**
 * Housekeeping: what is on the wire and has nobody who sends it any more has an unknown outcome, and what was known and
 * not booked is. Also while the campaign stands still, or is gone.
 */
export async function tidyWire(db: Db): Promise<number> {
  const left = await leftBehind(db, []);
  for (const batchId of new Set(left.map(({ batch_id }) => batch_id))) {
    const answer = await leaseBatch(db, batchId);
    if ('heldForMs' in answer) continue;
    const ofBatch = left.filter(({ batch_id }) => batch_id === batchId);
    await resolveInterrupted(db, ofBatch).finally(() => 'lease' in answer && answer.lease.release());
  }
  let booked = 0;
  for (let count = AT_ONCE; count === AT_ONCE; booked += count)
    count = (await retryDeadlocks(db, () => bookLeft(db, [LEFT_SECONDS])))[0]?.count ?? 0;
  return left.length + booked;
}
