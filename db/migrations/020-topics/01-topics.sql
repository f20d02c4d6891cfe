-- Topics, what contacts chose, and what was left. See docs/decisions/topics.md.

create table topics (
  id uuid primary key,
  project_id uuid not null,
  -- Fixed, as is the kind: events, conditions and List-Id contain it.
  key text collate "C" not null,
  name text not null,
  description text not null default '',
  kind text not null check (kind in ('MARKETING', 'NOTIFICATION')),
  -- The state of contacts without a choice that are created from now on; topic_defaults has the former ones.
  default_state text not null check (default_state in ('SUBSCRIBED', 'UNSUBSCRIBED')),
  visibility text not null check (visibility in ('PUBLIC', 'PRIVATE')),
  double_opt_in boolean not null default false,
  -- { templateId, from, fromName, reminderAfterHours, expiresAfterHours }
  confirmation jsonb,
  consent_text text not null default '',
  -- By locale: { name, description, consentText }.
  translations jsonb not null default '{}',
  position integer not null,
  archived boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, key)
);

-- The default in force from a moment on, for contacts created after it. The first row of a topic is from -infinity, so a
-- new topic writes no row per contact.
create table topic_defaults (
  topic_id uuid not null references topics on delete cascade,
  since timestamptz not null,
  project_id uuid not null,
  state text not null check (state in ('SUBSCRIBED', 'UNSUBSCRIBED')),
  primary key (topic_id, since)
);
create index topic_defaults_project on topic_defaults (project_id);

-- Choices. A contact without a row has the default that was in force when it was created.
create table contact_topics (
  contact_id uuid not null,
  topic_id uuid not null,
  project_id uuid not null,
  state text not null check (state in ('SUBSCRIBED', 'UNSUBSCRIBED', 'PENDING')),
  -- The state without the choice, which never changes for an existing contact.
  default_state text not null,
  -- Of a PENDING one: the choice that counts again when it expires; null if there was none.
  before_pending text,
  since timestamptz not null default now(),
  -- When the contact left the topic. Null for what the service set, which is no act of the person.
  withdrawn_at timestamptz,
  consent_id uuid,
  primary key (contact_id, topic_id)
);
create index contact_topics_topic on contact_topics (project_id, topic_id, state);

-- What deleted contacts had left, so that an address that is created or imported again starts UNSUBSCRIBED there. A null
-- topic stands for all mail.
create table withdrawals (
  project_id uuid not null,
  address_hash bytea not null,
  topic_id uuid,
  at timestamptz not null,
  unique nulls not distinct (project_id, address_hash, topic_id)
);

alter table contacts add snoozed_until timestamptz;
-- The contact's own limit: { count, per }.
alter table contacts add frequency jsonb;
-- Counts of audiences leave out who has snoozed.
create index contacts_snoozed on contacts (project_id, snoozed_until) where snoozed_until is not null;

alter table projects add topic_required boolean not null default false;
