-- Addresses that were typed on the page of /preferences, until a worker has decided about them: who asks must not see from the
-- time of the answer whether the address is a contact.
create table preference_requests (
  id uuid primary key,
  project_id uuid not null,
  email text not null,
  at timestamptz not null default now()
);
create index preference_requests_project on preference_requests (project_id);
