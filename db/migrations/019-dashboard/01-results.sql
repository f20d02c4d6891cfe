-- When a recipient first clicked a link, and whether a person ever did; null in rows of the version before.
alter table campaign_link_clicks add column first_at timestamptz, add column human boolean;
-- The links that a recipient has clicked.
create index campaign_link_clicks_email on campaign_link_clicks (campaign_id, email_id);
-- Clicks by people: how many recipients, the first and the last time.
alter table campaign_links
  add column unique_human_clicks bigint not null default 0,
  add column first_at timestamptz,
  add column last_at timestamptz;

-- Who paused a campaign: the type of the actor, and the user or the scoped key.
alter table campaigns add column paused_actor_type text, add column paused_actor_id uuid;

-- Recipients who opened or clicked are counted from now on; this counts those before.
insert into counter_deltas (project_id, subject, counts)
select project_id, 'campaign/' || campaign_id, jsonb_build_object('peopleOpened', count(*)) from emails
where campaign_id is not null and num_nonnulls(human_opened_at, human_clicked_at) > 0 group by 1, 2;
