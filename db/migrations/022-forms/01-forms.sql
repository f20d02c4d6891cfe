-- Forms and what visitors submit. See docs/decisions/forms.md.

create table forms (
  id uuid primary key,
  project_id uuid not null,
  -- Fixed: events and webhooks contain it.
  key text collate "C" not null,
  name text not null,
  status text not null check (status in ('ACTIVE', 'PAUSED')),
  -- Empty: consent to all mail.
  topic_ids uuid[] not null,
  -- [{ key, label, type, required, options, maxLength, default }]
  fields jsonb not null,
  consent_text text not null,
  consent_required boolean not null,
  privacy_url text,
  double_opt_in boolean not null,
  confirm text not null check (confirm in ('LINK', 'BUTTON')),
  from_email text,
  from_name text,
  confirmation_template_id uuid,
  -- Fractions outside production only. Null: no reminder.
  reminder_after_hours double precision,
  expires_after_hours double precision not null,
  -- { submitted, confirmed, already, declined, expired }
  redirects jsonb not null,
  allowed_origins text[] not null,
  block_disposable boolean not null,
  capture_timezone boolean not null,
  capture_locale boolean not null,
  -- By locale: { name, consentText, submitLabel, labels }.
  translations jsonb not null,
  -- { color, css }
  design jsonb not null,
  submit_label text,
  -- The number of its newest version.
  version integer not null default 1,
  -- Since when it is under attack, and when that was last true.
  attacked_since timestamptz,
  attack_seen_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The row stays for the links and records of its submissions.
  deleted_at timestamptz
);
create unique index forms_key on forms (project_id, key) where deleted_at is null;
create index forms_topics on forms using gin (topic_ids) where deleted_at is null;
create index forms_template on forms (confirmation_template_id) where confirmation_template_id is not null;

-- Fields and texts as visitors saw them.
create table form_versions (
  form_id uuid not null references forms on delete cascade,
  version integer not null,
  project_id uuid not null,
  fields jsonb not null,
  consent_text text not null,
  consent_required boolean not null,
  privacy_url text,
  translations jsonb not null,
  submit_label text,
  created_at timestamptz not null default now(),
  primary key (form_id, version)
);
create index form_versions_project on form_versions (project_id);

-- Whether topic_required has been switched on by the first form with topics, or set by a person: then no form changes it.
alter table projects add topic_required_decided boolean not null default false;
update projects set topic_required_decided = true where topic_required;
