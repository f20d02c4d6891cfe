-- Counts the results of mails that steps have sent, by the day of each result.
create or replace function count_step_mails() returns trigger language plpgsql as $$
begin
  if not exists (select 1 from after where execution_id is not null) then return null; end if;
  insert into counter_deltas (project_id, subject, period, part, counts)
  select project_id, 'workflow/' || workflow_id || '/days', day, part, jsonb_object_agg('mail:' || name, count) from (
    select mail.project_id, e.workflow_id, date_trunc('day', times.at, 'UTC') as day, e.version || '/' || s.step_id as part,
      times.name, sum(delta) as count
    from (
      select project_id, execution_id, step_visit, sent_at, delivered_at, opened_at, clicked_at, human_opened_at,
        human_clicked_at, bounced_at, unsubscribed_at, -1 as delta from before where execution_id is not null
      union all
      select project_id, execution_id, step_visit, sent_at, delivered_at, opened_at, clicked_at, human_opened_at,
        human_clicked_at, bounced_at, unsubscribed_at, 1 from after where execution_id is not null
    ) mail
    join executions e on e.id = mail.execution_id
    join workflows w on w.id = e.workflow_id
    join execution_steps s on s.execution_id = mail.execution_id and s.visit = mail.step_visit,
      lateral (values ('sent', sent_at), ('delivered', delivered_at), ('opened', opened_at), ('clicked', clicked_at),
        ('peopleOpened', least(human_opened_at, human_clicked_at)), ('humanClicked', human_clicked_at), ('bounced', bounced_at),
        ('unsubscribed', unsubscribed_at)) as times (name, at)
    where times.at is not null
    group by 1, 2, 3, 4, 5 having sum(delta) <> 0
  ) changed group by 1, 2, 3, 4;
  return null;
end $$;

create or replace trigger emails_count_step_mails after update on emails
  referencing old table as before new table as after for each statement execute function count_step_mails();
