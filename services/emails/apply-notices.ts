import { type Db, inTransaction } from '../../db/connect.ts';
import type { EmailStatus } from '../../db/models/email.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { lockContactsOf, recordMailEvents } from './mail-events.ts';
import { insertUnpublishedResults } from './publish-results.ts';
import { unsubscribeUndeliverable } from './unsubscribe-undeliverable.ts';
import { type MatchedNotice, updateMails } from './update-mails.ts';

const BATCH = 500;
/** How long to wait for an unknown mail: its result may not be in the ledger yet. */
const NOT_FOUND_SECONDS = 600;
/** How long to wait for a mail that the ledger shows as unfinished. */
const UNFINISHED_SECONDS = 3 * 86_400;

interface PickedRow extends Omit<MatchedNotice, 'emailId' | 'contactId'> {
  emailId: string | null;
  contactId: string | null;
  status: EmailStatus | null;
  /** Whether `email.sent` is recorded, which must come before other events of the mail. */
  published: boolean;
  ageSeconds: number;
}

// Workers run this concurrently: SKIP LOCKED gives each its own notices.
const pick = statement<PickedRow>(
  'notices-pick',
  `select n.id, n.kind, n.bounce_type, n.link, n.link_index, n.reason, n.at, n.agent,
     extract(epoch from now() - n.created_at)::float8 as age_seconds,
     e.id as email_id, e.contact_id, e.status, e.sent_at,
     not exists (select 1 from unpublished_email_results r where r.email_id = e.id) as published
   from email_notices n
   left join emails e on e.id = coalesce(n.email_id,
     (select p.id from emails p where p.provider_message_id = n.provider_message_id order by p.id desc limit 1))
   where n.due_at <= now() order by n.due_at, n.id limit $1 for update of n skip locked`,
);

const remove = statement('notices-remove', 'delete from email_notices where id = any ($1::bigint[])');

const delay = statement(
  'notices-delay',
  `update email_notices set due_at = now() + least(interval '5 minutes', greatest(interval '1 second', now() - created_at))
   where id = any ($1::bigint[])`,
);

// A notice proves that the relay accepted a mail of unknown outcome.
const markSent = statement(
  'notices-mark-sent',
  `with sent as (
     update emails set status = 'SENT', reason = null, sent_at = coalesce(sent_at, now()), updated_at = now()
     where id = any ($1::uuid[]) and status = 'UNKNOWN' returning *
   )
   ${insertUnpublishedResults('sent')}`,
);

/** Applies a batch of the notices that `recordNotices` stored. Returns how many were finished. */
export async function applyNotices(db: Db, limit = BATCH): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      const ready: MatchedNotice[] = [];
      const early: PickedRow[] = [];
      for (const row of picked) {
        const readiness = readinessOf(row);
        if (readiness === 'ready') ready.push(row as MatchedNotice);
        else if (readiness === 'early') early.push(row);
      }
      await apply(trx, ready);
      const unknown = early.filter(({ status }) => status === 'UNKNOWN');
      if (unknown.length > 0) await markSent(trx, [unknown.map(({ emailId }) => emailId)]);
      if (early.length > 0) await delay(trx, [early.map(({ id }) => id)]);
      const waiting = new Set(early);
      const done = picked.filter((row) => !waiting.has(row)).map(({ id }) => id);
      if (done.length > 0) await remove(trx, [done]);
      return done.length;
    }),
  );
}

function readinessOf({ status, published, ageSeconds: age }: PickedRow): 'ready' | 'early' | 'discard' {
  switch (status) {
    case null:
      return age < NOT_FOUND_SECONDS ? 'early' : 'discard';
    case 'PENDING':
    case 'UNKNOWN':
      return age < UNFINISHED_SECONDS ? 'early' : 'discard';
    // The relay refused the mail, so the notice comes from a scanner that followed a link.
    case 'FAILED':
    case 'SKIPPED':
    case 'CANCELLED':
      return 'discard';
    default:
      return published ? 'ready' : 'early';
  }
}

async function apply(trx: Db, notices: MatchedNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await lockContactsOf(
    trx,
    notices.map(({ contactId }) => contactId),
  );
  const { events, undeliverable } = await updateMails(trx, notices);
  await recordMailEvents(trx, events);
  await unsubscribeUndeliverable(trx, undeliverable);
}
