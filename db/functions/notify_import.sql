-- Notifies members that an import has ended. A dry run is watched while it runs.
create or replace function notify_import() returns trigger language plpgsql as $$
begin
  perform notify_members(new.project_id, 'import.finished', jsonb_build_object('jobId', new.id, 'jobType', new.type,
    'status', new.status, 'total', new.total, 'failedReason', new.failed_reason));
  return null;
end $$;

create or replace trigger jobs_notify after update of status on jobs for each row
  when (old.status is distinct from new.status and new.status in ('COMPLETED', 'FAILED')
    and new.type in ('IMPORT', 'SUPPRESSION_IMPORT') and not coalesce((new.result ->> 'dryRun')::boolean, false))
  execute function notify_import();
