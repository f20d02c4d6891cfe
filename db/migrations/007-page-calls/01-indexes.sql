-- For lists of the web application that took longer the more a project had. See docs/decisions/list-totals.md.
-- Programs of the version before use these indexes for the same statements.

-- Finds the mails of any state among millions, also where there are none. The index before had the rare states only.
create index emails_status on emails (project_id, status, id);
drop index emails_rare_status;

create index suppressions_reason on suppressions (project_id, reason, id);

-- As the index before, and counts deliveries without reading them.
create index webhook_deliveries_listed on webhook_deliveries (endpoint_id, id) include (project_id);
drop index webhook_deliveries_endpoint;
create index webhook_deliveries_failed on webhook_deliveries (endpoint_id, id) include (project_id) where status = 'FAILED';
