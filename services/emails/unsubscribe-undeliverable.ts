import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { addSuppressions, type NewSuppression } from '../suppressions/add.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import { type MailEvent, type MailFacts, recordMailEvents } from './mail-events.ts';

/** A contact whose mail bounced permanently, or who complained about it. */
export interface UndeliverableContact {
  mail: MailFacts;
  reason: 'bounce' | 'complaint';
  /** The address that the mail was sent to; null once erased. */
  address: string | null;
  /** Whether the contact still has this address. */
  isCurrent: boolean;
}

/** A mail with its recipient. */
export interface AddressedMail extends MailFacts {
  /** The address that the mail was sent to; null once erased. */
  to_email: string | null;
  contact_email: string | null;
}

/** SQL: the columns of `AddressedMail` beyond `MailFacts`, with the joins of `mailFactsJoins` and `contacts contact`. */
export const addressColumns = (mail: string): string =>
  `coalesce(content.to_email, ${mail}.to_email) as to_email, contact.email as contact_email`;

export const undeliverable = (mail: AddressedMail, reason: UndeliverableContact['reason']): UndeliverableContact => ({
  mail,
  reason,
  address: mail.to_email ?? mail.contact_email,
  isCurrent: mail.to_email === null || mail.to_email === mail.contact_email,
});

const unsubscribe = statement<{ id: string }>(
  'undeliverable-unsubscribe',
  `update contacts set subscribed = false, updated_at = now() where id = any ($1::uuid[]) and subscribed returning id`,
);

/** Unsubscribes contacts after hard bounces and complaints, and suppresses their addresses. Needs the contacts' locks. */
export async function unsubscribeUndeliverable(trx: Db, contacts: UndeliverableContact[]): Promise<void> {
  if (contacts.length === 0) return;
  // A bounce of a former address keeps the subscription; a complaint ends it for any address.
  const unsubscribed = contacts.filter(({ reason, isCurrent }) => reason === 'complaint' || isCurrent);
  const rows = await unsubscribe(trx, [unsubscribed.map(({ mail }) => mail.contact_id)]);
  const events = rows.flatMap(({ id }): MailEvent[] => {
    const contact = unsubscribed.find(({ mail }) => mail.contact_id === id);
    if (!contact) return [];
    const { mail, reason } = contact;
    const data = { reason, emailId: mail.id, campaignId: mail.campaign_id, workflowId: mail.workflow_id };
    return [{ name: 'contact.unsubscribed', mail, data }];
  });
  await recordMailEvents(trx, events);
  await addSuppressions(trx, contacts.flatMap(suppressionOf));
}

/**
 * Skips erased addresses, which get no mail anyway. Skips system mail too: nothing could remove such a suppression, and a
 * user with a temporarily broken mailbox could never log in again.
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
