// Sixty days of history for the project "Sample shop": people who joined, weekly letters, orders, a welcome series. Written to
// the tables of the product in one transaction, because the API cannot write into the past. Triggers and functions of the
// product count it, by the times of the rows; no sum is written here.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { countRecipients } from '../../db/models/campaign-counts.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import { sql, sqlText } from '../../db/sql.ts';
import { queryCount, queryRows } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { messageDomain } from '../../platform/mime/compose.ts';
import { CAMPAIGN_PRIORITY } from '../../services/campaigns/freeze.ts';
import { senderDomain } from '../../services/domains/name.ts';
import { mailData, mailDepth, mailFactsJoins } from '../../services/emails/mail-events.ts';
import { partitioned } from '../../services/retention/partitions.ts';
import { addSuppressions, type NewSuppression } from '../../services/suppressions/add.ts';
import { insertStartMessages } from '../../services/workflows/executions/start-message.ts';
import { root } from '../root.ts';
import { CITIES, FIRST_NAMES, LAST_NAMES, SAMPLE_EVENT, sampleLetters, sampleTemplates } from './sample-content.ts';

/** What the history belongs to, made through the API before. The workflow is not enabled yet: its past starts nothing. */
export interface SampleIds {
  projectId: string;
  from: string;
  fromName: string;
  templates: Record<keyof typeof sampleTemplates, string>;
  workflow: { id: string; welcome: string; wait: string; customer: string; reminder: string };
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const HISTORY_DAYS = 60;

/** Returns false, and changes nothing, where the project has a history already. */
export async function addHistory(db: Db, ids: SampleIds, now = new Date()): Promise<boolean> {
  for (const month of pastMonths(now))
    for (const table of partitioned.filter((name) => name !== 'audit_log'))
      await db.raw('select add_month_partition(?, ?::date)', [table, month]);
  return inTransaction(db, async (trx) => {
    await queryRows(trx, sql`select id from projects where id = ${ids.projectId} for update`);
    const exists = await Campaign.query(trx).findOne({ projectId: ids.projectId, name: sampleLetters[0]?.name });
    if (exists) return false;
    const campaigns = await insertLetters(trx, ids, now);
    await giveInput(trx, ids, campaigns);
    await trx.raw(readFileSync(join(root, 'dev/stack/history.sql'), 'utf8').replaceAll('?', '\\?'));
    await insertContacts(trx, ids.projectId);
    await insertExecutions(trx, ids);
    await insertMails(trx, ids, campaigns);
    await insertEvents(trx, ids);
    await suppressDead(trx, ids.projectId);
    wake(trx, 'starts');
    return true;
  });
}

/** The first days of the months before this one that the history reaches into. */
function pastMonths(now: Date): string[] {
  const months = [2, 1].map((ago) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)));
  return months.map((month) => month.toISOString().slice(0, 10));
}

/** One campaign for each of the last eight Tuesdays, nine o'clock. */
async function insertLetters(trx: Db, { projectId, from, fromName, templates }: SampleIds, now: Date) {
  const monday = now.getTime() - (((now.getUTCDay() + 6) % 7) * DAY_MS + (now.getTime() % DAY_MS));
  let last = monday + DAY_MS + 9 * 3_600_000;
  if (last > now.getTime() - 12 * 3_600_000) last -= WEEK_MS;
  const rows = sampleLetters.map(({ name, subject, body }, n) => {
    const sentAt = new Date(last - (sampleLetters.length - 1 - n) * WEEK_MS);
    const createdAt = new Date(sentAt.getTime() - DAY_MS);
    return {
      id: newId(),
      projectId,
      name,
      subject,
      body,
      fromEmail: from,
      fromDomain: senderDomain(from),
      fromName,
      type: 'MARKETING' as const,
      status: 'SENT' as const,
      audienceType: 'ALL' as const,
      templateId: templates.autumn,
      generation: 1,
      createdAt,
      updatedAt: sentAt,
      startedAt: sentAt,
      frozenAt: sentAt,
      sentAt: new Date(sentAt.getTime() + 60_000),
    };
  });
  await Campaign.query(trx).insert(rows);
  return rows;
}

async function giveInput(
  trx: Db,
  { templates }: SampleIds,
  campaigns: { id: string; startedAt: Date }[],
): Promise<void> {
  await trx.raw(`create temporary table letters (number integer, campaign_id uuid, template_id uuid, sent_at timestamptz,
      subject text, link text) on commit drop;
    create temporary table names (first_names text[], last_names text[], cities text[]) on commit drop;
    create temporary table shop (welcome_id uuid, receipt_id uuid, reminder_id uuid) on commit drop`);
  for (const [n, { id, startedAt }] of campaigns.entries()) {
    const { subject, link } = sampleLetters[n] ?? { subject: '', link: '' };
    await queryRows(
      trx,
      sql`insert into letters values (${n + 1}, ${id}, ${templates.autumn}, ${startedAt}, ${subject}, ${link})`,
    );
  }
  await queryRows(
    trx,
    sql`insert into names values (${FIRST_NAMES}::text[], ${LAST_NAMES}::text[], ${CITIES}::text[])`,
  );
  await queryRows(
    trx,
    sql`insert into shop values (${templates.welcome}, ${templates.receipt}, ${templates.reminder})`,
  );
}

const insertContacts = (trx: Db, projectId: string): Promise<number> =>
  queryCount(
    trx,
    sql`insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
      select id, ${projectId}::uuid, email, left_at is null, data, joined_at, coalesce(left_at, joined_at)
      from people order by joined_at`,
  );

/** Executions with their steps. Those that still wait get the message that starts their Temporal workflow. */
async function insertExecutions(trx: Db, { projectId, workflow }: SampleIds): Promise<void> {
  const { id, welcome, wait, customer, reminder } = workflow;
  await queryCount(
    trx,
    sql`insert into executions (id, project_id, workflow_id, version, contact_id, status, visit, after_position, wake_at,
        awaited_event, once_per_contact, exit_reason, started_at, completed_at, created_at, updated_at)
      select j.id, w.project_id, w.id, w.valid_version, contact_id, status, case when status = 'WAITING' then 2 else 3 end,
        nextval('event_positions'), case when status = 'WAITING' then until end,
        case when status = 'WAITING' then 'ordered' end, not w.allow_reentry, case when status = 'EXITED' then 'ordered' end,
        started_at, case when status <> 'WAITING' then ended_at end, started_at,
        case when status = 'WAITING' then waits_at else ended_at end
      from journeys j, workflows w where w.id = ${id}::uuid and w.project_id = ${projectId}::uuid order by j.started_at`,
  );
  // Afterwards, so that only the numbers below say when a step was entered.
  await queryCount(
    trx,
    sql`update executions e set current_step_id = case j.status when 'WAITING' then ${wait}::uuid
        when 'EXITED' then ${customer}::uuid else ${reminder}::uuid end
      from journeys j where e.id = j.id`,
  );
  await queryCount(
    trx,
    sql`insert into execution_steps (id, project_id, execution_id, visit, step_id, type, name, status, branch, output,
        scheduled_for, started_at, completed_at)
      select uuidv7(step.started_at - now()), ${projectId}::uuid, j.id, step.visit, step_id, type, name, step.status, branch, output,
        scheduled_for, step.started_at, step.completed_at
      from journeys j
      left join mails m on m.execution_id = j.id and m.visit = 1
      left join mails r on r.execution_id = j.id and r.visit = 3
      left join orders o on o.n = j.n and o.at = j.ordered_at,
      lateral (values
        (1, ${welcome}::uuid, 'SEND_EMAIL', 'Welcome mail', 'COMPLETED', null, jsonb_build_object('emailId', m.id),
          null::timestamptz, j.started_at, j.waits_at),
        (2, ${wait}::uuid, 'WAIT_FOR_EVENT', 'Wait for the first order',
          case j.status when 'WAITING' then 'WAITING' else 'COMPLETED' end,
          case j.status when 'EXITED' then 'event' when 'COMPLETED' then 'timeout' end,
          case j.status when 'EXITED' then jsonb_build_object('number', o.number, 'total', o.total) end, j.until, j.waits_at,
          case j.status when 'EXITED' then j.ordered_at + interval '0.2 seconds' when 'COMPLETED' then j.until end),
        (3, case j.status when 'EXITED' then ${customer}::uuid else ${reminder}::uuid end,
          case j.status when 'EXITED' then 'EXIT' else 'SEND_EMAIL' end,
          case j.status when 'EXITED' then 'Customer' else 'Reminder' end, 'COMPLETED', null,
          case j.status when 'COMPLETED' then jsonb_build_object('emailId', r.id) end, null,
          case j.status when 'EXITED' then j.ordered_at + interval '0.2 seconds' else j.until end, j.ended_at)
      ) as step (visit, step_id, type, name, status, branch, output, scheduled_for, started_at, completed_at)
      where step.visit < 3 or j.status <> 'WAITING'`,
  );
  // As write_execution_step and count_workflow count them, with the days of then.
  await queryCount(
    trx,
    sql`insert into counter_deltas (project_id, subject, period, part, counts)
      select e.project_id, 'workflow/' || e.workflow_id || '/days', date_trunc('day', at, 'UTC'),
        concat_ws('/', e.version, step_id), jsonb_build_object(name, count(*))
      from (
        select execution_id, step_id, started_at as at, array['entered'] as names from execution_steps
        union all
        select execution_id, step_id, completed_at, array_remove(array['left', 'passed', 'branch:' || branch,
          'time:' || time_bucket(completed_at - started_at)], null)
        from execution_steps where completed_at is not null
        union all
        select id, null, completed_at, array[lower(status)] from executions where completed_at is not null
      ) counted join executions e on e.id = counted.execution_id, unnest(names) as name
      where e.workflow_id = ${id}::uuid and e.id in (select id from journeys)
      group by 1, 2, 3, 4, name`,
  );
  await queryCount(
    trx,
    sql`${sqlText(insertStartMessages("executions where status = 'WAITING' and id in (select id from journeys)"))}`,
  );
}

/** Pending rows first, then their results, as the product does: the triggers on the change count. */
async function insertMails(trx: Db, ids: SampleIds, campaigns: { id: string }[]): Promise<void> {
  const { projectId, from, fromName, templates } = ids;
  await queryCount(
    trx,
    sql`insert into emails (id, project_id, contact_id, source_type, priority, due_at, created_at, updated_at, template_id,
        campaign_id, workflow_id, execution_id, step_visit)
      select id, ${projectId}::uuid, contact_id, source,
        case source when 'CAMPAIGN' then ${CAMPAIGN_PRIORITY} when 'WORKFLOW' then 1 else 0 end, due_at, due_at, sent_at,
        template_id, campaign_id, case when source = 'WORKFLOW' then ${ids.workflow.id}::uuid end, execution_id, visit
      from mails order by due_at`,
  );
  for (const { id } of campaigns) {
    const recipients = await queryRows<{ count: number }>(
      trx,
      sql`select count(*)::integer as count from mails where campaign_id = ${id}`,
    );
    await countRecipients(trx, { id, projectId }, { pending: recipients[0]?.count ?? 0, skipped: 0 });
    await Campaign.query(trx)
      .findById(id)
      .patch({ audienceCount: recipients[0]?.count ?? 0 });
  }
  for (const name of ['welcome', 'reminder', 'receipt'] as const) await insertContents(trx, ids, name);
  await queryCount(
    trx,
    sql`update emails e set
        status = case when m.bounced_at is not null then 'BOUNCED' when m.human_clicked_at is not null then 'CLICKED'
          when m.opened_at is not null then 'OPENED' when m.delivered_at is not null then 'DELIVERED' else 'SENT' end,
        attempts = 1, sent_at = m.sent_at, delivered_at = m.delivered_at, opened_at = m.opened_at,
        human_opened_at = m.human_opened_at, clicked_at = m.human_clicked_at, human_clicked_at = m.human_clicked_at,
        bounced_at = m.bounced_at, bounce_type = m.bounce_type, unsubscribed_at = m.unsubscribed_at,
        reason = case m.bounce_type when 'Permanent' then '550 5.1.1 User unknown'
          when 'Transient' then '452 4.2.2 Mailbox full' end,
        to_email = case when m.campaign_id is not null then m.email end,
        rendered_subject = case when m.campaign_id is not null then m.subject end,
        attempt_log = jsonb_build_array(jsonb_build_object('number', 1, 'startedAt', m.sent_at - interval '0.1 seconds',
          'endedAt', m.sent_at, 'relay', 'relay.shop.localhost:587', 'outcome', 'sent', 'answer', '250 2.0.0 accepted'))
      from (
        select mails.*, p.email, least(machine_opened_at, human_opened_at) as opened_at
        from mails join people p using (n)
      ) m
      where e.id = m.id`,
  );
  // Bodies that many share are stored once a month.
  async function insertContents(trx: Db, ids: SampleIds, name: 'welcome' | 'reminder' | 'receipt'): Promise<void> {
    const { body: html, type } = sampleTemplates[name];
    const months = await queryRows<{ month: Date; first: string }>(
      trx,
      sql`select date_trunc('month', due_at, 'UTC') as month, min(id::text) as first from mails
        where template_id = ${templates[name]} and campaign_id is null group by 1`,
    );
    for (const { month, first } of months) {
      const bodyId = sharedBodyId(first, ids.projectId, { html });
      await queryCount(
        trx,
        sql`insert into email_bodies (id, project_id, html, shared, created_at)
          values (${bodyId}, ${projectId}, ${html}, true, ${month}) on conflict do nothing`,
      );
      await queryCount(
        trx,
        sql`insert into email_contents (email_id, project_id, body_id, to_email, from_email, from_name, subject, created_at,
            variables, type, rendered_subject)
          select m.id, ${projectId}::uuid, ${bodyId}::uuid, p.email, ${from}, ${fromName}, ${sampleTemplates[name].subject},
            due_at, variables, ${type}, m.subject
          from mails m join people p using (n)
          where template_id = ${templates[name]} and campaign_id is null and date_trunc('month', due_at, 'UTC') = ${month}`,
      );
    }
  }
}

const time = (at: string): string => `to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const seconds = (at: string): string => `extract(epoch from ${at} - m.sent_at)::integer`;

/** The events of emails, in the words of `insertResultEvents` and `NoticeEvents`. */
const MAIL_EVENTS = `(values
  ('email.sent', m.sent_at, jsonb_build_object('sentAt', ${time('m.sent_at')}, 'providerMessageId', null)),
  ('email.delivery', m.delivered_at, jsonb_build_object('deliveredAt', ${time('m.delivered_at')}, 'isFirst', true)),
  ('email.bounce', m.bounced_at, jsonb_build_object('bouncedAt', ${time('m.bounced_at')}, 'bounceType', m.bounce_type,
    'reason', e.reason, 'isFirst', true)),
  ('email.open', m.machine_opened_at, jsonb_build_object('openedAt', ${time('m.machine_opened_at')}, 'machine', true,
    'isFirstHuman', false, 'userAgentClass', 'PRIVACY_PROXY', 'secondsAfterSending', ${seconds('m.machine_opened_at')},
    'isFirst', m.human_opened_at is null or m.machine_opened_at <= m.human_opened_at)),
  ('email.open', m.human_opened_at, jsonb_build_object('openedAt', ${time('m.human_opened_at')}, 'machine', false,
    'isFirstHuman', true, 'userAgentClass', 'CLIENT', 'secondsAfterSending', ${seconds('m.human_opened_at')},
    'isFirst', m.machine_opened_at is null or m.human_opened_at < m.machine_opened_at)),
  ('email.click', m.human_clicked_at, jsonb_build_object('clickedAt', ${time('m.human_clicked_at')}, 'link', m.link,
    'machine', false, 'isFirstHuman', true, 'userAgentClass', 'CLIENT',
    'secondsAfterSending', ${seconds('m.human_clicked_at')}, 'isFirst', true))
) as happened (name, at, data)`;

/** In the order of time, which gives them their positions. */
async function insertEvents(trx: Db, { projectId, from }: SampleIds): Promise<void> {
  await queryCount(
    trx,
    sql`insert into events (id, project_id, contact_id, name, data, email_id, created_at, depth)
      select uuidv7(at - now()), ${projectId}::uuid, contact_id, name, data, email_id, at, depth from (
        select id as contact_id, ${SAMPLE_EVENT} as name, jsonb_build_object('source',
          (array['search', 'friend', 'newsletter'])[1 + n % 3]) as data, null::uuid as email_id, joined_at as at, 0 as depth
        from people where joined_at >= now() - make_interval(days => ${HISTORY_DAYS})
        union all
        select contact_id, 'ordered', jsonb_build_object('number', number, 'total', total), null, at, 0 from orders
        union all
        select p.id, 'contact.unsubscribed', jsonb_build_object('reason', case when is_dead then 'bounce' else 'by the recipient' end,
          'emailId', m.id, 'campaignId', m.campaign_id, 'workflowId', null), case when is_dead then m.id end, left_at, 0
        from people p join mails m on m.n = p.n and m.is_last where left_at is not null
        union all
        select e.contact_id, happened.name,
          ${sqlText(mailData('e'))} || jsonb_build_object('messageId', '<' || e.id || '@' || ${messageDomain({ email: from })}::text || '>')
            || happened.data, e.id, happened.at, ${sqlText(mailDepth)}
        from mails m join emails e on e.id = m.id ${sqlText(mailFactsJoins('e'))}, lateral ${sqlText(MAIL_EVENTS)}
        where happened.at is not null
      ) history order by at`,
  );
}

async function suppressDead(trx: Db, projectId: string): Promise<void> {
  const dead = await queryRows<{ contactId: string; address: string; emailId: string }>(
    trx,
    sql`select p.id as contact_id, p.email as address, m.id as email_id from people p join mails m on m.n = p.n and m.is_last
      where is_dead and left_at is not null`,
  );
  await addSuppressions(
    trx,
    dead.map((row): NewSuppression => ({ projectId, ...row, reason: 'HARD_BOUNCE' })),
  );
}
