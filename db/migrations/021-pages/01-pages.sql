-- Settings of the hosted pages, what can be undone, and campaigns' counts of topics that were left. See docs/decisions/pages.md.

create table project_pages (
  project_id uuid primary key references projects on delete cascade,
  -- The sender of email that no template, form or topic gives one.
  from_email text,
  sender_name text,
  logo_key text references uploads on delete set null,
  -- #rrggbb
  color text,
  css text,
  imprint text,
  privacy_url text,
  updated_at timestamptz not null default now()
);
create index project_pages_logo on project_pages (logo_key) where logo_key is not null;

-- What a change on a page has changed, so that it can be undone for a day.
create table page_changes (
  id uuid primary key,
  project_id uuid not null,
  contact_id uuid not null,
  at timestamptz not null default now(),
  -- { topics: { <id>: { before, consentId, isOwn } }, subscribed, snoozedUntil, frequency: { before, after }, lastConsentId }
  change jsonb not null
);
create index page_changes_project on page_changes (project_id);
create index page_changes_at on page_changes (at);

-- When the recipient left the email's topic. A column without a default: no row is written.
alter table emails add topic_unsubscribed_at timestamptz;
