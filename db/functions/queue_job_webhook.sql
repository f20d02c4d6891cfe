-- Queues job.completed and job.failed.
create or replace function queue_job_webhook() returns trigger language plpgsql as $$
begin
  perform queue_webhook(new.project_id, case new.status when 'FAILED' then 'job.failed' else 'job.completed' end, null,
    job_json(new));
  return null;
end $$;

create or replace trigger jobs_queue_webhook after update of status on jobs for each row
  when (old.status is distinct from new.status and new.status in ('COMPLETED', 'FAILED'))
  execute function queue_job_webhook();
