import { type Db, wake } from '../../db/connect.ts';
import { contactValues, writeContactSql } from '../../db/models/contact-writing.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import { type EmailContent, emailContentColumns, insertEmailsSql } from '../../db/models/email-writing.ts';
import { User } from '../../db/models/user.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { countUse } from '../throttle/count.ts';
import { SYSTEM_PROJECT_ID } from './project.ts';

export interface SystemMail {
  /** `settings.systemFrom`. */
  from: string;
  to: string;
  subject: string;
  /** Plain text; input of users is shown verbatim. */
  paragraphs: string[];
  /** A button below the paragraphs. */
  link?: { url: string; text: string };
  /** Below the button, small. */
  closing?: string;
}

// One template for all system mail: input of users is passed as variables, never read as template or HTML.
const SUBJECT = '{{ systemMail.subject }}';
const BODY = `<!doctype html>
<html><body style="font-family: sans-serif; line-height: 1.5; color: #1f2933; max-width: 36em; margin: 2em auto; padding: 0 1em">
{% for paragraph in systemMail.paragraphs %}<p>{{ paragraph }}</p>
{% endfor %}{% if systemMail.link %}<p><a href="{{ systemMail.link.url }}" style="display: inline-block; padding: .6em 1.2em; background: #1f4b99; color: #fff; border-radius: 4px; text-decoration: none">{{ systemMail.link.text }}</a></p>
{% endif %}{% if systemMail.closing %}<p style="color: #616e7c; font-size: .9em">{{ systemMail.closing }}</p>
{% endif %}</body></html>`;

/** RFC 3834: prevents automatic replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

const write = statement(
  'system-mail',
  `with content as materialized (select * from json_to_recordset($3::json) as content (${emailContentColumns})),
   mail as materialized (
     select 1 as content, $2::uuid as id, contact.id as contact_id, $4::text as email, null::text as name, null::uuid as template_id
     from ${writeContactSql('$1::uuid', 4)} as contact
   ),
   ${insertEmailsSql('$1::uuid', 'template_id')}
   select from accepted`,
);

/** Limits mail to unverified addresses, since a stranger may have caused it. */
const UNPROVEN_PER_DAY = 20;

/**
 * Writes a system mail in the transaction of its cause. It is delivered like transactional mail, as a ledger row of the
 * system project. Returns the row's id, or undefined when the address has reached its daily limit.
 */
export async function sendSystemMail(trx: Db, { from, to, ...systemMail }: SystemMail): Promise<string | undefined> {
  if (!(await mayReceive(trx, to))) return undefined;
  const id = newId();
  const contact = { email: to, subscribedWhenNew: true, patch: {}, deletes: [] };
  const content: EmailContent = {
    n: 1,
    body_id: sharedBodyId(id, SYSTEM_PROJECT_ID, { html: BODY, headers: HEADERS }),
    html: BODY,
    headers: HEADERS,
    shared: true,
    from_email: from,
    subject: SUBJECT,
    type: 'TRANSACTIONAL',
    variables: { systemMail },
  };
  await write(trx, [SYSTEM_PROJECT_ID, id, JSON.stringify([content]), ...contactValues(contact)]);
  wake(trx, 'mail');
  return id;
}

async function mayReceive(trx: Db, email: string): Promise<boolean> {
  if (await User.query(trx).findOne({ email, emailVerified: true }).select('id')) return true;
  const limit = { name: `system mail ${email}`, max: UNPROVEN_PER_DAY, minutes: 24 * 60 };
  return (await countUse(trx, [limit])) === 0;
}
