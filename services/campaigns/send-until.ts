// `sendUntil`: emails that are pending then are skipped. `write_outgoing_mails` begins none after it.
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { statement } from '../../db/statement.ts';
import { badRequest, validationError } from '../../platform/errors.ts';
import { LOWEST_ID } from '../../platform/ids.ts';
import { persistCampaignResults } from '../emails/persist-results.ts';
import { lockCampaignSending } from './find.ts';

/** An unchanged moment may have passed, so that the answer of GET is a valid body. */
export function requireUsableEnd(sendUntil: Date | null | undefined, before?: Campaign): void {
  if (!sendUntil || sendUntil.getTime() === before?.sendUntil?.getTime()) return;
  const start = before?.status === 'SCHEDULED' ? before.scheduledFor : null;
  if (!(sendUntil.getTime() > Date.now())) throw invalid('"sendUntil" must be in the future');
  if (start && sendUntil <= start) throw invalid('"sendUntil" must be after "scheduledFor"');
}

const invalid = (message: string) => validationError([{ field: 'sendUntil', message, code: 'custom' }]);

/** Whether `sendUntil` has passed: emails that are sent again now would be skipped. */
export const hasEnded = ({ sendUntil }: Pick<Campaign, 'sendUntil'>): boolean =>
  sendUntil !== null && sendUntil <= new Date();

/** Throws where a campaign that starts then would send nothing. */
export function requireEndAfter(start: Date, { sendUntil }: Pick<Campaign, 'sendUntil'>): void {
  if (sendUntil && sendUntil <= start)
    throw badRequest('"sendUntil" of the campaign is not after the start of sending.', {
      suggestion: 'Change it with PATCH /campaigns/:id.',
    });
}

/** Bounds the rows that one statement locks, and how long a pause waits for it. */
const CHUNK = 5_000;

// Asks the row again: the end may have been moved meanwhile.
const skip = statement<{ id: string }>(
  'campaign-skip-late',
  `update emails set status = 'SKIPPED', reason = 'too late', updated_at = now()
   where status = 'PENDING' and id in (
     select e.id from emails e where e.campaign_id = $1 and e.status = 'PENDING' and e.id > $2
       and exists (select 1 from campaigns c where c.id = $1 and c.status = 'SENDING' and c.send_until <= $4)
       and not exists (select 1 from outgoing_mails o where o.email_id = e.id and o.started_at is not null)
     order by e.id limit $3 for update of e skip locked)
   returning id`,
);

/**
 * Skips the pending recipients of a campaign whose `sendUntil` has passed. Emails in flight keep their result, and may be
 * pending again after it: call it until none is.
 */
export async function skipLateRecipients(db: Db, campaignId: string, now: Date): Promise<void> {
  let last = LOWEST_ID;
  for (;;) {
    const rows = await inTransaction(db, async (trx) => {
      await lockCampaignSending(trx, campaignId);
      return skip(trx, [campaignId, last, CHUNK, now]);
    });
    last = rows.reduce((highest, { id }) => (id > highest ? id : highest), last);
    if (rows.length < CHUNK) break;
  }
  await persistCampaignResults(db, campaignId);
}
