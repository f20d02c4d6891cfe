import type { Knex } from 'knex';

// See docs/decisions/069-one-statement-per-step.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- An execution at its place, with its contact: all that most steps are decided by. "seen" names the versions of both
    -- rows: as long as it is the same nobody has written either.
    create view execution_places as
      select e.id, e.project_id, e.workflow_id, w.name as workflow_name, e.version, e.contact_id, e.status,
        e.current_step_id, e.visit, e.context, e.cut, e.wake_at, e.awaits, e.depth, e.generation, e.started_at,
        c.email, c.subscribed, c.data, c.created_at, c.updated_at, e.xmin::text || '/' || c.xmin::text as seen
      from executions e
      left join contacts c on c.id = e.contact_id
      left join workflows w on w.id = e.workflow_id;

    -- An execution that is to take a step, under its contact's lock and its own; what the step does to the contact is one
    -- workflow deeper than what caused the execution. A function: what it reads is as new as the locks it waited for.
    drop function hold_execution(uuid);
    create function hold_execution(p_id uuid) returns setof execution_places language plpgsql rows 1 as $$
    declare
      held execution_places;
    begin
      perform 1 from contacts where id = (select contact_id from executions where id = p_id) for update;
      perform 1 from executions where id = p_id for update;
      if not found then return; end if;
      select * into held from execution_places where id = p_id;
      perform set_config('everpost.depth', (held.depth + 1)::text, true);
      return next held;
    end $$;

    -- A step: what it does, its record and the place after it. With "p_seen" for whoever holds no locks: nothing happens
    -- where somebody has written the execution or its contact since. Gives back the execution at its new place.
    -- A visit has one record, whoever tries it how often: a retry goes on with it. What is WAITING or RUNNING is not over.
    create function move_execution(
      p_id uuid, p_seen text, p_record jsonb, p_place jsonb, p_change jsonb, p_mail jsonb
    ) returns setof execution_places language plpgsql rows 1 as $$
    declare
      held record;
    begin
      if p_seen is not null then
        perform 1 from hold_execution(p_id) as now where now.seen = p_seen;
        if not found then return; end if;
      end if;
      select e.project_id, e.workflow_id, e.contact_id, e.visit, e.context into held from executions e where e.id = p_id;
      if p_change is not null then
        perform change_contact(held.project_id, held.contact_id, null, (p_change ->> 'subscribed')::boolean,
          p_change -> 'patch', p_change -> 'deletes', (p_change ->> 'eventId')::uuid, '{"reason": "workflow"}',
          cascade_depth()::integer);
      end if;
      if p_mail is not null then
        -- One mail from a visit, however often it is made. event.* is the context of the execution.
        with mail as (
          insert into emails (id, project_id, contact_id, source_type, priority, template_id, workflow_id, execution_id,
            step_visit)
          values ((p_mail ->> 'id')::uuid, held.project_id, held.contact_id, 'WORKFLOW',
            (p_mail ->> 'priority')::smallint, (p_mail ->> 'templateId')::uuid, held.workflow_id, p_id, held.visit)
          on conflict (execution_id, step_visit) where execution_id is not null do nothing
          returning id
        )
        insert into email_contents (email_id, project_id, to_email, from_email, from_name, reply_to, subject, html, type,
          variables)
        select mail.id, held.project_id, p_mail ->> 'to', p_mail ->> 'from', p_mail ->> 'fromName', p_mail ->> 'replyTo',
          p_mail ->> 'subject', p_mail ->> 'html', p_mail ->> 'type', jsonb_build_object('event', held.context)
        from mail;
        if not found then
          p_record := jsonb_set(p_record, '{output,emailId}',
            (select to_jsonb(id) from emails where execution_id = p_id and step_visit = held.visit));
        end if;
      end if;
      insert into execution_steps as s (id, project_id, execution_id, visit, step_id, type, name, status, branch, output,
        error, request, scheduled_for, completed_at)
      select r.id, held.project_id, p_id, held.visit, r.step_id, r.type, r.name, r.status, r.branch, r.output, r.error,
        r.request, r.scheduled_for, case when r.status not in ('RUNNING', 'WAITING') then now() end
      from jsonb_to_record(p_record) as r (id uuid, step_id uuid, type text, name text, status text, branch text,
        output jsonb, error text, request jsonb, scheduled_for timestamptz)
      on conflict (execution_id, visit) do update set status = excluded.status, branch = excluded.branch,
        output = coalesce(excluded.output, s.output), error = excluded.error, request = excluded.request,
        scheduled_for = coalesce(excluded.scheduled_for, s.scheduled_for),
        attempt = s.attempt + (s.status = 'FAILED')::integer, completed_at = excluded.completed_at,
        started_at = case when s.status = 'FAILED' then now() else s.started_at end;
      update executions e set status = p.status, current_step_id = p.step_id, visit = p.visit,
        context = coalesce(p.context, e.context), cut = coalesce(p.cut, e.cut), wake_at = p.wake_at, awaits = p.awaits,
        exit_reason = p.exit_reason, error = p.error, updated_at = now(),
        completed_at = case when p.status not in ('RUNNING', 'WAITING') then now() end
      from jsonb_to_record(p_place) as p (status text, step_id uuid, visit integer, context jsonb, cut bigint,
        wake_at timestamptz, awaits text, exit_reason text, error text)
      where e.id = p_id;
      return query select * from execution_places where id = p_id;
    end $$;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function move_execution(uuid, text, jsonb, jsonb, jsonb, jsonb);
    drop function hold_execution(uuid);
    drop view execution_places;
    create function hold_execution(p_id uuid) returns setof executions language plpgsql rows 1 as $$
    declare
      held executions;
    begin
      select * into held from executions where id = p_id;
      perform 1 from contacts where id = held.contact_id for update;
      select * into held from executions where id = p_id for update;
      if not found then return; end if;
      perform set_config('everpost.depth', (held.depth + 1)::text, true);
      return next held;
    end $$;
  `);
}
