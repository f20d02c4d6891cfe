-- Queues project.disabled and project.enabled. A reset, which locks the project while it erases the queue too, and a
-- deletion are neither.
create or replace function queue_project_webhook() returns trigger language plpgsql as $$
begin
  perform queue_webhook(new.id, case when new.disabled then 'project.disabled' else 'project.enabled' end, null,
    jsonb_build_object('projectId', new.id, 'reason', new.disabled_reason));
  return null;
end $$;

create or replace trigger projects_queue_webhook after update of disabled on projects for each row
  when (old.disabled is distinct from new.disabled and new.deleted_at is null
    and coalesce(new.disabled_reason, old.disabled_reason, '') <> 'its data is being wiped')
  execute function queue_project_webhook();
