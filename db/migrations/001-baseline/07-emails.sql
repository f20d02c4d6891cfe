-- The send ledger, delivery, and notifications about sent mail. See sending-engine.md, notices.md and
-- blocked-email.md in docs/decisions.

create table templates (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_email text,
  from_name text,
  reply_to text,
  type text not null check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  -- The number of its newest version.
  version integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
-- A project has hundreds of templates at most, so other orders and the search need no index.
create index templates_project on templates (project_id, created_at);

-- What was saved, the last 50 times.
create table template_versions (
  template_id uuid not null references templates on delete cascade,
  version integer not null,
  project_id uuid not null,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_email text,
  from_name text,
  reply_to text,
  type text not null,
  saved_at timestamptz not null default now(),
  -- Null: saved with a key.
  saved_by uuid,
  primary key (template_id, version)
);
create index template_versions_project on template_versions (project_id);

-- The send ledger: narrow; a due row is the order to send. The content is in email_contents.
create table emails (
  id uuid primary key,
  project_id uuid not null,
  contact_id uuid not null,
  source_type text not null default 'TRANSACTIONAL' check (source_type in ('TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN')),
  -- 0 transactional mail, 1 mail of workflows, 2 mail of campaigns.
  priority smallint not null default 0,
  status text not null default 'PENDING' constraint emails_status_check check (status in ('PENDING', 'SENT',
    'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN')),
  reason text,
  attempts integer not null default 0,
  -- Attempts that ended in flight, so that it is unknown whether the relay took the mail.
  unknown_outcomes integer not null default 0,
  due_at timestamptz not null default now(),
  provider_message_id text,
  sent_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Where subject or body came from. These rows may have been deleted since.
  template_id uuid,
  campaign_id uuid,
  workflow_id uuid,
  execution_id uuid,
  step_visit integer,
  -- When each first happened. The status says how far the mail has got.
  delivered_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  bounce_type text,
  -- Of blocked mail: the sender's domain, so that it is found when the cause has ended; empty where none counts.
  blocked_domain text,
  -- Of campaign mail, whose content is the campaign's: the recipient, and the subject where it has variables.
  -- Other mail has both in email_contents.
  to_email text,
  rendered_subject text,
  -- Through a link in this mail.
  unsubscribed_at timestamptz,
  -- Publishes no events about its result.
  without_events boolean not null default false,
  -- One object for each time that the mail was offered to a relay: number, startedAt, endedAt, relay, outcome (sent,
  -- deferred, refused, unknown) and answer.
  attempt_log jsonb
);
-- Mail that senders lease next.
create index emails_due on emails (priority, project_id, due_at) where status = 'PENDING' and campaign_id is null;
create index emails_campaign_due on emails (campaign_id, due_at, id) where status = 'PENDING' and campaign_id is not null;
create index emails_unknown on emails (project_id) where status = 'UNKNOWN';
-- Lists and their totals are answered from this index alone.
create index emails_project on emails (project_id, id) include (status, created_at);
create index emails_contact on emails (project_id, contact_id, id);
create index emails_template on emails (project_id, template_id, id) where template_id is not null;
-- One mail per contact of a campaign, one per visit of a step.
create unique index emails_campaign on emails (campaign_id, contact_id) where campaign_id is not null;
create unique index emails_visit on emails (execution_id, step_visit) where execution_id is not null;
create index emails_campaign_page on emails (campaign_id, id) include (project_id, status) where campaign_id is not null;
create index emails_workflow on emails (workflow_id, id) include (project_id, status) where workflow_id is not null;
-- Provider notifications name a mail by the relay's id.
create index emails_provider on emails (provider_message_id) where provider_message_id is not null;
create index emails_blocked on emails (project_id, blocked_domain) where blocked_domain is not null and status = 'PENDING';

-- What recipients of mail that is not a campaign's have of their own, and what lists and events show. Partitioned by the
-- mail's id, which grows with time.
create table email_contents (
  email_id uuid primary key,
  project_id uuid not null,
  -- Its body. The first mail of a request has the id of the body, other recipients refer to it.
  body_id uuid not null,
  to_email text not null,
  to_name text,
  from_email text not null,
  from_name text,
  reply_to text,
  subject text not null,
  created_at timestamptz not null default now(),
  -- Values of the request itself, stored on the contact or not. They win over the contact's.
  variables jsonb,
  type text not null default 'TRANSACTIONAL' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  attachment_set uuid,
  -- The subject after rendering, where it has variables. Erased with the rest of the content.
  rendered_subject text,
  -- A test mail of a campaign: it looks like the campaign's and is not tracked.
  untracked boolean not null default false
) partition by range (email_id);
create table email_contents_default partition of email_contents default;
create index email_contents_attachments on email_contents (attachment_set) where attachment_set is not null;
create index email_contents_body on email_contents (body_id) where body_id <> email_id;

-- Bodies, stored once for all recipients of a request (docs/decisions/email-bodies.md). Partitioned by the id, which
-- contains the month of its mails.
create table email_bodies (
  id uuid primary key,
  project_id uuid not null,
  -- Template sources: rendered with the recipient's variables when the mail is sent.
  html text not null,
  headers jsonb,
  -- Text of a template, which all mails of the month share. It is removed with the month; others with their last mail.
  shared boolean not null default false,
  created_at timestamptz not null default now()
) partition by range (id);
create table email_bodies_default partition of email_bodies default;

-- The files of one request, stored once for all of its recipients. A set is removed with the last mail that uses it.
create table email_attachments (
  set_id uuid not null,
  position smallint not null,
  filename text not null,
  content_type text not null,
  content_id text,
  disposition text not null check (disposition in ('attachment', 'inline')),
  content bytea not null,
  primary key (set_id, position)
);
-- Most files are compressed already.
alter table email_attachments alter column content set storage external;

-- Mail whose result is in the ledger and whose event is not published yet.
create table unpublished_email_results (
  email_id uuid primary key,
  contact_id uuid not null
);

-- The right to send mail: one row for each running sender, valid until lease_until. See docs/sending.md.
create table senders (
  id uuid primary key,
  lease_until timestamptz not null,
  created_at timestamptz not null default now()
);

-- Processes that can run a sender. There is one sender workflow more than such processes.
create table mail_processes (
  id uuid primary key,
  seen_at timestamptz not null default now()
);

-- What senders do at this moment, one row per mail: leased (started_at is null), in flight, ended with a result that the
-- ledger does not have yet. Narrow, with one index and free space in each page, because a row is written four times.
create table outgoing_mails (
  email_id uuid primary key,
  sender_id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  campaign_id uuid,
  -- Of the attempt in flight.
  number integer,
  recipient text,
  -- The rendered subject, where it is not the stored one.
  subject text,
  relay text,
  started_at timestamptz,
  ended_at timestamptz,
  -- The change of the ledger row.
  result jsonb,
  check ((started_at is null) = (number is null)),
  check ((ended_at is null) = (result is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- When the next mail may be sent, over all workers: of all mail ('all'), over a relay ('relay/<name>') or to a recipient
-- domain ('domain/<name>').
create table send_rates (
  key text primary key,
  next_at timestamptz not null
);

-- Opens, clicks and provider notifications that are not applied to their mails yet. Writers only append, so that a
-- click never waits for a lock. A mail is named by its id, or by the id that the relay gave it.
create table email_notices (
  id bigint generated always as identity primary key,
  email_id uuid,
  provider_message_id text,
  kind text not null check (kind in ('delivery', 'open', 'click', 'bounce', 'complaint')),
  bounce_type text check (bounce_type in ('Permanent', 'Transient', 'Undetermined')),
  link text,
  reason text,
  -- When it happened, as reported.
  at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  check (email_id is not null or provider_message_id is not null)
);
create index email_notices_due on email_notices (due_at, id);

-- Ids of provider notifications that were handled: providers repeat them for days.
create table received_notices (
  id text primary key,
  received_at timestamptz not null default now()
);
create index received_notices_age on received_notices (received_at);
