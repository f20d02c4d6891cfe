-- Carries the counts of activity over to the counters: subjects 'activity/hours' and 'activity/days'. The lock of the
-- aggregation keeps workers of the previous version from moving deltas meanwhile, the locks of the tables let writers finish
-- first.
select pg_advisory_xact_lock(x'61637476'::integer);
lock table activity_deltas, human_activity_deltas, activity_hours, removed_execution_hours in access exclusive mode;
insert into activity_hours as h (project_id, hour, sent, delivered, opened, clicked, human_opened, human_clicked, bounced,
  refused, complained, workflows_started, workflows_completed)
select project_id, date_trunc('hour', at, 'UTC'), coalesce(sum(delta) filter (where kind = 'sent'), 0),
  coalesce(sum(delta) filter (where kind = 'delivered'), 0), coalesce(sum(delta) filter (where kind = 'opened'), 0),
  coalesce(sum(delta) filter (where kind = 'clicked'), 0), coalesce(sum(delta) filter (where kind = 'humanOpened'), 0),
  coalesce(sum(delta) filter (where kind = 'humanClicked'), 0), coalesce(sum(delta) filter (where kind = 'bounced'), 0),
  coalesce(sum(delta) filter (where kind = 'refused'), 0), coalesce(sum(delta) filter (where kind = 'complained'), 0),
  coalesce(sum(delta) filter (where kind = 'started'), 0), coalesce(sum(delta) filter (where kind = 'completed'), 0)
from (select * from activity_deltas union all select * from human_activity_deltas) deltas group by 1, 2
on conflict (project_id, hour) do update set sent = h.sent + excluded.sent, delivered = h.delivered + excluded.delivered,
  opened = h.opened + excluded.opened, clicked = h.clicked + excluded.clicked,
  human_opened = h.human_opened + excluded.human_opened, human_clicked = h.human_clicked + excluded.human_clicked,
  bounced = h.bounced + excluded.bounced, refused = h.refused + excluded.refused,
  complained = h.complained + excluded.complained, workflows_started = h.workflows_started + excluded.workflows_started,
  workflows_completed = h.workflows_completed + excluded.workflows_completed;
drop table activity_deltas, human_activity_deltas;

insert into counters (project_id, subject, period, counts)
select project_id, 'activity/' || unit || 's', period, jsonb_object_agg(name, count) from (
  select project_id, unit, date_trunc(unit, hour, 'UTC') as period, name, sum(count) as count
  from (
    select project_id, hour, name, count from activity_hours, lateral (values ('sent', sent), ('delivered', delivered),
      ('opened', opened), ('clicked', clicked), ('humanOpened', human_opened), ('humanClicked', human_clicked),
      ('bounced', bounced), ('refused', refused), ('complained', complained), ('started', workflows_started),
      ('completed', workflows_completed)) as number (name, count)
    union all
    select project_id, hour, name, count from removed_execution_hours,
      lateral (values ('startedRemoved', started), ('completedRemoved', completed)) as number (name, count)
  ) stored, (values ('hour'), ('day')) as units (unit)
  where count <> 0 group by 1, 2, 3, 4
) sums group by 1, 2, 3;

-- Until the next release, for processes of the previous version. They read `activity_hours`, which follows the counters, and
-- the deltas, of which these views show those that are left; deleting from the views does nothing. The removal of executions
-- adds to `removed_execution_hours`, the erasure of a project deletes from `activity_hours`.
create function previous_activity_hours() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from activity_hours where project_id = old.project_id and hour = old.period;
    return null;
  end if;
  insert into activity_hours (project_id, hour, sent, delivered, opened, clicked, human_opened, human_clicked, bounced, refused,
    complained, workflows_started, workflows_completed)
  select new.project_id, new.period, coalesce(sent, 0), coalesce(delivered, 0), coalesce(opened, 0), coalesce(clicked, 0),
    coalesce("humanOpened", 0), coalesce("humanClicked", 0), coalesce(bounced, 0), coalesce(refused, 0),
    coalesce(complained, 0), coalesce(started, 0), coalesce(completed, 0)
  from jsonb_to_record(new.counts) as number (sent bigint, delivered bigint, opened bigint, clicked bigint,
    "humanOpened" bigint, "humanClicked" bigint, bounced bigint, refused bigint, complained bigint, started bigint,
    completed bigint)
  on conflict (project_id, hour) do update set sent = excluded.sent, delivered = excluded.delivered, opened = excluded.opened,
    clicked = excluded.clicked, human_opened = excluded.human_opened, human_clicked = excluded.human_clicked,
    bounced = excluded.bounced, refused = excluded.refused, complained = excluded.complained,
    workflows_started = excluded.workflows_started, workflows_completed = excluded.workflows_completed;
  return null;
end $$;
create trigger previous_activity_hours after insert or update on counters for each row
  when (new.subject = 'activity/hours') execute function previous_activity_hours();
create trigger previous_activity_hours_deleted after delete on counters for each row
  when (old.subject = 'activity/hours') execute function previous_activity_hours();

create function previous_activity_deltas() returns trigger language plpgsql as $$
begin
  if tg_relid = 'activity_hours'::regclass then
    delete from counters where project_id = old.project_id
      and (subject, period) in (('activity/hours', old.hour), ('activity/days', date_trunc('day', old.hour, 'UTC')));
  elsif tg_relid = 'removed_execution_hours'::regclass then
    insert into counter_deltas (project_id, subject, period, counts)
    values (new.project_id, 'activity/hours', new.hour, jsonb_build_object(
      'startedRemoved', new.started - coalesce(old.started, 0),
      'completedRemoved', new.completed - coalesce(old.completed, 0)));
  elsif tg_op = 'INSERT' then
    insert into counter_deltas (project_id, subject, period, counts)
    values (new.project_id, 'activity/hours', date_trunc('hour', new.at, 'UTC'), jsonb_build_object(new.kind, new.delta));
    return new;
  end if;
  return null;
end $$;
create trigger previous_activity_deltas after delete on activity_hours
  for each row execute function previous_activity_deltas();
create trigger previous_activity_deltas after insert or update on removed_execution_hours
  for each row execute function previous_activity_deltas();
create view activity_deltas as
  select project_id, name as kind, period as at, value::bigint as delta, null::tid as ctid
  from counter_deltas, jsonb_each_text(counts) as number (name, value)
  where subject = 'activity/hours' and name not like 'human%' and name not like '%Removed';
create view human_activity_deltas as
  select project_id, name as kind, period as at, value::bigint as delta, null::tid as ctid
  from counter_deltas, jsonb_each_text(counts) as number (name, value)
  where subject = 'activity/hours' and name like 'human%';
create trigger previous_activity_deltas instead of insert or delete on activity_deltas
  for each row execute function previous_activity_deltas();
create trigger previous_activity_deltas instead of insert or delete on human_activity_deltas
  for each row execute function previous_activity_deltas();
