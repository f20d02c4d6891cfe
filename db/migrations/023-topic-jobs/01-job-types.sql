-- Adds two types of jobs. A worker of the version before does not know them, and leaves such a job unfinished until a worker
-- of this version takes it.
alter table jobs drop constraint jobs_type_check;
alter table jobs add constraint jobs_type_check check (type in
  ('IMPORT', 'SUPPRESSION_IMPORT', 'BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE', 'BULK_ADD_TO_SEGMENT',
   'BULK_SET_FIELD', 'BULK_TOPIC_SUBSCRIBE', 'BULK_TOPIC_UNSUBSCRIBE', 'RETRY_EXECUTIONS', 'RENDER', 'RESEND_RECIPIENTS'));
