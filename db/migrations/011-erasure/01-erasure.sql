-- Rendered HTML is erased with the contact that it was rendered for.
alter table previews add column contact_id uuid;
create index previews_contact on previews (project_id, contact_id) where contact_id is not null;

-- Finds the addresses of a deleted contact in rejected rows, also within other text.
drop index job_errors_email;
create index job_errors_addresses on job_errors using gin (addresses_in(email));
