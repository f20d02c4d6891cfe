-- Queues the contact of a clicked link, where a tracked segment depends on links.
create or replace function queue_clicked_link() returns trigger language plpgsql as $$
begin
  if not exists (select from segment_dependencies d where d.project_id = new.project_id and d.dependency = 'links') then
    return null;
  end if;
  insert into contact_changes (project_id, contact_id, dependencies)
  select e.project_id, e.contact_id, array_agg(d.dependency)
  from emails e join segment_dependencies d on d.project_id = e.project_id and d.dependency = any (email_dependencies(e.campaign_id, e.template_id, e.step_id))
  where e.project_id = new.project_id and e.id = new.email_id
  group by 1, 2;
  return null;
end $$;

create or replace trigger campaign_link_clicks_queue after insert or update on campaign_link_clicks
  for each row execute function queue_clicked_link();
