import { type Db, inTransaction } from '../../db/connect.ts';
import type { TopicDefault } from '../../db/models/topic.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type ConsentContext, withConsent } from '../access/consent-context.ts';
import type { PageToken } from '../emails/links.ts';
import type { Frequency } from '../topics/choices.ts';
import { type PageVisit, readPage } from './visit.ts';

/** What a contact chose on its page or in its mail program. */
export interface PageChange {
  subscribed?: boolean;
  /** By id. */
  topics?: Record<string, TopicDefault>;
  snoozedUntil?: Date | null;
  frequency?: Frequency | null;
  /** What was shown about all email, and about each topic by id; none where nothing was. */
  text?: string;
  texts?: Record<string, string>;
}

/** Who sent the form: as far as it is known, what consent records keep of it. */
export interface Visitor {
  method: 'PAGE' | 'ONE_CLICK';
  ip: string;
  userAgent: string | undefined;
  /** For the event: a scanner that posts forms is honoured, and can be distinguished from a person. */
  userAgentClass: string;
  pageUrl?: string;
  requestId: string;
}

export interface Changed {
  visit: PageVisit;
  /** What undoes the change; undefined where nothing has changed. */
  undoId: string | undefined;
}

const lockContact = statement('page-lock', 'select 1 from contacts where project_id = $1 and id = $2 for update');

interface State {
  subscribed: boolean;
  snoozedUntil: Date | null;
  frequency: Frequency | null;
  lastConsentId: string | null;
  choices: Record<string, { state: string; consentId: string | null }>;
}

const readState = statement<State>(
  'page-state',
  `select c.subscribed, c.snoozed_until, c.frequency,
     (select r.id from consents r where r.project_id = $1 and r.contact_id = c.id order by r.id desc limit 1) as last_consent_id,
     coalesce((select jsonb_object_agg(t.id, jsonb_build_object('state', topic_state($1, t.id, c.id, c.created_at),
         'consentId', ct.consent_id))
       from topics t left join contact_topics ct on ct.project_id = $1 and ct.topic_id = t.id and ct.contact_id = c.id
       where t.project_id = $1), '{}') as choices
   from contacts c where c.project_id = $1 and c.id = $2`,
);

const changeSubscribed = statement(
  'page-subscribed',
  `select from update_contact($1::uuid, $2::uuid, null, $3::boolean, '{}', '[]', $4::uuid, $5::jsonb)`,
);

// The trigger of the contact records who snoozes.
const changePauses = statement(
  'page-pauses',
  `with named as materialized (select set_config('everpost.consent', $7, true))
   update contacts c set updated_at = now(), snoozed_until = case when $3 then $4::timestamptz else c.snoozed_until end,
     frequency = case when $5 then $6::jsonb else c.frequency end
   from named where c.project_id = $1 and c.id = $2`,
);

const chooseTopics = statement('page-topics-choose', 'select choose_topics($1, $2, $3::jsonb, $4::jsonb)');

const countLeft = statement(
  'page-count-left',
  `update emails set unsubscribed_at = case when $3 then coalesce(unsubscribed_at, now()) else unsubscribed_at end,
     topic_unsubscribed_at = case when $4 then coalesce(topic_unsubscribed_at, now()) else topic_unsubscribed_at end
   where project_id = $1 and id = $2
     and ($3 and unsubscribed_at is null or $4 and topic_unsubscribed_at is null)`,
);

const keepChange = statement(
  'page-keep-change',
  'insert into page_changes (id, project_id, contact_id, change) values ($1, $2, $3, $4::jsonb)',
);

/**
 * Applies what `decide` makes of the page, for a disabled project too, in one transaction with its records and with what
 * undoes it. Undefined: the contact has been deleted.
 */
export function changeByPage(
  db: Db,
  token: PageToken,
  visitor: Visitor,
  decide: (visit: PageVisit) => PageChange | undefined,
): Promise<Changed | undefined> {
  return locked(db, token, async (trx, visit) => {
    const change = decide(visit);
    if (!change) return { visit, undoId: undefined };
    const { projectId, contactId, emailId, topic } = visit;
    const before = await stateOf(trx, visit);
    await apply(trx, visit, visitor, change);
    const after = await stateOf(trx, visit);
    const undo = difference(before, after, change);
    if (!undo) return { visit, undoId: undefined };
    const hasLeftAll = before.subscribed && !after.subscribed;
    const hasLeftTopic =
      topic !== undefined && undo.topics[topic.id] !== undefined && after.choices[topic.id]?.state === 'UNSUBSCRIBED';
    if (hasLeftAll || hasLeftTopic) await countLeft(trx, [projectId, emailId, hasLeftAll, hasLeftTopic]);
    const undoId = newId();
    await keepChange(trx, [undoId, projectId, contactId, JSON.stringify(undo)]);
    return { visit: (await readPage(trx, token)) ?? visit, undoId };
  });
}

const undo = statement<{ isFound: boolean }>(
  'page-undo',
  'select undo_page_change($1, $2, $3, $4::jsonb, $5::jsonb) as is_found',
);

/** Restores what a change of the last 24 hours has changed, except what was changed again since. */
export function undoPageChange(
  db: Db,
  token: PageToken,
  visitor: Visitor,
  changeId: string,
  textOf: (visit: PageVisit) => string,
): Promise<{ visit: PageVisit; isUndone: boolean } | undefined> {
  return locked(db, token, async (trx, visit) => {
    const context = { ...contextOf(visit, visitor), text: textOf(visit) };
    const data = eventDataOf(visit, visitor);
    const [row] = await undo(trx, [
      visit.projectId,
      visit.contactId,
      changeId,
      JSON.stringify(context),
      JSON.stringify(data),
    ]);
    return { visit: (await readPage(trx, token)) ?? visit, isUndone: row?.isFound ?? false };
  });
}

/** Runs `work` with the contact locked, so that all changes of it are made and recorded in one order. */
const locked = <T>(db: Db, token: PageToken, work: (trx: Db, visit: PageVisit) => Promise<T>): Promise<T | undefined> =>
  retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const found = await readPage(trx, token);
      if (!found || (await lockContact.count(trx, [found.projectId, token.contactId])) === 0) return undefined;
      const visit = await readPage(trx, token);
      return visit && work(trx, visit);
    }),
  );

async function stateOf(trx: Db, { projectId, contactId }: PageVisit): Promise<State> {
  const [state] = await readState(trx, [projectId, contactId]);
  if (!state) throw new Error('a locked contact is gone');
  return state;
}

async function apply(trx: Db, visit: PageVisit, visitor: Visitor, change: PageChange): Promise<void> {
  const { projectId, contactId } = visit;
  const { subscribed, topics, snoozedUntil, frequency, text, texts } = change;
  const context = contextOf(visit, visitor);
  const ofAll = { ...context, ...(text !== undefined && { text }) };
  if (subscribed !== undefined)
    await changeSubscribed(trx, [
      projectId,
      contactId,
      subscribed,
      newId(),
      withConsent(ofAll, eventDataOf(visit, visitor)),
    ]);
  if (topics && Object.keys(topics).length > 0)
    await chooseTopics(trx, [
      projectId,
      contactId,
      JSON.stringify(topics),
      // A page that is reached by a link in an email proves the mailbox.
      JSON.stringify({ ...context, consent: true, proven: true, ...(texts && { texts }) }),
    ]);
  if (snoozedUntil !== undefined || frequency !== undefined)
    await changePauses(trx, [
      projectId,
      contactId,
      snoozedUntil !== undefined,
      snoozedUntil ?? null,
      frequency !== undefined,
      frequency ? JSON.stringify(frequency) : null,
      JSON.stringify(ofAll),
    ]);
}

function contextOf(visit: PageVisit, visitor: Visitor): ConsentContext {
  const { emailId, campaignId, workflowId, language: locale } = visit;
  return { ...visitor, emailId, campaignId, workflowId, locale };
}

const eventDataOf = (
  { emailId, campaignId, workflowId }: PageVisit,
  { method, userAgentClass }: Visitor,
): Record<string, unknown> => ({
  reason: 'by the recipient',
  emailId,
  campaignId,
  workflowId,
  method,
  userAgentClass,
});

/** What `undo_page_change` restores. */
interface Undo {
  topics: Record<string, { before: string; consentId: string; isOwn: boolean }>;
  subscribed?: { before: boolean; after: boolean };
  snoozedUntil?: { before: Date | null; after: Date | null };
  frequency?: { before: Frequency | null; after: Frequency | null };
  lastConsentId: string | null;
}

function difference(before: State, after: State, { topics: chosen = {} }: PageChange): Undo | undefined {
  const topics: Undo['topics'] = {};
  for (const [id, { consentId }] of Object.entries(after.choices)) {
    const was = before.choices[id];
    if (was && consentId !== null && consentId !== was.consentId)
      topics[id] = { before: was.state, consentId, isOwn: id in chosen };
  }
  const changes: Omit<Undo, 'topics' | 'lastConsentId'> = {
    ...(before.subscribed !== after.subscribed && {
      subscribed: { before: before.subscribed, after: after.subscribed },
    }),
    ...(before.snoozedUntil?.getTime() !== after.snoozedUntil?.getTime() && {
      snoozedUntil: { before: before.snoozedUntil, after: after.snoozedUntil },
    }),
    ...(JSON.stringify(before.frequency) !== JSON.stringify(after.frequency) && {
      frequency: { before: before.frequency, after: after.frequency },
    }),
  };
  if (Object.keys(topics).length === 0 && Object.keys(changes).length === 0) return undefined;
  return { topics, ...changes, lastConsentId: after.lastConsentId };
}
