// Decides about received submissions: after the answer, which is the same for every address.
import { type Db, inTransaction } from '../../db/connect.ts';
import { isSuppressed } from '../../db/models/suppression.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { isDatabaseUnavailable } from '../../platform/database-errors.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import type { Settings } from '../../platform/settings.ts';
import type { MailReachCache } from '../addresses/mail-reach.ts';
import { isDisposable } from '../addresses/verify.ts';
import { senderDomain } from '../domains/name.ts';
import { writeWithinBilling } from './confirmation-email.ts';
import { countConfirmation, lockAddress, nextConfirmation } from './confirmation-limits.ts';
import {
  type AskedTopic,
  confirmationOf,
  lockSubmission,
  type RefusalReason,
  type Submission,
  topicsOf,
} from './submissions.ts';

export interface AcceptDeps {
  db: Db;
  settings: Pick<Settings, 'forms' | 'production' | 'dnsServers'>;
  mailReach: MailReachCache;
}

const BATCH = 50;
/** Confirmations of imports and bulk jobs a minute, of a project. */
const BULK_PER_MINUTE = 100;

interface ReceivedRow {
  id: string;
  projectId: string;
  formId: string | null;
  email: string | null;
}

// Those of imports and bulk jobs last, and no more of a project than its minute has room for.
const findReceived = statement<ReceivedRow>(
  'submissions-received',
  `select s.id, s.project_id, s.form_id, s.email from form_submissions s
   where s.status = 'RECEIVED' and not s.bulk and s.due_at <= now() order by s.due_at, s.id limit $1`,
);
const findBulk = statement<ReceivedRow>(
  'submissions-received-bulk',
  `select next.id, next.project_id, next.form_id, next.email
   from (select distinct s.project_id from form_submissions s
     where s.status = 'RECEIVED' and s.bulk and s.due_at <= now()) waiting
   cross join lateral (
     select s.id, s.project_id, s.form_id, s.email from form_submissions s
     where s.project_id = waiting.project_id and s.status = 'RECEIVED' and s.bulk and s.due_at <= now()
     order by s.due_at, s.id
     limit greatest(0, $2 - (select count(*) from form_submissions sent
       where sent.project_id = waiting.project_id and sent.bulk and sent.sent_at > now() - interval '1 minute'))
   ) next limit $1`,
);

/** Decides about all that are received. */
export async function acceptAll(deps: AcceptDeps): Promise<void> {
  while ((await acceptSubmissions(deps)) === BATCH);
}

/** Decides about a set of received submissions, from any number of processes. Returns how many it took. */
export async function acceptSubmissions(deps: AcceptDeps): Promise<number> {
  const { db } = deps;
  const direct = await findReceived(db, [BATCH]);
  const rows = direct.length > 0 ? direct : await findBulk(db, [BATCH, BULK_PER_MINUTE]);
  // Lookups in DNS take seconds, so all begin before a row is locked.
  const reachable = new Map(rows.map((row) => [row.id, isReachable(deps, row)]));
  const failures: unknown[] = [];
  for (const { id, projectId } of rows) {
    const hasMailServer = (await reachable.get(id)) ?? true;
    try {
      await retryDeadlocks(db, () =>
        inTransaction(db, async (trx) => {
          await accept(trx, deps, projectId, id, hasMailServer);
          faultPoint('submission-before-commit');
        }),
      );
      faultPoint('submission-after-commit');
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // Later, so that one that cannot be decided keeps no others waiting.
      await postpone(db, [projectId, id, new Date(Date.now() + FAILED_MS)]);
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return rows.length;
}

/** Names for tests and documentation (RFC 2606), which no name server knows. */
const TEST_NAMES = /(?:^|\.)(?:localhost|test|example|example\.(?:com|net|org))$/;

/**
 * After a failed lookup the address is accepted. Outside production, where a page catches the mail, test names need no mail server, unless
 * a name server is set that may know them.
 */
async function isReachable(
  { mailReach, settings: { production, dnsServers } }: AcceptDeps,
  { formId, email, projectId }: ReceivedRow,
): Promise<boolean> {
  if (formId === null || email === null) return true;
  const domain = senderDomain(email);
  if (!production && dnsServers.length === 0 && TEST_NAMES.test(domain)) return true;
  try {
    return (await mailReach.find(domain, projectId)).reachable !== false;
  } catch {
    return true;
  }
}

interface Facts {
  isSuppressed: boolean;
  declinedBefore: boolean;
  hasContact: boolean;
  contactId: string | null;
  /** Consents to all email. */
  subscribed: boolean;
  hasWithdrawn: boolean;
  /** Of those asked for. */
  subscribedTopics: string[];
  /** The form has sent the address an email in the last 24 hours. */
  sentToday: boolean;
}

// A complaint suppresses marketing email only, but one about a confirmation says that the address wants none.
const readFacts = statement<Facts>(
  'submission-facts',
  `select ${isSuppressed('$1', '$2')} or exists (
       select 1 from suppressions u join emails e on e.id = u.email_id and e.project_id = $1
       where u.project_id = $1 and u.address_hash = address_hash($1::uuid, $2) and u.reason = 'COMPLAINT'
         and e.submission_id is not null) as is_suppressed,
     exists (select 1 from form_submissions d
       where d.project_id = $1 and d.address_hash = address_hash($1::uuid, $2) and d.form_id is not distinct from $3::uuid
         and d.topic_ids @> case when $3::uuid is null then $4::uuid[] else '{}' end
         and d.status = 'DECLINED' and d.settled_at > now() - interval '1 year') as declined_before,
     c.id is not null as has_contact, c.id as contact_id, coalesce(c.subscribed, false) as subscribed,
     exists (select 1 from withdrawals w
       where w.project_id = $1 and w.address_hash = address_hash($1::uuid, $2)) as has_withdrawn,
     array(select t.id from topics t where t.project_id = $1 and t.id = any ($4::uuid[]) and c.id is not null
       and topic_state($1, t.id, c.id, c.created_at) = 'SUBSCRIBED') as subscribed_topics,
     exists (select 1 from form_submissions o
       where o.project_id = $1 and o.address_hash = address_hash($1::uuid, $2) and o.form_id = $3::uuid and o.id <> $5
         and o.last_sent_at > now() - interval '24 hours') as sent_today
   from (values (1)) as one left join contacts c on c.project_id = $1 and c.email = $2`,
);

async function accept(trx: Db, deps: AcceptDeps, projectId: string, id: string, hasMailServer: boolean): Promise<void> {
  const found = await lockSubmission(trx, projectId, id);
  if (found?.status !== 'RECEIVED') return;
  const { email } = found;
  if (email === null) return expire(trx, found);
  const submission = { ...found, email };
  // Two submissions of one address are decided one after the other.
  await lockAddress(trx, email);
  const [facts] = await readFacts(trx, [projectId, email, found.formId, found.topicIds, id]);
  if (!facts) return;
  const refusal = refusalOf(submission, facts, hasMailServer);
  if (refusal) return refuse(trx, submission, refusal);
  const topics = await topicsOf(trx, submission);
  if (submission.formId === null) return ask(trx, deps, submission, topics);
  const missing = topics.filter(
    (topic) => !facts.subscribedTopics.includes(topic.id) || (topic.kind === 'MARKETING' && !facts.subscribed),
  );
  const hasAll = submission.topicIds.length === 0 ? facts.subscribed : missing.length === 0 && facts.hasContact;
  if (hasAll) return settleAlready(trx, deps, submission, topics, facts);
  if (facts.sentToday) return refuse(trx, submission, 'throttled');
  const needsConfirmation =
    submission.doubleOptIn !== false ||
    facts.hasContact ||
    facts.hasWithdrawn ||
    missing.some(({ doubleOptIn }) => doubleOptIn);
  if (!needsConfirmation) return void (await apply(trx, [projectId, id]));
  await keepMissing(trx, [projectId, id, missing.map((topic) => topic.id)]);
  await ask(trx, deps, submission, missing);
}

/** Asked in this order. */
function refusalOf(
  { email, formId, blockDisposable }: Submission & { email: string },
  facts: Facts,
  hasMailServer: boolean,
): RefusalReason | undefined {
  if (facts.isSuppressed) return 'suppressed';
  if (facts.declinedBefore) return 'declined before';
  if (formId === null) return undefined;
  if (blockDisposable && isDisposable(senderDomain(email))) return 'disposable';
  return hasMailServer ? undefined : 'no mail server';
}

const apply = statement('submission-apply', `select apply_submission($1, $2, null, '{}')`);
const keepMissing = statement(
  'submission-topics',
  'update form_submissions set topic_ids = $3::uuid[] where project_id = $1 and id = $2',
);
const expireOne = statement('submission-expire', 'select expire_submission($1, $2)');
const expire = async (trx: Db, { projectId, id }: Submission): Promise<void> =>
  void (await expireOne(trx, [projectId, id]));

const setRefused = statement(
  'submission-refuse',
  `update form_submissions set status = 'REFUSED', reason = $3, settled_at = now(), due_at = now() + interval '7 days'
   where project_id = $1 and id = $2`,
);

/** The choice of a contact is again what it was before. */
async function refuse(trx: Db, submission: Submission, reason: RefusalReason): Promise<void> {
  if (submission.formId === null) await expire(trx, submission);
  await setRefused(trx, [submission.projectId, submission.id, reason]);
}

const setPending = statement(
  'submission-pending',
  `update form_submissions set status = 'PENDING', sent_at = now(), last_sent_at = now(), last_email_id = $3,
     expires_at = now() + make_interval(secs => $5::float8 * 3600),
     due_at = now() + make_interval(secs => coalesce($4::float8, $5::float8) * 3600)
   where project_id = $1 and id = $2`,
);
const postpone = statement(
  'submission-postpone',
  `update form_submissions set due_at = $3 where project_id = $1 and id = $2 and status = 'RECEIVED'`,
);
const HOUR_MS = 3_600_000;
const FAILED_MS = 10 * 60_000;

/** Sends the confirmation, if the limits allow. */
async function ask(
  trx: Db,
  { settings }: AcceptDeps,
  submission: Submission & { email: string },
  topics: AskedTopic[],
): Promise<void> {
  const { projectId, id, email, formId } = submission;
  const nextAt = await nextConfirmation(trx, email, settings.forms.confirmationsPerAddressPerDay);
  if (nextAt) {
    if (formId !== null) return refuse(trx, submission, 'throttled');
    // A choice waits, so that a limit of strangers' making changes nothing for the contact.
    return void (await postpone(trx, [projectId, id, nextAt]));
  }
  const request = confirmationOf(submission, topics, 'confirm');
  const emailId = await writeWithinBilling(trx, request);
  if (emailId === undefined) {
    const isOld = Date.now() - submission.createdAt.getTime() > request.expiresAfterHours * HOUR_MS;
    if (isOld) return expire(trx, submission);
    return void (await postpone(trx, [projectId, id, new Date(Date.now() + HOUR_MS)]));
  }
  await countConfirmation(trx, email);
  await setPending(trx, [projectId, id, emailId, request.reminderAfterHours, request.expiresAfterHours]);
}

const setAlready = statement(
  'submission-already',
  `update form_submissions set status = 'ALREADY', contact_id = $3, last_email_id = $4, settled_at = now(), due_at = null,
     last_sent_at = case when $4::uuid is not null then now() end, data = null, defaults = null
   where project_id = $1 and id = $2`,
);

/** Who has all of it gets the link to manage it, at most once a day. */
async function settleAlready(
  trx: Db,
  { settings }: AcceptDeps,
  submission: Submission & { email: string },
  topics: AskedTopic[],
  { contactId, sentToday }: Facts,
): Promise<void> {
  const { projectId, id, email } = submission;
  const isThrottled = sentToday || (await nextConfirmation(trx, email, settings.forms.confirmationsPerAddressPerDay));
  const request = { ...confirmationOf(submission, topics, 'already'), contactId };
  const emailId = isThrottled ? undefined : await writeWithinBilling(trx, request);
  if (emailId) await countConfirmation(trx, email);
  await setAlready(trx, [projectId, id, contactId, emailId ?? null]);
}
