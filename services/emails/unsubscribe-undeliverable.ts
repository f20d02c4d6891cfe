import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { addSuppressions, type NewSuppression } from '../suppressions/add.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { type MailEvent, type MailFacts, recordMailEvents } from './mail-events.ts';

/** A contact that a mail could not reach for good, or who complained of it. */
export interface UndeliverableContact {
  mail: MailFacts;
  reason: 'bounce' | 'complaint';
  /** That the mail went to; null once it is erased. */
  address: string | null;
  /** Whether it still is the contact's. */
  isCurrent: boolean;
}

const unsubscribe = statement<{ id: string }>(
  'lost-unsubscribe',
  `update contacts set subscribed = false, updated_at = now() where id = any ($1::uuid[]) and subscribed returning id`,
);

/** Hard bounces and complaints end the subscription and put the address on the list, under the contact's lock. */
export async function unsubscribeUndeliverable(trx: Db, losses: UndeliverableContact[]): Promise<void> {
  if (losses.length === 0) return;
  // Whoever has another address by now is still there; whoever complained does not want to hear from us anywhere.
  const ending = losses.filter(({ reason, isCurrent }) => reason === 'complaint' || isCurrent);
  const rows = await unsubscribe(trx, [ending.map(({ mail }) => mail.contact_id)]);
  const events = rows.flatMap(({ id }): MailEvent[] => {
    const loss = ending.find(({ mail }) => mail.contact_id === id);
    if (!loss) return [];
    const { mail, reason } = loss;
    const data = { reason, emailId: mail.id, campaignId: mail.campaign_id, workflowId: mail.workflow_id };
    return [{ name: 'contact.unsubscribed', mail, data }];
  });
  await recordMailEvents(trx, events);
  await addSuppressions(trx, losses.flatMap(suppressionOf));
}

/**
 * One whose address is erased is written to no more anyway. Our own mail has no list: nobody could be taken off it, and
 * whoever lost a mailbox for a day would never get another link to log in with.
 */
const suppressionOf = ({ mail, reason, address }: UndeliverableContact): NewSuppression[] =>
  address === null || mail.project_id === SYSTEM_PROJECT_ID
    ? []
    : [
        {
          projectId: mail.project_id,
          address,
          contactId: mail.contact_id,
          reason: reason === 'bounce' ? 'HARD_BOUNCE' : 'COMPLAINT',
          emailId: mail.id,
        },
      ];
