// A database whose main project has everything that the pages of the web application show, in proportion to its contacts.
import type { Db } from '../db/connect.ts';
import { aggregateCounters } from '../db/models/counters.ts';
import { createSession } from '../services/sessions/sessions.ts';
import { makeProject } from '../test/support/connected-database.ts';
import { withoutIndexes } from './events-data.ts';
import type { PageIds } from './pages-calls.ts';

/** Rows of one statement: large enough to be fast, small enough to show progress. */
const BATCH = 500_000;
const EVENTS_PER_CONTACT = 10;
/** More than a page shows, so that both databases fill their pages. */
const MIN_LISTED = 120;

export interface PagesProject {
  ids: PageIds;
  cookie: string;
}

interface Fill {
  /** Uses :project, :user, :contacts, :campaigns, :workflows, and :from and :to of the rows. */
  sql: string;
  rows(contacts: number): number;
}

/** Runs without triggers and builds indexes afterwards: the result is the same, in a fraction of the time. */
export async function fillForPages(db: Db, contacts: number, progress: (line: string) => void): Promise<PagesProject> {
  const project = await makeProject(db);
  const { id, userId } = project;
  await db('users').where({ id: userId }).update({ operator: true });
  const values = {
    project: id,
    user: userId,
    contacts,
    campaigns: Math.max(MIN_LISTED, Math.round(contacts / 1_000)),
    workflows: MIN_LISTED,
  };
  await db.raw(partitions);
  const fill = async (names: string[]): Promise<void> => {
    for (const name of names) {
      const { sql, rows } = fillOf(name);
      const count = rows(contacts);
      for (let from = 1; from <= count; from += BATCH)
        await db.raw(sql, { ...values, count, from, to: Math.min(from + BATCH - 1, count) });
      progress(`${count} ${name}`);
    }
  };
  // At the same time, on two connections: the events take as long as all others together.
  await Promise.all([
    withoutIndexes(db, () => fill(['events']), ['events']).then(async () => {
      for (const sum of eventSums) await db.raw(sum, { project: id });
      progress('events are counted');
    }),
    withoutIndexes(db, async () => {
      await db.raw('alter table campaigns disable trigger user');
      await db.raw('alter table workflows disable trigger user');
      await fill(Object.keys(fills).filter((name) => name !== 'events'));
      await db.raw('alter table campaigns enable trigger user');
      await db.raw('alter table workflows enable trigger user');
    }, ['contacts', 'emails', 'executions', 'execution_steps', 'webhook_deliveries', 'audit_log']),
  ]);
  progress('indexes are built');
  for (const sum of sums) await db.raw(sum, values);
  await aggregateCounters(db);
  for (let n = 0; n < 10; n++) await createSession(db, userId, { userAgent: 'Firefox' });
  await db.raw('vacuum analyze');
  progress('counts are made');
  const cookie = `everpost_session=${await createSession(db, userId)}`;
  return { ids: await idsOf(db, id), cookie };
}

// Without the contacts of each event, which no page reads and which take longer than all others together.
const eventSums = [
  `insert into event_hours (project_id, hour, name, count, in_feed, last_contacts, last_at)
   select project_id, date_trunc('hour', created_at, 'UTC'), name, count(*),
     count(*) filter (where activity_type(name, data) <> 'hidden'), 0, max(created_at)
   from events where project_id = :project group by 1, 2, 3`,
  `insert into event_days (project_id, day, name, count, in_feed, last_contacts, last_at)
   select project_id, date_trunc('day', hour, 'UTC'), name, sum(count), sum(in_feed), 0, max(last_at)
   from event_hours where project_id = :project group by 1, 2, 3`,
  `insert into event_names (project_id, name, count, retained, in_feed, contacts, last_at)
   select project_id, name, sum(count), sum(count), sum(in_feed), 0, max(last_at)
   from event_hours where project_id = :project group by 1, 2`,
];

const partitions = `
  select add_month_partition(name, month::date)
  from unnest(array['events', 'audit_log', 'email_contents', 'email_bodies']) name,
    generate_series(date_trunc('month', now() - interval '366 days'), now(), interval '1 month') month;
  select add_week_partition(name, week::date)
  from unnest(array['webhook_events', 'webhook_deliveries']) name,
    generate_series(date_trunc('week', now() - interval '35 days', 'UTC'), now(), interval '7 days') week`;

/** SQL: a time within the last year, later for later rows. */
const AT = `now() - make_interval(secs => (:count::bigint - n) * (365 * 86400.0 / :count::bigint))`;
/** SQL: a number of a contact, spread over all of them. */
const someContact = (n: string) => `1 + (${n}::bigint * 7919 + ${n} / 13) % :contacts::bigint`;
/** SQL: an id that is the same for the same kind and number in both databases. */
const idOf = (kind: string, n: string) => `md5('${kind}' || ${n})::uuid`;

const fills: Record<string, Fill> = {
  contacts: {
    rows: (contacts) => contacts,
    sql: `insert into contacts (id, project_id, email, subscribed, data, created_at)
      select ${idOf('contact', 'n')}, :project,
        'user' || n || case when n % (:contacts::integer / 100) = 0 then '.needle' else '' end || '@'
          || (array['gmail.com', 'outlook.com', 'example.com', 'web.de', 'corp' || n % 500 || '.io'])[1 + n % 5],
        n % 10 <> 0,
        jsonb_build_object('plan', (array['free', 'pro', 'team'])[1 + n % 3], 'seats', n % 80)
          || case when n % (:contacts::integer / 100) = 0 then '{"tag": "rare"}'::jsonb else '{}' end,
        ${AT}
      from generate_series(:from::integer, :to::integer) n`,
  },
  events: {
    rows: (contacts) => contacts * EVENTS_PER_CONTACT,
    sql: `insert into events (id, project_id, contact_id, name, data, created_at)
      select uuidv7(at - now()), :project, md5('contact' || ${someContact('n')})::uuid, named.name,
        case when named.name like 'email.%' then '{"subject": "Hello", "isFirst": true}' else '{"plan": "pro"}' end::jsonb, at
      from generate_series(:from::integer, :to::integer) n
        cross join lateral (select ${AT} as at) time
        cross join lateral (select (array['login', 'login', 'login', 'view', 'view', 'email.sent', 'email.delivery',
          'email.open', 'purchase', 'event' || n % 12])[1 + n % 10] as name) named`,
  },
  templates: {
    rows: () => MIN_LISTED,
    sql: `insert into templates (id, project_id, name, subject, body, type, created_at, updated_at)
      select ${idOf('template', 'n')}, :project, 'Template ' || n, 'Hello', repeat('<p>Hello</p>', 400), 'MARKETING', ${AT}, ${AT}
      from generate_series(:from::integer, :to::integer) n`,
  },
  'versions of templates': {
    rows: () => MIN_LISTED * 10,
    sql: `insert into template_versions (template_id, version, project_id, name, subject, body, type)
      select md5('template' || (1 + n / 10))::uuid, 1 + n % 10, :project, 'Template', 'Hello', '<p>Hello</p>', 'MARKETING'
      from generate_series(:from::integer, :to::integer - 10) n`,
  },
  'choices of topics': {
    rows: (contacts) => contacts,
    sql: `insert into contact_topics (contact_id, topic_id, project_id, state, default_state)
      select ${idOf('contact', 'n')}, ${idOf('topic', '1 + n % 20')}, :project,
        case when n % 10 = 0 then 'UNSUBSCRIBED' else 'SUBSCRIBED' end, 'UNSUBSCRIBED'
      from generate_series(:from::integer, :to::integer) n`,
  },
  consents: {
    rows: (contacts) => contacts,
    sql: `insert into consents (id, project_id, at, contact_id, address_hash, topic_id, action, method)
      select uuidv7(${AT} - now()), :project, ${AT}, ${idOf('contact', 'n')}, sha256(n::text::bytea),
        ${idOf('topic', '1 + n % 20')}, case when n % 10 = 0 then 'WITHDRAWN' else 'CONFIRMED' end, 'FORM'
      from generate_series(:from::integer, :to::integer) n`,
  },
  forms: {
    rows: () => 20,
    sql: `insert into forms (id, project_id, key, name, status, topic_ids, fields, consent_text, consent_required,
        double_opt_in, confirm, expires_after_hours, redirects, allowed_origins, block_disposable, capture_timezone,
        capture_locale, translations, design)
      select ${idOf('form', 'n')}, :project, 'form-' || n, 'Form ' || n, 'ACTIVE', '{}', '[]', 'Yes', false,
        true, 'LINK', 168, '{"submitted": null, "confirmed": null, "already": null, "declined": null, "expired": null}', '{}',
        false, true, true, '{}', '{"color": null, "css": null}'
      from generate_series(:from::integer, :to::integer) n`,
  },
  'submissions of a form': {
    rows: (contacts) => contacts / 10,
    sql: `insert into form_submissions (id, project_id, form_id, topic_ids, address_hash, email, status, page_url, created_at,
        sent_at)
      select uuidv7(${AT} - now()), :project, ${idOf('form', '1')}, '{}', sha256(n::text::bytea), 'v' || n || '@example.com',
        (array['CONFIRMED', 'CONFIRMED', 'EXPIRED', 'PENDING'])[1 + n % 4], 'https://shop.example/' || n % 40, ${AT}, ${AT}
      from generate_series(:from::integer, :to::integer) n`,
  },
  'saved blocks': {
    rows: () => 200,
    sql: `insert into saved_blocks (id, project_id, name, kind, document)
      select ${idOf('block', 'n')}, :project, 'Block ' || n, 'SECTION',
        '{"version": 1, "content": [{"type": "divider"}]}'
      from generate_series(:from::integer, :to::integer) n`,
  },
  topics: {
    rows: () => 20,
    sql: `with topic as (
        insert into topics (id, project_id, key, name, kind, default_state, visibility, position)
        select ${idOf('topic', 'n')}, :project, 'topic-' || n, 'Topic ' || n, 'MARKETING', 'UNSUBSCRIBED', 'PUBLIC', n
        from generate_series(:from::integer, :to::integer) n returning id, project_id
      )
      insert into topic_defaults (topic_id, since, project_id, state) select id, '-infinity', project_id, 'UNSUBSCRIBED' from topic`,
  },
  // The last one is a draft; the one before it has every contact as a recipient.
  campaigns: {
    rows: (contacts) => Math.max(MIN_LISTED, Math.round(contacts / 1_000)),
    sql: `insert into campaigns (id, project_id, name, subject, body, from_email, status, audience_type, template_id,
        audience_count, created_at, updated_at, scheduled_at, scheduled_for, started_at, frozen_at, sent_at)
      select ${idOf('campaign', 'n')}, :project, 'Campaign ' || n || case when n % (:count::integer / 10) = 0 then ' needle' else '' end,
        'News ' || n, repeat('<p>News</p>', 400), 'news@sender.example', state.status,
        case when state.status = 'DRAFT' then 'FILTERED' else 'ALL' end, md5('template' || (1 + n % ${MIN_LISTED}))::uuid,
        1000, at, at, case when state.status = 'SENT' then at end, case when state.status = 'SENT' then at end,
        case when state.status = 'SENT' then at end, case when state.status = 'SENT' then at end,
        case when state.status = 'SENT' then at end
      from generate_series(:from::integer, :to::integer) n
        cross join lateral (select ${AT} as at) time
        cross join lateral (select case when n = :count::integer then 'DRAFT' else 'SENT' end as status) state`,
  },
  'mails of a campaign to everybody': {
    rows: (contacts) => contacts,
    sql: `insert into emails (id, project_id, contact_id, source_type, priority, status, attempts, sent_at, created_at,
        template_id, campaign_id, delivered_at, opened_at, to_email)
      select uuidv7(at - now()), :project, ${idOf('contact', 'n')}, 'CAMPAIGN', 2, ${mailStatus('n')}, 1, at, at,
        ${idOf('template', '1')}, md5('campaign' || (:campaigns::integer - 1))::uuid, at,
        case when n % 3 = 0 then at end, 'user' || n || '@example.com'
      from generate_series(:from::integer, :to::integer) n
        cross join lateral (select now() - interval '1 day' + make_interval(secs => n / 100.0) as at) time`,
  },
  'mails of other campaigns': {
    rows: (contacts) => contacts,
    sql: `insert into emails (id, project_id, contact_id, source_type, priority, status, attempts, sent_at, created_at,
        template_id, campaign_id, delivered_at, opened_at, to_email)
      select uuidv7(at - now()), :project, ${idOf('contact', 'n')}, 'CAMPAIGN', 2, ${mailStatus('n')}, 1, at, at,
        md5('template' || (1 + n % ${MIN_LISTED}))::uuid,
        md5('campaign' || (1 + n::bigint * (:campaigns::bigint - 2) / (:count::bigint + 1)))::uuid, at,
        case when n % 3 = 0 then at end, 'user' || n || '@example.com'
      from generate_series(:from::integer, :to::integer) n cross join lateral (select ${AT} as at) time`,
  },
  'transactional mails': {
    rows: (contacts) => contacts / 5,
    sql: `with mails as (
        insert into emails (id, project_id, contact_id, status, attempts, sent_at, created_at, template_id, delivered_at)
        select uuidv7(at - now()), :project, md5('contact' || ${someContact('n')})::uuid,
          case when :count::integer - n < 10 then 'UNKNOWN' else ${mailStatus('n')} end, 1, at, at,
          md5('template' || (1 + n % ${MIN_LISTED}))::uuid, at
        from generate_series(:from::integer, :to::integer) n cross join lateral (select ${AT} as at) time
        returning id, created_at
      ), bodies as (
        insert into email_bodies (id, project_id, html, created_at)
        select id, :project, '<p>Your receipt</p>', created_at from mails
      )
      insert into email_contents (email_id, project_id, body_id, to_email, from_email, subject, created_at)
      select id, :project, id, 'ada@example.com', 'shop@sender.example', 'Your receipt', created_at from mails`,
  },
  workflows: {
    rows: () => MIN_LISTED,
    sql: `with made as (
        insert into workflows (id, project_id, name, trigger_config, version, valid_version, enabled, created_at)
        select ${idOf('workflow', 'n')}, :project, 'Workflow ' || n, jsonb_build_object('eventName', 'started' || n), 1, 1,
          true, ${AT}
        from generate_series(:from::integer, :to::integer) n returning id
      )
      insert into workflow_versions (workflow_id, version, graph)
        select id, 1, jsonb_build_object('steps', jsonb_build_array(jsonb_build_object('id', id, 'type', 'DELAY',
          'name', 'Wait', 'position', '{"x": 0, "y": 0}'::jsonb, 'config', '{"duration": "P1D"}'::jsonb,
          'templateId', null)), 'transitions', '[]'::jsonb)
        from made`,
  },
  // Each contact has been in one workflow. Every state is found in each of them.
  executions: {
    rows: (contacts) => contacts,
    sql: `insert into executions (id, project_id, workflow_id, version, contact_id, status, current_step_id, after_position,
        wake_at, once_per_contact, error, started_at, completed_at, created_at)
      select uuidv7(at - now()), :project, md5('workflow' || (1 + n / 20 % :workflows::integer))::uuid, 1, ${idOf('contact', 'n')},
        state.status, case when state.status in ('WAITING', 'FAILED') then md5('workflow' || (1 + n / 20 % :workflows::integer))::uuid end,
        n, case when state.status = 'WAITING' then now() + make_interval(secs => n) end, false,
        case when state.status = 'FAILED' then 'The webhook answered with ' || 500 + n % 7 end, at,
        case when state.status <> 'WAITING' then at end, at
      from generate_series(:from::integer, :to::integer) n cross join lateral (select ${AT} as at) time
        cross join lateral (select (array['WAITING', 'FAILED', 'CANCELLED', 'EXITED', 'COMPLETED', 'COMPLETED', 'COMPLETED',
          'COMPLETED', 'COMPLETED', 'COMPLETED'])[case when n % 20 = 1 then 5 else 1 + n % 10 end] as status) state`,
  },
  'steps of executions': {
    rows: (contacts) => contacts,
    sql: `insert into execution_steps (id, project_id, execution_id, visit, step_id, type, name, status, started_at)
      select uuidv7(), :project, e.id, 1, e.workflow_id, 'DELAY', 'Wait', 'WAITING', e.started_at
      from executions e where e.after_position between :from::integer and :to::integer`,
  },
  suppressions: {
    rows: (contacts) => contacts / 20,
    sql: `insert into suppressions (id, project_id, address_hash, email, reason, created_at)
      select uuidv7(${AT} - now()), :project, decode(md5('gone' || n), 'hex'),
        'gone' || n || case when n % (:count::integer / 50) = 0 then '.needle' else '' end || '@example.com',
        (array['HARD_BOUNCE', 'HARD_BOUNCE', 'HARD_BOUNCE', 'MANUAL', 'COMPLAINT'])[1 + n % 5], ${AT}
      from generate_series(:from::integer, :to::integer) n`,
  },
  jobs: {
    rows: (contacts) => Math.max(MIN_LISTED, contacts / 1_000),
    sql: `insert into jobs (id, project_id, type, status, total, processed, result, created_at, completed_at)
      select uuidv7(${AT} - now()), :project, (array['IMPORT', 'BULK_SUBSCRIBE'])[1 + n % 2], 'COMPLETED', 100, 100,
        '{"created": 50, "updated": 50, "skipped": 0, "errors": []}', ${AT}, ${AT}
      from generate_series(:from::integer, :to::integer) n`,
  },
  'webhook endpoints': {
    rows: () => 5,
    sql: `insert into webhook_endpoints (id, project_id, url, types, secret)
      select ${idOf('endpoint', 'n')}, :project, 'https://shop.example/' || n, '{email.*}', 'sealed'
      from generate_series(:from::integer, :to::integer) n`,
  },
  'webhook deliveries': {
    rows: (contacts) => contacts,
    sql: `with happened as (
        insert into webhook_events (id, project_id, type, data, happened_at, created_at)
        select uuidv7(at - now()), :project, 'email.sent', '{"eventId": "1"}', at, at
        from generate_series(:from::integer, :to::integer) n
          cross join lateral (select now() - make_interval(secs => (:count::bigint - n) * (30 * 86400.0 / :count::bigint)) as at) time
        returning id, created_at
      )
      insert into webhook_deliveries (id, project_id, endpoint_id, event_id, type, status, attempts, last_status_code,
        created_at, delivered_at)
      select id, :project, md5('endpoint' || (1 + get_byte(uuid_send(id), 15) % 5))::uuid, id, 'email.sent',
        case when get_byte(uuid_send(id), 14) < 3 then 'FAILED' else 'DELIVERED' end, 1, 200, created_at, created_at
      from happened`,
  },
  'audit rows': {
    rows: (contacts) => contacts / 10,
    sql: `insert into audit_log (id, at, project_id, user_id, actor_type, actor_id, action, target_type, target_id)
      select uuidv7(at - now()), at, :project, case when n % 10 = 0 then :user::uuid end, 'USER', :user,
        case when n % (:count::integer / 100) = 0 then 'key.created' when n % 10 = 0 then 'user.logged_in' else 'campaign.updated' end,
        'campaign', ${idOf('campaign', '1')}::text
      from generate_series(:from::integer, :to::integer) n cross join lateral (select ${AT} as at) time`,
  },
  notifications: {
    rows: (contacts) => Math.max(MIN_LISTED, contacts / 1_000),
    sql: `insert into notifications (id, project_id, user_id, type, data, in_app, mail_due, read_at, created_at)
      select uuidv7(${AT} - now()), :project, :user, 'campaign.finished', jsonb_build_object('campaignId', ${idOf('campaign', 'n')},
        'name', 'News', 'sent', 1), true, false, case when n % 50 > 0 then now() end, ${AT}
      from generate_series(:from::integer, :to::integer) n`,
  },
  'failed requests': {
    rows: () => 1_000,
    sql: `insert into failed_requests (id, project_id, at, request_id, method, route, status, code, message)
      select uuidv7(), :project, now(), n, 'GET', '/contacts/:id', 404, 'NOT_FOUND', 'There is no such contact.'
      from generate_series(:from::integer, :to::integer) n`,
  },
  segments: {
    rows: () => MIN_LISTED,
    sql: `insert into segments (id, project_id, slug, name, type, condition, member_count, own_dependencies, filter_count)
      select ${idOf('segment', 'n')}, :project, 'segment-' || n, 'Segment ' || n, 'DYNAMIC', jsonb_build_object('logic', 'AND',
        'groups', jsonb_build_array(jsonb_build_object('filters', jsonb_build_array(jsonb_build_object('field', 'data.tag',
        'operator', 'equals', 'value', case when n = 1 then 'rare' else 'other' || n end))))), 100, '{data.tag}', 1
      from generate_series(:from::integer, :to::integer) n`,
  },
  'scoped keys': {
    rows: () => 20,
    sql: `insert into scoped_keys (id, project_id, name, prefix, key_hash, scopes)
      select uuidv7(), :project, 'Key ' || n, 'sk_' || n, decode(md5(:project || n), 'hex'), '{all}'
      from generate_series(:from::integer, :to::integer) n`,
  },
  'other projects': {
    rows: (contacts) => Math.max(MIN_LISTED, contacts / 1_000),
    sql: `insert into projects (id, name, public_key, secret_key_hash)
      select uuidv7(${AT} - now()), 'Project ' || n, 'pk_' || n, decode(md5('secret' || n), 'hex')
      from generate_series(:from::integer, :to::integer) n`,
  },
};

function fillOf(name: string): Fill {
  const fill = fills[name];
  if (!fill) throw new Error(`no fill ${name}`);
  return fill;
}

/** SQL: 2 % bounced, 1 % failed, some skipped and complained, a third opened, some clicked. */
function mailStatus(n: string): string {
  return `case when ${n} % 50 = 7 then 'BOUNCED' when ${n} % 100 = 8 then 'FAILED' when ${n} % 1000 = 9 then 'COMPLAINED'
    when ${n} % 200 = 11 then 'SKIPPED' when ${n} % 15 = 0 then 'CLICKED' when ${n} % 3 = 0 then 'OPENED' else 'DELIVERED' end`;
}

const mailCounts = `count(*) as sent, count(*) filter (where delivered_at is not null) as delivered,
  count(*) filter (where opened_at is not null) as opened, 0 as clicked, 0 as bounced, 0 as complained, 0 as failed`;
const mailColumns = 'sent, delivered, opened, clicked, bounced, complained, failed';

const sums = [
  `insert into contact_counts (project_id, contacts, subscribed, fields)
   select :project, count(*), count(*) filter (where subscribed), 3 from contacts where project_id = :project`,
  `insert into contact_fields (project_id, key, type, contacts)
   values (:project, 'plan', 'string', :contacts), (:project, 'seats', 'number', :contacts), (:project, 'tag', 'string', 100)`,
  `insert into counters (project_id, subject, counts)
   select project_id, 'campaign/' || campaign_id, jsonb_build_object(
     'sent', count(*) filter (where status not in ('FAILED', 'SKIPPED')),
     'failed', count(*) filter (where status = 'FAILED'), 'skipped', count(*) filter (where status = 'SKIPPED'),
     'delivered', count(delivered_at), 'opened', count(opened_at), 'humanOpened', count(opened_at))
   from emails where campaign_id is not null and project_id = :project group by project_id, campaign_id`,
  `insert into campaign_domains (campaign_id, domain, ${mailColumns})
   select campaign_id, 'corp' || get_byte(uuid_send(contact_id), 0) || '.io', ${mailCounts}
   from emails where campaign_id is not null and project_id = :project group by 1, 2`,
  `insert into campaign_links (campaign_id, link_id, link, clicks, unique_clicks)
   select c.id, md5(n::text)::uuid, 'https://shop.example/' || n, 100, 50
   from campaigns c, generate_series(1, 20) n where c.project_id = :project`,
  `insert into counter_deltas (project_id, subject, period, counts)
   select project_id, 'activity/hours', date_trunc('hour', created_at, 'UTC'), jsonb_build_object('sent', count(*),
     'delivered', count(*), 'opened', 40, 'clicked', 10, 'bounced', 1, 'started', 3, 'completed', 2, 'humanOpened', 30)
   from emails where project_id = :project group by 1, 3`,
  `insert into template_days (project_id, day, template_id, ${mailColumns})
   select project_id, date_trunc('day', created_at, 'UTC'), template_id, ${mailCounts}
   from emails where project_id = :project group by 1, 2, 3`,
  `insert into counter_deltas (project_id, subject, period, part, counts)
   select project_id, 'workflow/' || workflow_id || '/days', day, part, jsonb_object_agg(name, count) from (
     select e.project_id, e.workflow_id, date_trunc('day', counted.at, 'UTC') as day, counted.part, counted.name, count(*) as count
     from executions e, lateral (values (e.version::text, 'started', e.started_at),
         (e.version::text, case when e.status <> 'WAITING' then lower(e.status) end, e.completed_at),
         (e.version || '/' || e.workflow_id, 'entered', e.started_at),
         (e.version || '/' || e.workflow_id, case when e.status <> 'WAITING' then 'left' end, e.completed_at)
       ) as counted (part, name, at)
     where e.project_id = :project and counted.name is not null group by 1, 2, 3, 4, 5
   ) counted group by 1, 2, 3, 4`,
  // A large project reaches the most domains that a day may have.
  `insert into domain_days (project_id, day, domain, ${mailColumns})
   select :project, day, 'corp' || n || '.io', n, n, 0, 0, 0, 0, 0
   from generate_series(date_trunc('day', now() - interval '365 days', 'UTC'), now(), interval '1 day') day,
     generate_series(1, least(1000, :contacts::integer / 50)) n`,
  `insert into link_days (project_id, day, link_id, link, clicks, human_clicks)
   select :project, day, md5(n::text)::uuid, 'https://shop.example/' || n, n, n
   from generate_series(date_trunc('day', now() - interval '365 days', 'UTC'), now(), interval '1 day') day,
     generate_series(1, least(400, :contacts::integer / 50)) n`,
];

async function idsOf(db: Db, projectId: string): Promise<PageIds> {
  const id = async (sql: string): Promise<string> => {
    const { rows } = await db.raw(`select id::text as id from ${sql} limit 1`, { projectId });
    if (!rows[0]) throw new Error(`no row for a page: ${sql}`);
    return rows[0].id;
  };
  const day = (before: number) => new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10);
  return {
    project: projectId,
    contact: await id(`contacts where project_id = :projectId and email like 'user1@%'`),
    segment: await id(`segments where project_id = :projectId and slug = 'segment-1'`),
    topic: await id(`topics where project_id = :projectId and key = 'topic-1'`),
    form: await id(`forms where project_id = :projectId and key = 'form-1'`),
    savedBlock: await id('saved_blocks where project_id = :projectId'),
    template: await id(`templates where project_id = :projectId and name = 'Template 1'`),
    campaign: await id(`campaigns where project_id = :projectId and status = 'SENT' order by created_at desc`),
    draft: await id(`campaigns where project_id = :projectId and status = 'DRAFT'`),
    email: await id(`emails where project_id = :projectId and campaign_id is null order by id desc`),
    workflow: await id(`workflows where project_id = :projectId order by created_at desc`),
    execution: await id(
      `executions where project_id = :projectId and workflow_id =
         (select id from workflows where project_id = :projectId order by created_at desc limit 1) order by id desc`,
    ),
    endpoint: await id('webhook_endpoints where project_id = :projectId'),
    delivery: await id('webhook_deliveries where project_id = :projectId order by id desc'),
    job: await id('jobs where project_id = :projectId order by id desc'),
    importJob: await id(`jobs where project_id = :projectId and type = 'IMPORT' order by id desc`),
    bulkJob: await id(`jobs where project_id = :projectId and type = 'BULK_SUBSCRIBE' order by id desc`),
    since: day(29),
    week: day(6),
    today: day(0),
  };
}
