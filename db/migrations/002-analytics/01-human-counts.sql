-- Opens and clicks by people, counted apart from those by machines. See docs/decisions/tracking.md.

-- The class of the user agent, of opens and clicks.
alter table email_notices add column agent text;

-- When a person first opened the mail or clicked a link in it.
alter table emails add column human_opened_at timestamptz, add column human_clicked_at timestamptz;

alter table activity_hours
  add column human_opened bigint not null default 0,
  add column human_clicked bigint not null default 0;
alter table campaign_counts
  add column human_opened integer not null default 0,
  add column human_clicked integer not null default 0;
-- Tables of their own: a worker of the previous version aggregates the other deltas without these.
create table human_activity_deltas (
  project_id uuid not null,
  kind text not null,
  at timestamptz not null,
  delta smallint not null
);
create index human_activity_deltas_project on human_activity_deltas (project_id);
create table human_campaign_deltas (
  campaign_id uuid not null,
  human_opened integer not null,
  human_clicked integer not null
);
create index human_campaign_deltas_campaign on human_campaign_deltas (campaign_id);

alter table template_days
  add column human_opened bigint not null default 0,
  add column human_clicked bigint not null default 0;
alter table domain_days
  add column human_opened bigint not null default 0,
  add column human_clicked bigint not null default 0;
alter table campaign_domains
  add column human_opened bigint not null default 0,
  add column human_clicked bigint not null default 0;
alter table campaign_links add column human_clicks bigint not null default 0;

-- Clicks of all mail by link. The links beyond the first 1,000 of a day are counted as 'other'.
create table link_days (
  project_id uuid not null,
  day timestamptz not null,
  link_id uuid not null,
  link text not null,
  clicks bigint not null,
  human_clicks bigint not null,
  primary key (project_id, day, link_id)
);
