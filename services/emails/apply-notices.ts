import { type Db, inTransaction } from '../../db/connect.ts';
import type { EmailStatus } from '../../db/models/email.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { lockContactsOf, recordMailEvents } from './mail-events.ts';
import { moveMails } from './move-mails.ts';
import type { BounceType, NoticeKind } from './notices.ts';
import { queueingResults } from './publish-results.ts';
import { unsubscribeUndeliverable } from './unsubscribe-undeliverable.ts';

const BATCH = 500;
/** Of a mail that is nowhere to be found: its result may still be on its way into the ledger. */
const UNFOUND_SECONDS = 600;
/** Of a mail that is still being sent, by the ledger. */
const WAIT_SECONDS = 3 * 86_400;

/** A notice with the mail that it is about. */
export interface MatchedNotice {
  id: string;
  kind: NoticeKind;
  bounce_type: BounceType | null;
  link: string | null;
  reason: string | null;
  at: Date;
  email_id: string;
  contact_id: string;
}

interface PickedRow extends Omit<MatchedNotice, 'email_id' | 'contact_id'> {
  email_id: string | null;
  contact_id: string | null;
  status: EmailStatus | null;
  /** `email.sent` comes before anything else that is said of a mail. */
  told: boolean;
  waited: number;
}

// Others may be at it too: what one has in hand the other passes over.
const pick = statement<PickedRow>(
  'notices-pick',
  `select n.id, n.kind, n.bounce_type, n.link, n.reason, n.at, extract(epoch from now() - n.created_at)::float8 as waited,
     e.id as email_id, e.contact_id, e.status,
     not exists (select 1 from unpublished_email_results r where r.email_id = e.id) as told
   from email_notices n
   left join emails e on e.id = coalesce(n.email_id,
     (select p.id from emails p where p.provider_message_id = n.provider_message_id order by p.id desc limit 1))
   where n.due_at <= now() order by n.due_at, n.id limit $1 for update of n skip locked`,
);

const remove = statement('notices-remove', 'delete from email_notices where id = any ($1::bigint[])');

const putOff = statement(
  'notices-put-off',
  `update email_notices set due_at = now() + least(interval '5 minutes', greatest(interval '1 second', now() - created_at))
   where id = any ($1::bigint[])`,
);

// Somebody has it, so it was taken: knowledge, like a late answer of the relay.
const arrived = statement(
  'notices-arrived',
  `with sent as (
     update emails set status = 'SENT', reason = null, sent_at = coalesce(sent_at, now()), updated_at = now()
     where id = any ($1::uuid[]) and status = 'UNKNOWN' returning *
   )
   ${queueingResults('sent')}`,
);

/** Works through what was noted by `recordNotices`, in sets. Gives back how many were dealt with. */
export async function applyNotices(db: Db, limit = BATCH): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      const ready: MatchedNotice[] = [];
      const early: PickedRow[] = [];
      for (const row of picked) {
        const fate = fateOf(row);
        if (fate === 'ready') ready.push(row as MatchedNotice);
        else if (fate === 'early') early.push(row);
      }
      await apply(trx, ready);
      const unknown = early.filter(({ status }) => status === 'UNKNOWN');
      if (unknown.length > 0) await arrived(trx, [unknown.map(({ email_id }) => email_id)]);
      if (early.length > 0) await putOff(trx, [early.map(({ id }) => id)]);
      const waiting = new Set(early);
      const done = picked.filter((row) => !waiting.has(row)).map(({ id }) => id);
      if (done.length > 0) await remove(trx, [done]);
      return done.length;
    }),
  );
}

function fateOf({ status, told, waited }: PickedRow): 'ready' | 'early' | 'worthless' {
  switch (status) {
    case null:
      return waited < UNFOUND_SECONDS ? 'early' : 'worthless';
    case 'PENDING':
    case 'SENDING':
    case 'UNKNOWN':
      return waited < WAIT_SECONDS ? 'early' : 'worthless';
    // The relay has said that it did not take it: a scanner on its way has followed a link.
    case 'FAILED':
    case 'SKIPPED':
    case 'CANCELLED':
      return 'worthless';
    default:
      return told ? 'ready' : 'early';
  }
}

async function apply(trx: Db, notices: MatchedNotice[]): Promise<void> {
  if (notices.length === 0) return;
  await lockContactsOf(
    trx,
    notices.map(({ contact_id }) => contact_id),
  );
  const { events, losses } = await moveMails(trx, notices);
  await recordMailEvents(trx, events);
  await unsubscribeUndeliverable(trx, losses);
}
