-- Adds the type of jobs that retry failed executions. A worker of the version before does not know it, and leaves such a
-- job unfinished until a worker of this version takes it.
alter table jobs drop constraint jobs_type_check;
alter table jobs add constraint jobs_type_check check (type in
  ('IMPORT', 'SUPPRESSION_IMPORT', 'BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE', 'RETRY_EXECUTIONS'));
