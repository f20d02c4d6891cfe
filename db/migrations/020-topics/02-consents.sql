-- Who agreed to what, when and on which wording. See docs/decisions/topics.md.

-- Every wording that was shown, once.
create table consent_texts (
  id uuid primary key,
  project_id uuid not null,
  hash bytea not null,
  text text not null,
  locale text,
  unique nulls not distinct (project_id, hash, locale)
);

-- Append-only: a trigger refuses changes but the erasure of personal data. Monthly partitions by the id, which grows with
-- time. Records of contacts that exist are kept for ever.
create table consents (
  id uuid primary key,
  project_id uuid not null,
  at timestamptz not null default now(),
  contact_id uuid not null,
  address_hash bytea not null,
  -- Null where only the hash is kept: of a deleted contact, or of a former address.
  email text,
  -- Null: all mail.
  topic_id uuid,
  action text not null check (action in ('REQUESTED', 'GRANTED', 'CONFIRMED', 'WITHDRAWN', 'DECLINED', 'EXPIRED', 'SNOOZED')),
  method text not null check (method in ('FORM', 'PAGE', 'ONE_CLICK', 'API', 'IMPORT', 'WORKFLOW', 'MEMBER', 'BOUNCE',
    'COMPLAINT', 'SYSTEM')),
  ip text,
  user_agent text,
  page_url text,
  locale text,
  form_id uuid,
  form_version integer,
  text_id uuid,
  -- The email whose link was used.
  email_id uuid,
  -- { type, id }
  actor jsonb,
  request_id text,
  -- What the caller sent as proof.
  evidence jsonb,
  -- When the contact was deleted; the row is kept for CONSENT_RETENTION_DAYS from then on.
  erased_at timestamptz
) partition by range (id);
create table consents_default partition of consents default;
create index consents_project on consents (project_id, id);
create index consents_contact on consents (project_id, contact_id, id);
create index consents_address on consents (project_id, address_hash, id);
create index consents_text on consents (project_id, text_id) where text_id is not null;
create index consents_erased on consents (erased_at) where erased_at is not null;
