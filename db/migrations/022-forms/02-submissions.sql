-- Requests to confirm: what visitors submitted, and choices of topics with doubleOptIn, which have no form. Nothing of it
-- reaches contacts, counts, segments or exports before it is confirmed.
create table form_submissions (
  id uuid primary key,
  project_id uuid not null,
  form_id uuid,
  form_version integer,
  -- Those that are to be confirmed; empty: all mail.
  topic_ids uuid[] not null,
  -- Stays after the address is erased, for the limits and for the year after a decline.
  address_hash bytea not null,
  email text,
  status text not null default 'RECEIVED' check (status in ('RECEIVED', 'PENDING', 'CONFIRMED', 'DECLINED', 'EXPIRED',
    'ALREADY', 'REFUSED')),
  reason text check (reason in ('throttled', 'suppressed', 'declined before', 'disposable', 'no mail server')),
  -- Values of the declared fields, and those that a contact gets only where it has none (timezone, locale).
  data jsonb,
  defaults jsonb,
  -- How it was submitted, as write_consent takes it: ip, userAgent, pageUrl, locale, text and more.
  context jsonb not null default '{}',
  page_url text,
  -- Of an import or a bulk job: their confirmations go out slowly.
  bulk boolean not null default false,
  -- The contact of a topic's choice, and of a confirmed submission.
  contact_id uuid,
  created_at timestamptz not null default now(),
  -- Of the first and of the latest confirmation email.
  sent_at timestamptz,
  last_sent_at timestamptz,
  last_email_id uuid,
  reminded_at timestamptz,
  confirmed_at timestamptz,
  -- When it became what it is.
  settled_at timestamptz,
  expires_at timestamptz,
  -- When the next work on it is due: accept, remind, expire, erase.
  due_at timestamptz
);
create index form_submissions_received on form_submissions (bulk, due_at, id) where status = 'RECEIVED';
create index form_submissions_due on form_submissions (due_at) where due_at is not null and status <> 'RECEIVED';
create index form_submissions_form on form_submissions (form_id, id) include (status, created_at) where form_id is not null;
create index form_submissions_hour on form_submissions (form_id, created_at) where form_id is not null;
-- The latest confirmations of a form, whose bounces say whether it is under attack.
create index form_submissions_sent on form_submissions (form_id, last_sent_at) where form_id is not null and last_sent_at is not null;
create index form_submissions_address on form_submissions (project_id, address_hash, form_id);
create index form_submissions_contact on form_submissions (contact_id) where contact_id is not null;
-- A choice is asked for once.
create unique index form_submissions_choice on form_submissions (contact_id, topic_ids)
  where form_id is null and status in ('RECEIVED', 'PENDING');
create index form_submissions_bulk on form_submissions (project_id, sent_at) where bulk and sent_at is not null;

-- The confirmations of the last 24 hours by hash of the address, over all projects: CONFIRMATIONS_PER_ADDRESS_PER_DAY.
create table confirmations_sent (
  address_hash bytea not null,
  at timestamptz not null default now()
);
create index confirmations_sent_address on confirmations_sent (address_hash, at);
create index confirmations_sent_age on confirmations_sent (at);

-- Proofs of work that were used, until their tokens expire.
create table form_challenges_used (
  hash bytea primary key,
  expires_at timestamptz not null
);
create index form_challenges_used_age on form_challenges_used (expires_at);

-- Of confirmation emails, and of those that link to the page of a contact who has everything already. Without a contact the
-- contact_id is that of the address (contact_id_of_address), and the API shows null.
alter table emails add submission_id uuid;
create index emails_submission on emails (submission_id) where submission_id is not null;
