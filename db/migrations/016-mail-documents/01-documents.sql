-- Documents of the visual editor, from which bodies are rendered. See docs/decisions/mail-documents.md.

-- A document and the version of the renderer that made the body from it; both null for a body that was written as HTML.
alter table templates
  add column document jsonb,
  add column renderer_version integer,
  -- The saved blocks that the document names.
  add column saved_block_ids uuid[] not null default '{}',
  -- Rises with every change of the template and of its draft. Never falls, so that a dropped draft and a later one differ.
  add column revision integer not null default 0;

alter table template_versions
  add column document jsonb,
  add column renderer_version integer,
  -- Saved by a RENDER job.
  add column saved_by_system boolean not null default false;

alter table campaigns
  add column document jsonb,
  add column renderer_version integer,
  add column saved_block_ids uuid[] not null default '{}',
  -- Rises with every change of the content, the audience or the rate.
  add column revision integer not null default 0;

-- Changes of a template that are not live yet.
create table template_drafts (
  template_id uuid primary key references templates on delete cascade,
  project_id uuid not null,
  subject text not null,
  body text not null,
  document jsonb,
  renderer_version integer,
  saved_block_ids uuid[] not null default '{}',
  updated_at timestamptz not null default now(),
  -- Null: saved with a key.
  updated_by uuid
);
create index template_drafts_project on template_drafts (project_id);
