// What conditions know about emails: which ones a filter is about, and what came of them. They read the ledger, not events,
// so that the retention of events changes nothing. See docs/decisions/conditions.md.
import { NO_CAMPAIGN } from '../../db/models/mail-counts.ts';
import { type Fragment, joined, sql } from '../../db/sql.ts';
import { before, type TimeSpan, timestamp } from './instants.ts';
import type { ConditionQuery, EmailQuestion, EmailSource } from './types.ts';

export const emailSourceKinds = ['campaign', 'template', 'step'] as const;

/** The same for the same question. */
export const questionId = (question: EmailQuestion): string => JSON.stringify(question);

/** The name of the field, which is what tracked segments depend on. */
export const sourceName = (source: EmailSource): string =>
  source.kind === 'campaigns' ? source.kind : `${source.kind}.${source.id}`;

// SQL on a row of the ledger with the alias `e`.

/** It was sent, as far as is known, and did not bounce. */
export const isReceived = sql`(recipient_state(e.status) in ('SENT', 'UNKNOWN') and e.bounced_at is null)`;
/** By a person; a click counts as an open. */
export const isOpened = sql`(e.human_opened_at is not null or e.human_clicked_at is not null)`;
const isOpenedByAny = sql`(e.opened_at is not null or e.clicked_at is not null)`;
const isBouncedSoftly = sql`(e.bounced_at is not null and coalesce(lower(e.bounce_type), '') not in ('hard', 'permanent'))`;
/** An email of unknown outcome has no time of sending. */
const receivedAt = sql`coalesce(e.sent_at, e.created_at)`;

/** The ids of the links with an address, or of those whose address begins so. */
export const linkIds = (projectId: string, link: string): Fragment =>
  link.endsWith('*')
    ? sql`select id from links where project_id = ${projectId} and starts_with(link, ${link.slice(0, -1)})`
    : sql`select md5(${link})::uuid`;

/** A person clicked one of these links in the email, or with `machine` anything did. */
export const hasClicked = (projectId: string, campaignId: Fragment, ids: Fragment, machine = false): Fragment =>
  sql`exists (select 1 from campaign_link_clicks l
    where l.project_id = ${projectId} and l.campaign_id = ${campaignId} and l.email_id = e.id and l.link_id in (${ids})
      ${machine ? sql`` : sql`and coalesce(l.human, e.human_clicked_at is not null)`})`;

const columns = {
  campaign: sql`e.campaign_id`,
  template: sql`e.template_id`,
  step: sql`e.step_id`,
};

const isOfSource = (source: EmailSource, { projectId }: ConditionQuery): Fragment =>
  source.kind === 'campaigns'
    ? sql`e.project_id = ${projectId} and e.campaign_id is not null`
    : sql`e.project_id = ${projectId} and ${columns[source.kind]} = ${source.id}`;

/** Relation and condition of the emails in question, of all contacts. Nothing has a variant yet. */
export function emailsInQuestion({ source, variant, last }: EmailQuestion, query: ConditionQuery): Fragment {
  const wanted = sql`${isOfSource(source, query)} ${variant === undefined ? sql`` : sql`and false`}`;
  if (last === undefined) return sql`from emails e where ${wanted}`;
  // Postgres applies a condition on the contact inside, because it is what is partitioned by.
  return sql`from (
      select e.*, row_number() over (partition by e.contact_id order by ${receivedAt} desc, e.id desc) as place
      from emails e where ${wanted} and ${isReceived}
    ) e where e.place <= ${last}`;
}

/** The outcome of one email. */
export function hasOutcome(question: EmailQuestion, query: ConditionQuery): Fragment {
  const { outcome, machine, link, source, span } = question;
  switch (outcome) {
    case 'received':
      return isReceived;
    case 'opened':
      return machine ? isOpenedByAny : isOpened;
    case 'clicked': {
      if (link === undefined) return machine ? sql`e.clicked_at is not null` : sql`e.human_clicked_at is not null`;
      const campaignId = source.kind === 'campaign' ? sql`${source.id}` : sql`coalesce(e.campaign_id, ${NO_CAMPAIGN})`;
      return hasClicked(query.projectId, campaignId, linkIds(query.projectId, link), machine);
    }
    case 'bounced':
      return sql`e.bounced_at is not null`;
    case 'complained':
      return sql`e.complained_at is not null`;
    case 'unsubscribed':
      return sql`e.unsubscribed_at is not null`;
    case 'missed':
      return sql`(e.status = 'FAILED' or ${isBouncedSoftly} or (e.status = 'SKIPPED' and e.reason = 'frequency cap'))`;
    case 'heldOut':
      return sql`(e.status = 'SKIPPED' and e.reason = 'holdout')`;
    case 'receivedWithin':
      return sql`(${isReceived} and ${receivedAt} >= ${limitOf(span, query)})`;
    case 'receivedOlderThan':
      return sql`(${isReceived} and ${receivedAt} < ${limitOf(span, query)})`;
  }
}

const limitOf = (span: TimeSpan | undefined, { now }: Pick<ConditionQuery, 'now'>): Fragment =>
  timestamp(span ? before(now, span) : now.getTime());

/**
 * The contact `c` has at least so many emails in question with the test. With one email it is a plain EXISTS. Otherwise the
 * counts are in a relation of their own, which Postgres joins, or restricts to one contact.
 */
export function hasEmails(question: EmailQuestion, test: Fragment, atLeast: number, query: ConditionQuery): Fragment {
  const found = sql`${emailsInQuestion(question, query)} and ${test}`;
  if (atLeast === 1) return sql`exists (select 1 ${found} and e.contact_id = c.id)`;
  return sql`exists (select 1
    from (select e.contact_id ${found} group by e.contact_id having count(*) >= ${atLeast}) counted
    where counted.contact_id = c.id)`;
}

/** Selects contacts with an email whose age passed the span between the two moments. */
export function crossingEmails(
  { source, span }: EmailQuestion,
  { from, to }: { from: Date; to: Date },
  query: ConditionQuery,
): Fragment {
  const after = limitOf(span, { now: from });
  const until = limitOf(span, { now: to });
  // Separate, because the index on times has no emails of unknown outcome.
  return sql`select e.contact_id from emails e where ${isOfSource(source, query)} and e.sent_at >= ${after} and e.sent_at < ${until}
    union all select e.contact_id from emails e where ${isOfSource(source, query)} and e.status = 'UNKNOWN'
      and e.sent_at is null and e.created_at >= ${after} and e.created_at < ${until}`;
}

/** SQL that counts the emails in question of the contact `c`, one row per question. */
export const countingEmails = (questions: readonly EmailQuestion[], query: ConditionQuery): Fragment =>
  joined(
    questions.map(
      (question, n) => sql`(select ${n}::integer as n, count(*) filter (where ${isReceived})::integer as received,
          count(*) filter (where ${hasOutcome(question, query)})::integer as matching
        ${emailsInQuestion(question, query)} and e.contact_id = c.id)`,
    ),
    ' union all ',
  );
