-- Finds the few among millions. See docs/decisions/list-totals.md. A mail that is only sent, delivered and opened never
-- gets an entry.
create index emails_rare_status on emails (project_id, status, id)
  where status in ('CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN');
-- Parts of addresses, as contacts_search.
create index suppressions_search on suppressions using gin (project_id, email gin_trgm_ops);
