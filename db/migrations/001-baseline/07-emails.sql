-- The send ledger, delivery, and notifications about sent mail. See docs/decisions/003, 023, 042, 043 and 045.

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
  -- 0 transactional mail, 1 mail of workflows. Higher ones are not put into delivery batches by the relay.
  priority smallint not null default 0,
  status text not null default 'PENDING' constraint emails_status_check check (status in ('PENDING', 'SENDING', 'SENT',
    'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN')),
  reason text,
  attempts integer not null default 0,
  -- Attempts that ended in flight, so that it is unknown whether the relay took the mail.
  unknown_outcomes integer not null default 0,
  due_at timestamptz not null default now(),
  batch_id uuid,
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
  without_events boolean not null default false
);
create index emails_due on emails (priority, project_id, due_at) where status = 'PENDING' and batch_id is null;
-- A finished row keeps its batch, which names its delivery workflow; only unfinished ones are looked up by it.
create index emails_batch on emails (batch_id) where status in ('PENDING', 'SENDING') and batch_id is not null;
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

-- Content of mail that is not a campaign's, partitioned by the mail's id, which grows with time.
create table email_contents (
  email_id uuid primary key,
  project_id uuid not null,
  to_email text not null,
  to_name text,
  from_email text not null,
  from_name text,
  reply_to text,
  subject text not null,
  html text not null,
  created_at timestamptz not null default now(),
  -- Values of the request itself, stored on the contact or not. They win over the contact's.
  variables jsonb,
  headers jsonb,
  type text not null default 'TRANSACTIONAL' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  attachment_set uuid,
  -- The subject after rendering, where it has variables. Erased with the rest of the content.
  rendered_subject text,
  -- A test mail of a campaign: it looks like the campaign's and is not tracked.
  untracked boolean not null default false
) partition by range (email_id);
create table email_contents_default partition of email_contents default;
create index email_contents_attachments on email_contents (attachment_set) where attachment_set is not null;

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

-- One row for each time that a mail was offered to the relay, written with its result.
create table email_attempts (
  email_id uuid not null,
  number integer not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  outcome text not null check (outcome in ('sent', 'deferred', 'refused', 'unknown')),
  answer text,
  primary key (email_id, number)
);

-- Mail whose result is in the ledger and whose event is not published yet.
create table unpublished_email_results (
  email_id uuid primary key,
  contact_id uuid not null
);

-- Mail that is delivered together by one delivery workflow. The owner of the lease may send; the row is removed when
-- every mail of it has a result.
create table delivery_batches (
  id uuid primary key,
  priority smallint not null,
  lease_token uuid,
  lease_until timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  campaign_id uuid,
  -- Not null: a lease of the batch ran out instead of being released. From then on its mails are composed one at a time,
  -- and each is listed here, once per try, from before it is composed until that has ended.
  composing uuid[]
);
create index delivery_batches_campaign on delivery_batches (campaign_id) where campaign_id is not null;

-- When the next mail may be sent, over all workers. One row.
create table send_rate (
  only_one boolean primary key default true check (only_one),
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
