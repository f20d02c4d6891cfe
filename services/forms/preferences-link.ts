// The page on which people without an email at hand ask for the link to their preferences.
import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import { type EmailContent, emailContentColumns, insertEmailsSql } from '../../db/models/email-writing.ts';
import { findSender } from '../../db/models/project-pages.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { isDatabaseUnavailable } from '../../platform/database-errors.ts';
import { ApiError } from '../../platform/errors.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { newId } from '../../platform/ids.ts';
import { languageOf } from '../../platform/languages.ts';
import type { Settings } from '../../platform/settings.ts';
import { reserveMails } from '../billing/limits.ts';
import { countUse } from '../throttle/count.ts';
import { countConfirmation, lockAddress, nextConfirmation } from './confirmation-limits.ts';
import { preferencesEmail } from './preferences-texts.ts';

const findProject = statement<{ language: string }>(
  'preferences-project',
  `select p.language from projects p join project_pages g on g.project_id = p.id
   where p.id = $1 and p.deleted_at is null and g.from_email is not null`,
);

/** Returns the language of a project that can mail links; undefined for one without a sender. */
export async function findPreferencesPage(db: Db, projectId: string): Promise<{ language: string } | undefined> {
  const [project] = await findProject(db, [projectId]);
  return project;
}

const insert = statement(
  'preferences-request',
  'insert into preference_requests (id, project_id, email) values ($2, $1, $3)',
);

/** Stores a request, for every address alike. Returns the seconds to wait above the limit of the client, else 0. */
export async function requestPreferences(
  db: Db,
  { projectId, email, ip }: { projectId: string; email: string; ip: string },
  { forms }: Pick<Settings, 'forms'>,
): Promise<number> {
  const max = forms.submissionsPerIpPerHour;
  // Counts together with submissions of forms.
  const seconds =
    max > 0 ? await countUse(db, [{ name: `form submissions ${clientNetwork(ip)}`, max, minutes: 60 }]) : 0;
  if (seconds === 0) await insert(db, [projectId, newId(), email]);
  return seconds;
}

const BATCH = 50;
const findWaiting = statement<{ id: string }>(
  'preferences-waiting',
  'select id from preference_requests order by id limit $1',
);

/** Decides about all requests, from any number of processes. */
export async function sendPreferenceLinks(db: Db, settings: Pick<Settings, 'forms'>): Promise<void> {
  for (let rows = await findWaiting(db, [BATCH]); rows.length > 0; rows = await findWaiting(db, [BATCH])) {
    const failures: unknown[] = [];
    for (const { id } of rows)
      try {
        await retryDeadlocks(db, () => inTransaction(db, (trx) => decide(trx, id, settings)));
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        // Behind all others, which it must not keep waiting.
        await putLast(db, [id, newId()]);
        failures.push(error);
      }
    if (failures.length > 0) throw failures[0];
  }
}

const putLast = statement('preferences-put-last', 'update preference_requests set id = $2 where id = $1');
const take = statement<{ projectId: string; email: string }>(
  'preferences-take',
  'delete from preference_requests where id = $1 returning project_id, email',
);

interface Recipient {
  contactId: string;
  locale: unknown;
  language: string;
  senderName: string;
  billingCapped: boolean;
}

// Only contacts get the email, and a disabled project sends none.
const findRecipient = statement<Recipient>(
  'preferences-recipient',
  `select c.id as contact_id, c.data -> 'locale' as locale, p.language, coalesce(g.sender_name, p.name) as sender_name,
     p.billing_capped
   from contacts c join projects p on p.id = c.project_id left join project_pages g on g.project_id = p.id
   where c.project_id = $1 and c.email = $2 and not p.disabled and p.deleted_at is null and not is_suppressed($1, $2)`,
);

/** The row goes with the email that it causes, or with the decision that it causes none. */
async function decide(trx: Db, id: string, { forms }: Pick<Settings, 'forms'>): Promise<void> {
  const [request] = await take(trx, [id]);
  if (!request) return;
  const { projectId, email } = request;
  const [recipient] = await findRecipient(trx, [projectId, email]);
  const sender = recipient && (await findSender(trx, projectId));
  if (!sender) return;
  await lockAddress(trx, email);
  if (await nextConfirmation(trx, email, forms.confirmationsPerAddressPerDay)) return;
  if ((await countUse(trx, [{ name: `preferences ${projectId} ${email}`, max: 1, minutes: 60 }])) > 0) return;
  if (recipient.billingCapped && !(await isWithinBilling(trx, projectId))) return;
  await countConfirmation(trx, email);
  await writeEmail(trx, { projectId, email, recipient, sender });
}

async function isWithinBilling(trx: Db, projectId: string): Promise<boolean> {
  try {
    await reserveMails(trx, projectId, 1);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BILLING_LIMIT_EXCEEDED') return false;
    throw error;
  }
}

const insertEmail = statement(
  'preferences-email',
  `with content as materialized (select * from json_to_recordset($3::json) as content (${emailContentColumns})),
   mail as materialized (
     select 1 as content, $2::uuid as id, $4::uuid as contact_id, $5::text as email, null::text as name,
       false as without_events
   ),
   ${insertEmailsSql('$1::uuid', 'without_events')}
   select from accepted`,
);

/** RFC 3834: prevents automatic replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

interface LinkEmail {
  projectId: string;
  email: string;
  recipient: Recipient;
  sender: { email: string; name: string | null };
}

/** Accepts it as TRANSACTIONAL. It contains nothing that a visitor has typed. */
async function writeEmail(trx: Db, { projectId, email, recipient, sender }: LinkEmail): Promise<void> {
  const { contactId, locale, senderName } = recipient;
  const language = languageOf(locale, recipient.language);
  const { subject, html } = preferencesEmail(language);
  const id = newId();
  const content: EmailContent = {
    n: 1,
    body_id: sharedBodyId(id, projectId, { html, headers: HEADERS }),
    html,
    headers: HEADERS,
    shared: true,
    untracked: true,
    from_email: sender.email,
    from_name: sender.name,
    reply_to: null,
    subject,
    type: 'TRANSACTIONAL',
    variables: { senderName },
  };
  await insertEmail(trx, [projectId, id, JSON.stringify([content]), contactId, email]);
  wake(trx, 'mail');
}
