-- Who did what, in monthly partitions of UTC. Rows hold ids; names are joined when the log is read, so that erased people
-- are ids. A trigger refuses to change rows, and retention drops whole months. See docs/decisions/audit-log.md.

create table audit_log (
  id uuid not null,
  at timestamptz not null default now(),
  -- Null for an act on an account alone.
  project_id uuid,
  -- The account whose own log shows the row: log-ins and changes of its security.
  user_id uuid,
  actor_type text not null check (actor_type in ('USER', 'KEY', 'SYSTEM')),
  -- Null for SYSTEM, and for a person who is not known, such as one who failed to log in. The project's own key pair has
  -- the project's id.
  actor_id uuid,
  ip text,
  request_id text,
  action text not null,
  target_type text,
  -- No uuid: a custom field is identified by its name.
  target_id text,
  -- By field: { from, to }, or { changed: true } for long values and secrets.
  changes jsonb not null default '{}',
  primary key (id, at)
) partition by range (at);
create table audit_log_default partition of audit_log default;
create index audit_log_project on audit_log (project_id, at, id);
create index audit_log_project_actor on audit_log (project_id, actor_id, at, id);
create index audit_log_project_action on audit_log (project_id, action, at, id);
create index audit_log_project_target on audit_log (project_id, target_id, at, id);
create index audit_log_user on audit_log (user_id, at, id) where user_id is not null;
