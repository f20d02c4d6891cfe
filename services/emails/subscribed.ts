import type { Db } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { badRequest } from '../../platform/errors.ts';
import type { Accepted } from './send.ts';

const NAMED = 5;

/**
 * MARKETING and HEADLESS mail is for those who want it. Asked after the contacts are written, and in the same
 * transaction, so that nobody can unsubscribe in between; what is refused leaves nothing behind.
 */
export async function refuseUnsubscribed(trx: Db, { emails }: Accepted, type: TemplateType): Promise<void> {
  const ids = [...new Set(emails.map(({ contact }) => contact.id))];
  const unsubscribed = await Contact.query(trx)
    .select('email')
    .whereIn('id', ids)
    .where({ subscribed: false })
    .orderBy('email')
    .limit(NAMED);
  if (unsubscribed.length === 0) return;
  const addresses = unsubscribed.map(({ email }) => email).join(', ');
  throw badRequest(`A ${type} template reaches subscribed contacts only; not subscribed: ${addresses}.`, {
    suggestion: 'Send `subscribed: true` when they have agreed, leave them out, or use a TRANSACTIONAL template.',
  });
}
