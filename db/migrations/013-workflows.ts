import type { Knex } from 'knex';

// See docs/decisions/060-executions.md and 061-events-to-executions.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table workflows (
      id uuid primary key,
      project_id uuid not null references projects on delete cascade,
      name text not null,
      description text,
      trigger_type text not null default 'EVENT' check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE')),
      trigger_config jsonb not null default '{}',
      enabled boolean not null default false,
      allow_reentry boolean not null default false,
      -- The newest version of the graph, and the newest that may be started. An enabled workflow has one.
      version integer not null default 1,
      valid_version integer,
      -- The event that starts it at this moment.
      event_name text generated always as
        (case when enabled and trigger_type = 'EVENT' then trigger_config ->> 'eventName' end) stored,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check (not enabled or valid_version is not null)
    );
    create index workflows_project on workflows (project_id, created_at, id);
    -- Asked for every event that is recorded.
    create index workflows_event on workflows (project_id, event_name) where event_name is not null;

    -- The graph as it was at some time, never changed again; executions share it.
    create table workflow_versions (
      workflow_id uuid not null references workflows on delete cascade,
      version integer not null,
      -- { steps: [..], transitions: [..] }
      graph jsonb not null,
      -- What its steps send, so that a template in use is found.
      template_ids uuid[] not null default '{}',
      created_at timestamptz not null default now(),
      primary key (workflow_id, version)
    );
    create index workflow_versions_templates on workflow_versions using gin (template_ids);

    -- The graph as it is edited.
    create table workflow_steps (
      id uuid primary key,
      project_id uuid not null,
      workflow_id uuid not null references workflows on delete cascade,
      type text not null check (type in ('SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK',
        'UPDATE_CONTACT', 'EXIT')),
      name text not null,
      position jsonb not null default '{"x": 0, "y": 0}',
      config jsonb not null default '{}',
      template_id uuid,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index workflow_steps_workflow on workflow_steps (workflow_id, id);
    create index workflow_steps_template on workflow_steps (template_id) where template_id is not null;

    create table workflow_transitions (
      id uuid primary key,
      project_id uuid not null,
      workflow_id uuid not null references workflows on delete cascade,
      from_step_id uuid not null references workflow_steps on delete cascade,
      to_step_id uuid not null references workflow_steps on delete cascade,
      branch text check (branch in ('yes', 'no', 'event', 'timeout')),
      created_at timestamptz not null default now()
    );
    create unique index workflow_transitions_exit on workflow_transitions (from_step_id, coalesce(branch, ''));
    create index workflow_transitions_to on workflow_transitions (to_step_id);
    create index workflow_transitions_workflow on workflow_transitions (workflow_id, id);

    -- No foreign keys: the workflow's row is locked by whoever starts executions, a thousand at once, and what is left of
    -- a deleted workflow is removed in the background.
    create table executions (
      id uuid primary key,
      project_id uuid not null,
      workflow_id uuid not null,
      version integer not null,
      contact_id uuid not null,
      status text not null default 'RUNNING' check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED',
        'CANCELLED')),
      -- Its place: the step, and the how manieth step of its way that is. A FAILED one keeps it, for a retry.
      current_step_id uuid,
      visit integer not null default 1,
      context jsonb not null default '{}',
      -- Only events behind this position count for a wait.
      cut bigint not null,
      -- While WAITING: until when, and for which event.
      wake_at timestamptz,
      awaits text,
      -- How many workflows deep it was caused; its own events are one deeper.
      depth smallint not null default 0,
      -- Raised whenever it is brought back: each is a workflow of its own to Temporal.
      generation integer not null default 1,
      -- Whether its contact may never come again.
      once boolean not null,
      exit_reason text,
      error text,
      started_at timestamptz not null default now(),
      completed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    -- The rule of re-entry, exact whoever comes at the same time.
    create unique index executions_once on executions (workflow_id, contact_id) where once;
    create unique index executions_active on executions (workflow_id, contact_id) where status in ('RUNNING', 'WAITING');
    create index executions_workflow on executions (workflow_id, id);
    create index executions_contact on executions (project_id, contact_id, id);
    -- Which versions are needed: by those on their way, and by those that may be retried.
    create index executions_version on executions (workflow_id, version) where status in ('RUNNING', 'WAITING', 'FAILED');
    -- Asked for every event that is recorded.
    create index executions_awaiting on executions (project_id, contact_id, awaits) where awaits is not null;
    -- For whoever compares them with what Temporal has.
    create index executions_unfinished on executions (id) where status in ('RUNNING', 'WAITING');

    create table execution_steps (
      id uuid primary key,
      project_id uuid not null,
      execution_id uuid not null,
      visit integer not null,
      step_id uuid not null,
      type text not null,
      name text not null,
      status text not null check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED')),
      branch text,
      output jsonb,
      error text,
      attempt integer not null default 1,
      -- What a WEBHOOK asks, the same at every attempt.
      request jsonb,
      scheduled_for timestamptz,
      started_at timestamptz not null default now(),
      completed_at timestamptz,
      unique (execution_id, visit)
    );

    -- Executions of workflows that have been deleted, to be removed piece by piece.
    create table workflow_removals (workflow_id uuid primary key);

    -- Ticks of SCHEDULE workflows that have been begun, and the contacts that shall still enter: all who were in the
    -- segment at the tick. One that has entered is gone from here in the same transaction.
    create table workflow_ticks (
      workflow_id uuid not null references workflows on delete cascade,
      -- Temporal's name for it.
      tick text not null,
      created_at timestamptz not null default now(),
      primary key (workflow_id, tick)
    );
    create table workflow_tick_contacts (
      workflow_id uuid not null,
      tick text not null,
      contact_id uuid not null,
      primary key (workflow_id, tick, contact_id),
      foreign key (workflow_id, tick) references workflow_ticks on delete cascade
    );

    -- Events that some workflow or execution wants.
    create table event_queue (
      id bigint generated always as identity primary key,
      project_id uuid not null,
      event_id uuid not null,
      -- In which month it is.
      event_created_at timestamptz not null,
      due_at timestamptz not null default now()
    );
    create index event_queue_due on event_queue (project_id, due_at);

    -- How many workflows deep the present transaction was caused.
    create function cascade_depth() returns smallint language sql stable as $$
      select coalesce(nullif(current_setting('everpost.depth', true), ''), '0')::smallint
    $$;
    alter table events alter column depth set default cascade_depth();
    -- A change of a contact may move it into a segment or out of it, which is an event again.
    alter table contact_changes add column depth smallint not null default cascade_depth();

    -- An execution that is to take a step, under its contact's lock and its own; what the step does to the contact is one
    -- workflow deeper than what caused the execution. A function: what it reads is as new as the locks it waited for.
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

    -- Ends executions that are on their way, with the visit that each is at, and has Temporal clean up behind it. Final
    -- when it commits. A function, since a visit may have begun while its execution's lock was waited for.
    create function cancel_executions(p_ids uuid[], p_reason text) returns integer language plpgsql as $$
    declare
      ended uuid[];
    begin
      with gone as (
        update executions set status = 'CANCELLED', exit_reason = p_reason, wake_at = null, awaits = null,
          completed_at = now(), updated_at = now()
        where id in (select e.id from executions e where e.id = any (p_ids) and e.status in ('RUNNING', 'WAITING')
          order by e.id for update)
        returning id
      )
      select array_agg(id) into ended from gone;
      if ended is null then return 0; end if;
      update execution_steps set status = 'CANCELLED', completed_at = now(), request = null
      where execution_id = any (ended) and status in ('RUNNING', 'WAITING');
      insert into outbox (lane, project_id, workflow_id, action)
      select 'control', project_id, 'execution/' || project_id || '/' || id || '/' || generation, 'cancel'
      from executions where id = any (ended);
      return cardinality(ended);
    end $$;

    -- Events are written under their contact's lock, and so are waits: whoever comes second sees the first.
    create function queue_event() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from workflows where project_id = new.project_id and event_name = new.name)
        or exists (select 1 from executions
          where project_id = new.project_id and contact_id = new.contact_id and awaits = new.name)
      then
        insert into event_queue (project_id, event_id, event_created_at)
        values (new.project_id, new.id, new.created_at);
      end if;
      return null;
    end $$;
    create trigger events_queue after insert on events for each row execute function queue_event();

    -- Carried out in order with the rest of what concerns a workflow id.
    alter table outbox drop constraint outbox_action_check,
      add constraint outbox_action_check check (action in ('start', 'signal', 'cancel', 'schedule', 'unschedule'));
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    delete from outbox where action in ('schedule', 'unschedule');
    alter table outbox drop constraint outbox_action_check,
      add constraint outbox_action_check check (action in ('start', 'signal', 'cancel'));
    drop trigger events_queue on events;
    drop function queue_event();
    alter table contact_changes drop column depth;
    alter table events alter column depth set default 0;
    drop function cascade_depth();
    drop function hold_execution(uuid), cancel_executions(uuid[], text);
    drop table event_queue, workflow_tick_contacts, workflow_ticks, workflow_removals, execution_steps, executions, workflow_transitions,
      workflow_steps, workflow_versions, workflows;
  `);
}
