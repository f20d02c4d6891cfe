-- The same as queue_email_results for an email that is written with its result.
create or replace function queue_added_email() returns trigger language plpgsql as $$
begin
  insert into contact_changes (project_id, contact_id, dependencies)
  select new.project_id, new.contact_id, dependencies from (
    select array_agg(d.dependency) as dependencies from segment_dependencies d
    where d.project_id = new.project_id and d.dependency = any (email_dependencies(new.campaign_id, new.template_id, new.step_id))
  ) used where dependencies is not null;
  return null;
end $$;

create or replace trigger emails_queue_added after insert on emails for each row
  when (new.status <> 'PENDING') execute function queue_added_email();
