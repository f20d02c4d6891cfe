-- Appends the deltas of activity and of campaigns for changed mails. Per statement, because mail is written in batches.
-- Bounces of confirmations do not count: anybody may submit any address. Without a WHEN condition, since each statement would plan it anew.
create or replace function count_changed_emails() returns trigger language plpgsql as $$
begin
  -- Slowed, blocked or released: nothing that is counted.
  if not exists (select 1 from after where status <> 'PENDING')
    and not exists (select 1 from before where status <> 'PENDING') then return null; end if;
  insert into counter_deltas (project_id, subject, period, counts)
  select project_id, 'activity/hours', hour, jsonb_object_agg(kind, count) from (
    select project_id, date_trunc('hour', at, 'UTC') as hour, kind, sum(delta) as count from (
      select project_id, sent_at, delivered_at, opened_at, clicked_at, human_opened_at, human_clicked_at,
        case when submission_id is null then bounced_at end as bounced_at, complained_at, -1 as delta from before
      union all
      select project_id, sent_at, delivered_at, opened_at, clicked_at, human_opened_at, human_clicked_at,
        case when submission_id is null then bounced_at end, complained_at, 1 from after
    ) mail, lateral (values ('sent', sent_at), ('delivered', delivered_at), ('opened', opened_at), ('clicked', clicked_at),
      ('humanOpened', human_opened_at), ('humanClicked', human_clicked_at),
      ('peopleOpened', least(human_opened_at, human_clicked_at)), ('bounced', bounced_at),
      ('complained', complained_at), ('refused', case when sent_at is null then bounced_at end)) as times (kind, at)
    where at is not null group by 1, 2, 3 having sum(delta) <> 0
  ) changed group by 1, 3;
  if not exists (select 1 from after where campaign_id is not null) then return null; end if;
  insert into counter_deltas (project_id, subject, counts)
  select project_id, 'campaign/' || campaign_id, counts from (
    select project_id, campaign_id, jsonb_strip_nulls(jsonb_build_object(
      'pending', nullif(sum(delta) filter (where state = 'PENDING'), 0),
      'sent', nullif(sum(delta) filter (where state = 'SENT'), 0),
      'failed', nullif(sum(delta) filter (where state = 'FAILED'), 0),
      'skipped', nullif(sum(delta) filter (where state = 'SKIPPED'), 0),
      'cancelled', nullif(sum(delta) filter (where state = 'CANCELLED'), 0),
      'unknown', nullif(sum(delta) filter (where state = 'UNKNOWN'), 0),
      'delivered', nullif(sum(delta) filter (where delivered_at is not null), 0),
      'opened', nullif(sum(delta) filter (where opened_at is not null), 0),
      'clicked', nullif(sum(delta) filter (where clicked_at is not null), 0),
      'humanOpened', nullif(sum(delta) filter (where human_opened_at is not null), 0),
      'humanClicked', nullif(sum(delta) filter (where human_clicked_at is not null), 0),
      'peopleOpened', nullif(sum(delta) filter (where num_nonnulls(human_opened_at, human_clicked_at) > 0), 0),
      'bounced', nullif(sum(delta) filter (where bounced_at is not null), 0),
      'hardBounced', nullif(sum(delta) filter (where bounced_at is not null
        and coalesce(lower(bounce_type), '') in ('hard', 'permanent')), 0),
      'refused', nullif(sum(delta) filter (where bounced_at is not null and sent_at is null), 0),
      'complained', nullif(sum(delta) filter (where complained_at is not null), 0),
      'unsubscribed', nullif(sum(delta) filter (where unsubscribed_at is not null), 0),
      'topicUnsubscribed', nullif(sum(delta) filter (where topic_unsubscribed_at is not null), 0))) as counts
    from (
      select *, recipient_state(status) as state, -1 as delta from before where campaign_id is not null
      union all
      select *, recipient_state(status), 1 from after where campaign_id is not null
    ) mail
    group by project_id, campaign_id
  ) as changed
  where counts <> '{}';
  return null;
end $$;

create or replace trigger emails_count_changed after update on emails referencing old table as before new table as after
  for each statement execute function count_changed_emails();
