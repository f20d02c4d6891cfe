-- The contacts of an import, which remain a filter of the list.
create table import_contacts (
  project_id uuid not null,
  job_id uuid not null,
  contact_id uuid not null,
  primary key (job_id, contact_id)
);
create index import_contacts_project on import_contacts (project_id);
create index import_contacts_contact on import_contacts (contact_id);

-- Finds contacts by a part of their name. Contacts without one have no entry.
create index contacts_names on contacts using gin (project_id, contact_names(data) gin_trgm_ops)
  where contact_names(data) is not null;

-- Filters and columns of lists, shared by the members of a project. At most 100 per project.
create table views (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  page text not null check (page in ('contacts', 'emails', 'executions', 'campaigns')),
  filters jsonb not null,
  columns jsonb not null,
  -- Null: created with a key, or by an account that no longer exists.
  created_by uuid,
  created_at timestamptz not null default now()
);
create index views_project on views (project_id, id);

-- Adds three types of jobs. A worker of the version before does not know them, and leaves such a job unfinished until a
-- worker of this version takes it.
alter table jobs drop constraint jobs_type_check;
alter table jobs add constraint jobs_type_check check (type in
  ('IMPORT', 'SUPPRESSION_IMPORT', 'BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE', 'BULK_ADD_TO_SEGMENT',
   'BULK_SET_FIELD', 'RETRY_EXECUTIONS', 'RENDER', 'RESEND_RECIPIENTS'));

-- When the members were last counted; null: never. The trigger segments_counted keeps it.
alter table segments add column counted_at timestamptz;

-- Of a request that broke rules: [{ field, code, message }].
alter table failed_requests add column errors jsonb not null default '[]';
