-- Carries the numbers of workflows and steps over to the counters: subject 'workflow/<id>/days' and, in total, 'workflow/<id>',
-- part '<version>' or '<version>/<step id>'. The lock of the aggregation keeps workers of the previous version from moving deltas meanwhile, the
-- locks of the tables let writers finish first.
select pg_advisory_xact_lock(x'776f726b'::integer);
lock table workflow_count_deltas, workflow_counts in access exclusive mode;
insert into counters (project_id, subject, period, part, counts)
select project_id, subject, period, part, jsonb_object_agg(name, count) from (
  select project_id, subject, period, name, sum(count) as count,
    concat_ws('/', version, nullif(step_id, '00000000-0000-0000-0000-000000000000')) as part
  from (
    select project_id, workflow_id, version, step_id, day, name, count from workflow_counts
    union all
    select d.project_id, workflow_id, d.version, step_id, day, unnest(names), delta
    from workflow_count_deltas d join workflows w on w.id = workflow_id
  ) stored, lateral (values ('workflow/' || workflow_id || '/days', day::timestamp at time zone 'UTC'),
    ('workflow/' || workflow_id, '-infinity')) as place (subject, period)
  group by project_id, subject, period, version, step_id, name having sum(count) <> 0
) sums group by 1, 2, 3, 4;
truncate workflow_counts;
drop table workflow_count_deltas;

-- Until the next release, for processes of the previous version: it sums up both relations, and aggregates the second into
-- the first. The view has all numbers. It reads a function, because what it reads would otherwise be locked; deleting from it
-- does nothing. Inserting is what its moves of executions do, and its triggers until `migrate` has replaced their functions.
create function previous_workflow_counts() returns table (
  project_id uuid, workflow_id uuid, version integer, step_id uuid, day date, names text[], delta bigint
) language sql stable as $$
  select project_id, split_part(subject, '/', 2)::uuid, split_part(part, '/', 1)::integer,
    coalesce(nullif(split_part(part, '/', 2), ''), '00000000-0000-0000-0000-000000000000')::uuid,
    (period at time zone 'UTC')::date, array[name], value::bigint
  from (
    select project_id, subject, period, part, counts from counters where subject like 'workflow/%/days'
    union all
    select project_id, subject, period, part, counts from counter_deltas where subject like 'workflow/%/days'
  ) counted, jsonb_each_text(counts) as number (name, value)
$$;
create function previous_workflow_deltas() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then return null; end if;
  insert into counter_deltas (project_id, subject, period, part, counts)
  select new.project_id, 'workflow/' || new.workflow_id || '/days', new.day::timestamp at time zone 'UTC',
    concat_ws('/', new.version, nullif(new.step_id, '00000000-0000-0000-0000-000000000000')),
    jsonb_object_agg(name, new.delta)
  from unnest(new.names) as name;
  return new;
end $$;
create view workflow_count_deltas as select *, null::tid as ctid from previous_workflow_counts();
create trigger previous_workflow_deltas instead of insert or delete on workflow_count_deltas
  for each row execute function previous_workflow_deltas();
