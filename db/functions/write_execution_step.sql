-- Writes one step: its change of the contact, its record and the execution's new state. Its email is written by the same
-- statement (services/workflows/records.ts). With p_row_versions (for a caller without locks) nothing happens where the
-- execution or its contact was written since. Returns the execution's new state. A visit has one record, however often it
-- is tried: a retry continues it. WAITING and RUNNING are not completed.
create or replace function write_execution_step(
  p_id uuid, p_row_versions text, p_record jsonb, p_state jsonb, p_change jsonb, p_mail jsonb default null
) returns setof execution_states language plpgsql rows 1 as $$
declare
  before record;
  since timestamptz;
  -- Not now(): the transaction may have waited for its locks while another one took the step before.
  moment timestamptz;
  next_step uuid := (p_state ->> 'step_id')::uuid;
  this_step uuid := (p_record ->> 'step_id')::uuid;
  is_moving boolean;
begin
  if p_row_versions is not null then
    perform 1 from lock_execution(p_id) as now where now.row_versions = p_row_versions;
    if not found then return; end if;
  end if;
  moment := clock_timestamp();
  select e.project_id, e.workflow_id, e.version, e.contact_id, e.visit, e.context, e.current_step_id into before from executions e where e.id = p_id;
  if p_change is not null then
    perform update_contact(before.project_id, before.contact_id, null, (p_change ->> 'subscribed')::boolean,
      p_change -> 'patch', p_change -> 'deletes', (p_change ->> 'eventId')::uuid, jsonb_build_object(
        'reason', 'workflow', 'consent', jsonb_build_object('method', 'WORKFLOW', 'workflowId', before.workflow_id)),
      cascade_depth()::integer);
  end if;
  if p_change -> 'topics' is not null then
    perform choose_topics(before.project_id, before.contact_id, p_change -> 'topics',
      jsonb_build_object('method', 'WORKFLOW', 'workflowId', before.workflow_id), cascade_depth()::integer);
  end if;
  -- Only the previous version gives its mail. The next version drops the parameter.
  if p_mail is not null then
    insert into email_bodies (id, project_id, html, shared)
    values ((p_mail ->> 'bodyId')::uuid, before.project_id, p_mail ->> 'html', true) on conflict do nothing;
    -- One mail per visit, however often it is tried. event.* is the context of the execution.
    with mail as (
      insert into emails (id, project_id, contact_id, source_type, priority, template_id, workflow_id, execution_id,
        step_visit)
      values ((p_mail ->> 'id')::uuid, before.project_id, before.contact_id, 'WORKFLOW',
        (p_mail ->> 'priority')::smallint, (p_mail ->> 'templateId')::uuid, before.workflow_id, p_id, before.visit)
      on conflict (execution_id, step_visit) where execution_id is not null do nothing
      returning id
    )
    insert into email_contents (email_id, project_id, body_id, to_email, from_email, from_name, reply_to, subject, type,
      variables)
    select mail.id, before.project_id, (p_mail ->> 'bodyId')::uuid, p_mail ->> 'to', p_mail ->> 'from',
      p_mail ->> 'fromName', p_mail ->> 'replyTo', p_mail ->> 'subject', p_mail ->> 'type',
      jsonb_build_object('event', before.context)
    from mail;
  end if;
  -- A visit that is tried again has sent its email.
  if p_record #> '{output,emailId}' is not null then
    p_record := coalesce(jsonb_set(p_record, '{output,emailId}',
      (select to_jsonb(id) from emails where execution_id = p_id and step_visit = before.visit)), p_record);
  end if;
  insert into execution_steps as s (id, project_id, execution_id, visit, step_id, type, name, status, branch, output,
    error, request, scheduled_for, started_at, completed_at)
  select r.id, before.project_id, p_id, before.visit, r.step_id, r.type, r.name, r.status, r.branch, r.output, r.error,
    r.request, r.scheduled_for, moment, case when r.status not in ('RUNNING', 'WAITING') then moment end
  from jsonb_to_record(p_record) as r (id uuid, step_id uuid, type text, name text, status text, branch text,
    output jsonb, error text, request jsonb, scheduled_for timestamptz)
  on conflict (execution_id, visit) do update set status = excluded.status, branch = excluded.branch,
    output = coalesce(excluded.output, s.output), error = excluded.error, request = excluded.request,
    scheduled_for = case when excluded.status = 'WAITING' then excluded.scheduled_for
      else coalesce(excluded.scheduled_for, s.scheduled_for) end,
    attempt = s.attempt + (s.status = 'FAILED')::integer, completed_at = excluded.completed_at,
    started_at = case when s.status = 'FAILED' then moment else s.started_at end
  returning s.started_at into since;
  update executions e set status = p.status, current_step_id = p.step_id, visit = p.visit,
    context = coalesce(p.context, e.context), after_position = coalesce(p.after_position, e.after_position),
    wake_at = p.wake_at, awaited_event = p.awaited_event, exit_reason = p.exit_reason, error = p.error, updated_at = moment,
    completed_at = case when p.status not in ('RUNNING', 'WAITING') then moment end
  from jsonb_to_record(p_state) as p (status text, step_id uuid, visit integer, context jsonb, after_position bigint,
    wake_at timestamptz, awaited_event text, exit_reason text, error text)
  where e.id = p_id;
  -- The numbers of the steps. That it ends is counted by count_workflow.
  is_moving := (p_state ->> 'visit')::integer > before.visit;
  if is_moving or before.current_step_id is null or p_record ->> 'status' in ('COMPLETED', 'SKIPPED') then
    insert into counter_deltas (project_id, subject, period, part, counts)
    select before.project_id, 'workflow/' || before.workflow_id || '/days', date_trunc('day', now(), 'UTC'),
      before.version || '/' || step_id, counts
    from (values
      (this_step, array[
        case when before.current_step_id is null then 'entered' end,
        case when is_moving then 'left' end,
        case p_record ->> 'status' when 'COMPLETED' then 'passed' when 'SKIPPED' then 'skipped' end,
        'branch:' || (p_record ->> 'branch'),
        case p_record ->> 'status' when 'COMPLETED' then 'time:' || time_bucket(moment - since) end]),
      (case when is_moving then next_step end, array['entered'])) as counted (step_id, names),
      lateral (select jsonb_object_agg(name, 1) as counts from unnest(names) as name where name is not null) as numbers
    where step_id is not null and counts is not null;
  end if;
  return query select * from execution_states where id = p_id;
end $$;
