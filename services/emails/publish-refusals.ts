import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { mailEventData, mailFactsColumns, mailFactsJoins, recordMailEvents } from './mail-events.ts';
import {
  type AddressedMail,
  addressColumns,
  undeliverable,
  unsubscribeUndeliverable,
} from './unsubscribe-undeliverable.ts';

/** SQL: whether a server refused the recipient of the mail for good. */
export const isRefused = (mail: string): string => `${mail}.status = 'FAILED' and ${mail}.bounced_at is not null`;

interface RefusedRow extends AddressedMail {
  withoutEvents: boolean;
  bouncedAt: Date;
  reason: string | null;
}

const find = statement<RefusedRow>(
  'results-refused',
  `select ${mailFactsColumns('mail')}, mail.bounced_at, mail.reason, mail.without_events, ${addressColumns('mail')}
   from emails mail ${mailFactsJoins('mail')} left join contacts contact on contact.id = mail.contact_id
   where mail.id = any ($1::uuid[]) and ${isRefused('mail')} order by mail.bounced_at, mail.id`,
);

/** Records `email.bounce` for refused mails that have events, and does what any hard bounce does. Needs the contacts' locks. */
export async function publishRefusals(trx: Db, ids: string[]): Promise<void> {
  const mails = await find(trx, [ids]);
  await recordMailEvents(
    trx,
    mails
      .filter(({ withoutEvents }) => !withoutEvents)
      .map((mail) => {
        const detail = { bouncedAt: mail.bouncedAt.toISOString(), bounceType: 'Permanent', reason: mail.reason };
        return { name: 'email.bounce', mail, data: mailEventData(mail, { ...detail, isFirst: true }) };
      }),
  );
  await unsubscribeUndeliverable(
    trx,
    mails.map((mail) => undeliverable(mail, 'bounce')),
  );
}
