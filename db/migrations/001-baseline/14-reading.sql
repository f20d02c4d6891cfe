-- What people look at: previews, live streams, failed requests, and counts by template, recipient domain and link.
-- See previews.md, counts.md, jobs.md, suppressions.md and live-streams.md in docs/decisions.

-- Rendered HTML for a sandboxed frame. Kept for an hour; a crash may lose it.
create unlogged table previews (
  id uuid primary key,
  project_id uuid not null,
  html text not null,
  -- In bytes, counted towards the limit of the project.
  size integer not null,
  created_at timestamptz not null default now()
);
create index previews_project on previews (project_id, id) include (size);
create index previews_age on previews (created_at);

-- Open streams of GET /live, over all API processes. A row that is not renewed belongs to a process that has died.
create unlogged table live_streams (
  id uuid primary key,
  project_id uuid not null,
  renewed_at timestamptz not null default now()
);
create index live_streams_project on live_streams (project_id);

-- Answers of 400 and above: the last 1,000 of a project, for 7 days.
create table failed_requests (
  id uuid primary key,
  project_id uuid not null,
  at timestamptz not null,
  request_id text not null,
  method text not null,
  route text not null,
  status smallint not null,
  code text,
  message text not null,
  -- The key of the pair, or a scoped key, or the user of the session.
  key_name text,
  key_id uuid,
  user_id uuid
);
create index failed_requests_project on failed_requests (project_id, id);
create index failed_requests_age on failed_requests (at);

-- What happened to mails, aggregated together with the counts of events. A mail counts once in each column.
create table template_days (
  project_id uuid not null,
  day timestamptz not null,
  template_id uuid not null,
  sent bigint not null,
  delivered bigint not null,
  opened bigint not null,
  clicked bigint not null,
  bounced bigint not null,
  complained bigint not null,
  failed bigint not null,
  primary key (project_id, day, template_id)
);
-- By the domain of the recipient. The domains beyond the first 1,000 of a day are counted as 'other'.
create table domain_days (
  project_id uuid not null,
  day timestamptz not null,
  domain text not null,
  sent bigint not null,
  delivered bigint not null,
  opened bigint not null,
  clicked bigint not null,
  bounced bigint not null,
  complained bigint not null,
  failed bigint not null,
  primary key (project_id, day, domain)
);
create table campaign_domains (
  campaign_id uuid not null references campaigns on delete cascade,
  domain text not null,
  sent bigint not null,
  delivered bigint not null,
  opened bigint not null,
  clicked bigint not null,
  bounced bigint not null,
  complained bigint not null,
  failed bigint not null,
  primary key (campaign_id, domain)
);
-- The links beyond the first 1,000 of a campaign are counted as 'other'.
create table campaign_links (
  campaign_id uuid not null references campaigns on delete cascade,
  link_id uuid not null,
  link text not null,
  clicks bigint not null,
  unique_clicks bigint not null,
  primary key (campaign_id, link_id)
);
-- Which recipient has clicked which link, so that each is counted once. No foreign key: a campaign may have millions.
create table campaign_link_clicks (
  project_id uuid not null,
  campaign_id uuid not null,
  link_id uuid not null,
  email_id uuid not null,
  primary key (project_id, campaign_id, link_id, email_id)
);
