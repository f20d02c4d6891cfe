// Moves recipients of campaigns from `campaign_recipients` to `emails`: with their result, or where they are not sent now.
import { statement } from '../../db/statement.ts';

/** SQL: one delta for each campaign of the rows that were moved. They were counted as pending by the freeze. */
const counted = `
  insert into counter_deltas (project_id, subject, counts)
  select project_id, 'campaign/' || campaign_id, jsonb_strip_nulls(jsonb_build_object(
    'pending', nullif(-count(*) filter (where status <> 'PENDING'), 0),
    'sent', nullif(count(*) filter (where status = 'SENT'), 0),
    'failed', nullif(count(*) filter (where status = 'FAILED'), 0),
    'skipped', nullif(count(*) filter (where status = 'SKIPPED'), 0),
    'cancelled', nullif(count(*) filter (where status = 'CANCELLED'), 0),
    'unknown', nullif(count(*) filter (where status = 'UNKNOWN'), 0),
    'bounced', nullif(count(*) filter (where bounced_at is not null), 0),
    'hardBounced', nullif(count(*) filter (where bounced_at is not null), 0),
    'refused', nullif(count(*) filter (where bounced_at is not null and sent_at is null), 0)))
  from persisted group by project_id, campaign_id having count(*) filter (where status <> 'PENDING') > 0`;

/**
 * SQL: moves the ended recipients of `which` to `emails` in one statement, so that each is in one of both tables at every
 * moment, as the CTE `persisted`. Of a deleted contact no address is kept: the caller holds `recipients_lock`, which the
 * deletion of contacts takes exclusively.
 */
export const persistRecipientsSql = (which: string, publish = ''): string => `
  with ended as (delete from campaign_recipients where ${which} and state = 3 returning *),
  attempt as materialized (
    select ended.*, r.*, k.id is not null as has_recipient, c.template_id
    from ended
    cross join lateral jsonb_to_record(ended.result::jsonb) as r (
      status text, reason text, outcome text, "retryAfterSeconds" float8, "providerMessageId" text, "isBounce" boolean,
      answer text)
    left join lateral (select id from contacts where contacts.id = ended.contact_id limit 1) k on true
    left join lateral (select template_id from campaigns where campaigns.id = ended.campaign_id limit 1) c on true
  ),
  persisted as (
    insert into emails (id, project_id, contact_id, source_type, priority, campaign_id, template_id, status, reason, attempts,
      unknown_outcomes, due_at, provider_message_id, sent_at, bounced_at, bounce_type, to_email, rendered_subject,
      attempt_log, created_at)
    select email_id, project_id, contact_id, 'CAMPAIGN', 2, campaign_id, template_id, status,
      case when has_recipient or reason not like '%@%' then reason end,
      case when outcome is null then 0 else 1 end, case when outcome = 'unknown' then 1 else 0 end,
      ended_at + make_interval(secs => coalesce("retryAfterSeconds", 0)), "providerMessageId",
      case when status = 'SENT' then ended_at end, case when "isBounce" then ended_at end,
      case when "isBounce" then 'Permanent' end,
      case when has_recipient and outcome is not null then recipient end,
      case when has_recipient and outcome is not null then subject end,
      case when outcome is not null then jsonb_build_array(jsonb_build_object('number', 1, 'startedAt', started_at,
        'endedAt', ended_at, 'relay', relay, 'outcome', outcome,
        'answer', case when has_recipient then coalesce(answer, reason) end)) end,
      uuid_extract_timestamp(email_id)
    from attempt order by email_id
    returning *
  ),
  counted as (${counted})
  ${publish}
  select count(*)::integer as count from persisted`;

export const persistRecipients = statement<{ count: number }>(
  'recipients-persist',
  persistRecipientsSql('email_id = any ($1::uuid[])'),
);

// What is not sent now, or not at all, is a row of `emails` from then on. Those in flight keep their result.
const moveSql = (which: string): string => `
  with moved as (
    delete from campaign_recipients where ${which} and state < 2 returning email_id, project_id, campaign_id, contact_id
  ),
  persisted as (
    insert into emails (id, project_id, contact_id, source_type, priority, campaign_id, template_id, status, reason, due_at,
      created_at)
    select email_id, moved.project_id, contact_id, 'CAMPAIGN', 2, campaign_id, c.template_id, $2, $3,
      now() + make_interval(secs => $4::float8), uuid_extract_timestamp(email_id)
    from moved left join lateral (select template_id from campaigns where campaigns.id = moved.campaign_id limit 1) c on true
    order by email_id
    returning *
  ),
  counted as (${counted})
  select count(*)::integer as count from persisted`;

/** Values: ids, status, reason, seconds until they are due. */
export const moveRecipients = statement<{ count: number }>('recipients-move', moveSql('email_id = any ($1::uuid[])'));

/** The same for a chunk of a campaign; the fifth value is its size. */
export const moveRecipientsOfCampaign = statement<{ count: number }>(
  'recipients-move-campaign',
  moveSql(`email_id = any (array(
    select email_id from campaign_recipients where campaign_id = $1 and state < 2
    order by email_id limit $5 for update skip locked))`),
);
