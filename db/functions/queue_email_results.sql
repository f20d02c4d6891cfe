-- Queues the contacts of emails whose results changed, where a tracked segment depends on them. Per statement, because email
-- is written in batches.
create or replace function queue_email_results() returns trigger language plpgsql as $$
begin
  if not exists (
    select from segment_dependencies d
    where d.dependency = 'emails' and d.project_id = any (array(select distinct project_id from after))
  ) then return null; end if;
  insert into contact_changes (project_id, contact_id, dependencies)
  select e.project_id, e.contact_id, array_agg(distinct d.dependency)
  from after e join before o using (id)
  join segment_dependencies d on d.project_id = e.project_id and d.dependency = any (email_dependencies(e.campaign_id, e.template_id, e.step_id))
  where (case when e.status in ('PENDING', 'CANCELLED') then '' else recipient_state(e.status) end, e.bounced_at is null,
      e.bounce_type, e.sent_at, e.opened_at is null, e.clicked_at is null, e.human_opened_at is null,
      e.human_clicked_at is null, e.complained_at is null, e.unsubscribed_at is null)
    is distinct from (case when o.status in ('PENDING', 'CANCELLED') then '' else recipient_state(o.status) end,
      o.bounced_at is null, o.bounce_type, o.sent_at, o.opened_at is null, o.clicked_at is null,
      o.human_opened_at is null, o.human_clicked_at is null, o.complained_at is null, o.unsubscribed_at is null)
  group by 1, 2;
  return null;
end $$;

create or replace trigger emails_queue_results after update on emails
  referencing old table as before new table as after for each statement execute function queue_email_results();
