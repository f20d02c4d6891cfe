import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { ConsentContext } from '../access/consent-context.ts';
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
  toEmail: string | null;
  contactEmail: string | null;
}

/** SQL: the columns of `AddressedMail` beyond `MailFacts`, with the joins of `mailFactsJoins` and `contacts contact`. */
export const addressColumns = (mail: string): string =>
  `coalesce(content.to_email, ${mail}.to_email) as to_email, contact.email as contact_email`;

export const undeliverable = (mail: AddressedMail, reason: UndeliverableContact['reason']): UndeliverableContact => ({
  mail,
  reason,
  address: mail.toEmail ?? mail.contactEmail,
  isCurrent: mail.toEmail === null || mail.toEmail === mail.contactEmail,
});

const unsubscribe = statement<{ id: string }>(
  'undeliverable-unsubscribe',
  `with named as materialized (select set_config('everpost.consent', $2, true))
   update contacts set subscribed = false, updated_at = now() from named
   where contacts.id = any ($1::uuid[]) and subscribed returning contacts.id`,
);

/** Unsubscribes contacts after hard bounces and complaints, and suppresses their addresses. Needs the contacts' locks. */
export async function unsubscribeUndeliverable(trx: Db, contacts: UndeliverableContact[]): Promise<void> {
  if (contacts.length === 0) return;
  // A bounce of a former address keeps the subscription; a complaint ends it for any address.
  const unsubscribed = contacts.filter(({ reason, isCurrent }) => reason === 'complaint' || isCurrent);
  const consents = unsubscribed.map(({ mail, reason }): [string, ConsentContext] => {
    const { id: emailId, campaignId, workflowId } = mail;
    return [mail.contactId, { method: reason === 'bounce' ? 'BOUNCE' : 'COMPLAINT', emailId, campaignId, workflowId }];
  });
  const context = JSON.stringify({ byContact: Object.fromEntries(consents) });
  const rows = await unsubscribe(trx, [unsubscribed.map(({ mail }) => mail.contactId), context]);
  const events = rows.flatMap(({ id }): MailEvent[] => {
    const contact = unsubscribed.find(({ mail }) => mail.contactId === id);
    if (!contact) return [];
    const { mail, reason } = contact;
    const data = { reason, emailId: mail.id, campaignId: mail.campaignId, workflowId: mail.workflowId };
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
  address === null || mail.projectId === SYSTEM_PROJECT_ID
    ? []
    : [
        {
          projectId: mail.projectId,
          address,
          contactId: mail.contactId,
          reason: reason === 'bounce' ? 'HARD_BOUNCE' : 'COMPLAINT',
          emailId: mail.id,
        },
      ];
