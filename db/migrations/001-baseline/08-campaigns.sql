-- Campaigns and their counts. See docs/decisions/campaign-ledger.md.

create table campaigns (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_email text not null,
  -- In the form in which domains are stored.
  from_domain text,
  from_name text,
  reply_to text,
  type text not null default 'MARKETING' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  status text not null default 'DRAFT' check (status in ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED')),
  audience_type text not null check (audience_type in ('ALL', 'SEGMENT', 'FILTERED')),
  segment_id uuid,
  audience_condition jsonb,
  -- Where the body came from; it may have been deleted since.
  template_id uuid,
  -- Size of the audience at the last save or read. From the freeze on the recipients themselves are counted.
  audience_count integer not null default 0,
  rate_per_minute integer check (rate_per_minute > 0),
  paused boolean not null default false,
  -- USER and AUTO_PAUSE wait for a person, BLOCKED for its cause to end.
  paused_by text check (paused_by in ('USER', 'AUTO_PAUSE', 'BLOCKED')),
  pause_reason text,
  -- Counts at the last resume: auto-pause looks at what happened since.
  baseline_sent integer not null default 0,
  baseline_bounced integer not null default 0,
  baseline_complained integer not null default 0,
  -- Raised with every start of its Temporal workflow.
  generation integer not null default 0,
  scheduled_for timestamptz,
  -- When it was last scheduled.
  scheduled_at timestamptz,
  started_at timestamptz,
  frozen_at timestamptz,
  sent_at timestamptz,
  cancelled_at timestamptz,
  -- The row stays: e-mail records still show its sender and subject.
  deleted_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (paused = (paused_by is not null)),
  check (status <> 'SCHEDULED' or scheduled_for is not null)
);
-- A project has thousands of campaigns at most, so other orders and the search need no index.
create index campaigns_project on campaigns (project_id, created_at) where deleted_at is null;
create index campaigns_active on campaigns (id) where status in ('SCHEDULED', 'SENDING');
create index campaigns_segment on campaigns (segment_id) where segment_id is not null;
create index campaigns_template on campaigns (template_id) where template_id is not null;

create table campaign_rates (
  campaign_id uuid primary key references campaigns on delete cascade,
  -- When a throttled campaign may send again.
  next_at timestamptz not null default now(),
  -- Recipients done at the last sample, and the rate since the one before.
  sampled_at timestamptz not null default now(),
  sampled_done integer not null default 0,
  per_second float8,
  -- Recipient domains that get less mail now because they deferred some: [{ domain, perSecond }].
  slowed_domains jsonb not null default '[]'
);

create table campaign_counts (
  campaign_id uuid primary key references campaigns on delete cascade,
  pending integer not null,
  sent integer not null,
  failed integer not null,
  skipped integer not null,
  cancelled integer not null,
  unknown integer not null,
  delivered integer not null,
  opened integer not null,
  clicked integer not null,
  bounced integer not null,
  hard_bounced integer not null,
  complained integer not null,
  unsubscribed integer not null
);
-- Changes that campaign_counts does not include yet. Append-only, so that writers never wait for one another.
create table campaign_count_deltas (
  campaign_id uuid not null,
  pending integer not null default 0,
  sent integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  cancelled integer not null default 0,
  unknown integer not null default 0,
  delivered integer not null default 0,
  opened integer not null default 0,
  clicked integer not null default 0,
  bounced integer not null default 0,
  hard_bounced integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0
);
create index campaign_count_deltas_campaign on campaign_count_deltas (campaign_id);
