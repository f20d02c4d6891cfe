-- Appends the deltas of activity and of campaigns for changed mails. Per statement, because mail is written in batches.
-- Without a WHEN condition, since each statement would plan it anew.
create or replace function count_changed_emails() returns trigger language plpgsql as $$
begin
  -- Postponed, blocked or released: nothing that is counted.
  if not exists (select 1 from after where status <> 'PENDING')
    and not exists (select 1 from before where status <> 'PENDING') then return null; end if;
  insert into activity_deltas (project_id, kind, at, delta)
  select project_id, kind, at, sum(delta) from (
    select project_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at, -1 as delta from before
    where num_nonnulls(sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at) > 0
    union all
    select project_id, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at, 1 from after
    where num_nonnulls(sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at) > 0
  ) mail, lateral (values ('sent', sent_at), ('delivered', delivered_at), ('opened', opened_at), ('clicked', clicked_at),
    ('bounced', bounced_at), ('complained', complained_at),
    ('refused', case when sent_at is null then bounced_at end)) as times (kind, at)
  where at is not null group by project_id, kind, at having sum(delta) <> 0;
  if exists (select 1 from after where num_nonnulls(human_opened_at, human_clicked_at) > 0) then
    insert into human_activity_deltas (project_id, kind, at, delta)
    select project_id, kind, at, sum(delta) from (
      select project_id, human_opened_at, human_clicked_at, -1 as delta from before
      union all
      select project_id, human_opened_at, human_clicked_at, 1 from after
    ) mail, lateral (values ('humanOpened', human_opened_at), ('humanClicked', human_clicked_at)) as times (kind, at)
    where at is not null group by project_id, kind, at having sum(delta) <> 0;
    insert into human_campaign_deltas (campaign_id, human_opened, human_clicked)
    select * from (
      select campaign_id, sum(delta * num_nonnulls(human_opened_at)) as opened,
        sum(delta * num_nonnulls(human_clicked_at)) as clicked
      from (
        select campaign_id, human_opened_at, human_clicked_at, -1 as delta from before where campaign_id is not null
        union all
        select campaign_id, human_opened_at, human_clicked_at, 1 from after where campaign_id is not null
      ) mail
      group by campaign_id
    ) as c
    where (c.opened, c.clicked) <> (0, 0);
  end if;
  if not exists (select 1 from after where campaign_id is not null) then return null; end if;
  insert into campaign_count_deltas (campaign_id, pending, sent, failed, skipped, cancelled, unknown,
    delivered, opened, clicked, bounced, hard_bounced, complained, unsubscribed, refused)
  select * from (
    select campaign_id,
      coalesce(sum(delta) filter (where state = 'PENDING'), 0) as pending,
      coalesce(sum(delta) filter (where state = 'SENT'), 0) as sent,
      coalesce(sum(delta) filter (where state = 'FAILED'), 0) as failed,
      coalesce(sum(delta) filter (where state = 'SKIPPED'), 0) as skipped,
      coalesce(sum(delta) filter (where state = 'CANCELLED'), 0) as cancelled,
      coalesce(sum(delta) filter (where state = 'UNKNOWN'), 0) as unknown,
      coalesce(sum(delta) filter (where delivered_at is not null), 0) as delivered,
      coalesce(sum(delta) filter (where opened_at is not null), 0) as opened,
      coalesce(sum(delta) filter (where clicked_at is not null), 0) as clicked,
      coalesce(sum(delta) filter (where bounced_at is not null), 0) as bounced,
      coalesce(sum(delta) filter (where bounced_at is not null
        and coalesce(lower(bounce_type), '') in ('hard', 'permanent')), 0) as hard_bounced,
      coalesce(sum(delta) filter (where complained_at is not null), 0) as complained,
      coalesce(sum(delta) filter (where unsubscribed_at is not null), 0) as unsubscribed,
      coalesce(sum(delta) filter (where bounced_at is not null and sent_at is null), 0) as refused
    from (
      select *, recipient_state(status) as state, -1 as delta from before where campaign_id is not null
      union all
      select *, recipient_state(status), 1 from after where campaign_id is not null
    ) mail
    group by campaign_id
  ) as c
  where (c.pending, c.sent, c.failed, c.skipped, c.cancelled, c.unknown, c.delivered, c.opened, c.clicked, c.bounced,
    c.hard_bounced, c.complained, c.unsubscribed, c.refused) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return null;
end $$;

create or replace trigger emails_count_changed after update on emails referencing old table as before new table as after
  for each statement execute function count_changed_emails();
