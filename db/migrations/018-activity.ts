import type { Knex } from 'knex';

// See docs/decisions/052-counting-activity.md. Notes are only ever appended to by those who write, so that they never
// wait for one another; a worker adds them up, and readers add what is left.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table event_notes (
      project_id uuid not null,
      name text not null,
      contact_id uuid not null,
      at timestamptz not null,
      -- Whether the feed of activity shows it.
      shown boolean not null
    );
    create index event_notes_project on event_notes (project_id);

    -- Of all time. Those that retention has removed count no longer as kept.
    create table event_names (
      project_id uuid not null,
      name text not null,
      count bigint not null,
      kept bigint not null,
      shown bigint not null,
      contacts bigint not null,
      last_at timestamptz not null,
      primary key (project_id, name)
    );
    -- By hours, and the same by days of UTC. last_contacts: those whose latest event of that name is of this hour or day.
    -- Summed up from one on, they are all who have had one since.
    create table event_hours (
      project_id uuid not null,
      hour timestamptz not null,
      name text not null,
      count bigint not null,
      shown bigint not null,
      last_contacts bigint not null,
      last_at timestamptz not null,
      primary key (project_id, hour, name)
    );
    create table event_days (
      project_id uuid not null,
      day timestamptz not null,
      name text not null,
      count bigint not null,
      shown bigint not null,
      last_contacts bigint not null,
      last_at timestamptz not null,
      primary key (project_id, day, name)
    );
    create table event_contacts (
      project_id uuid not null,
      name text not null,
      contact_id uuid not null,
      last_hour timestamptz not null,
      primary key (project_id, name, contact_id)
    );

    create table activity_notes (
      project_id uuid not null,
      kind text not null,
      at timestamptz not null,
      by smallint not null
    );
    create index activity_notes_project on activity_notes (project_id);
    create table activity_hours (
      project_id uuid not null,
      hour timestamptz not null,
      sent bigint not null,
      delivered bigint not null,
      opened bigint not null,
      clicked bigint not null,
      bounced bigint not null,
      complained bigint not null,
      workflows_started bigint not null,
      workflows_completed bigint not null,
      primary key (project_id, hour)
    );

    -- For the statement, not by row: under load events come together, and then this costs half as much.
    drop trigger events_note_added on events;
    drop function note_event();
    create function note_events() returns trigger language plpgsql as $$
    begin
      insert into event_notes (project_id, name, contact_id, at, shown)
      select project_id, name, contact_id, created_at, activity_type(name, data) <> 'hidden' from added;
      insert into contact_changes (project_id, contact_id, looks)
      select e.project_id, e.contact_id, array['event.' || e.name] from added e
      where exists (select 1 from tracked_looks l where l.project_id = e.project_id and l.look = 'event.' || e.name);
      return null;
    end $$;
    create trigger events_note_added after insert on events
      referencing new table as added for each statement execute function note_events();
    insert into event_notes (project_id, name, contact_id, at, shown)
    select project_id, name, contact_id, created_at, activity_type(name, data) <> 'hidden' from events;

    -- What has happened to mails, each once, by the ledger's own times.
    create function note_activity(p_project_id uuid, p_kind text, p_before timestamptz, p_after timestamptz)
    returns void language plpgsql as $$
    begin
      if p_before is not null then insert into activity_notes values (p_project_id, p_kind, p_before, -1); end if;
      if p_after is not null then insert into activity_notes values (p_project_id, p_kind, p_after, 1); end if;
    end $$;
    -- Mostly one of them changes; a question costs a fraction of a note.
    create function note_mail() returns trigger language plpgsql as $$
    begin
      ${['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained']
        .map(
          (kind) => `if old.${kind}_at is distinct from new.${kind}_at then
        perform note_activity(new.project_id, '${kind}', old.${kind}_at, new.${kind}_at);
      end if;`,
        )
        .join('\n      ')}
      return null;
    end $$;
    create trigger emails_note_added after insert on emails for each row
      when (num_nonnulls(new.sent_at, new.delivered_at, new.opened_at, new.clicked_at, new.bounced_at, new.complained_at) > 0)
      execute function note_mail();
    create trigger emails_note_changed
      after update of sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at on emails for each row
      when ((old.sent_at, old.delivered_at, old.opened_at, old.clicked_at, old.bounced_at, old.complained_at)
        is distinct from (new.sent_at, new.delivered_at, new.opened_at, new.clicked_at, new.bounced_at, new.complained_at))
      execute function note_mail();
    insert into activity_notes (project_id, kind, at, by)
    select project_id, kind, at, 1 from emails, lateral (values ('sent', sent_at), ('delivered', delivered_at),
      ('opened', opened_at), ('clicked', clicked_at), ('bounced', bounced_at), ('complained', complained_at)
    ) as times (kind, at) where at is not null;

    -- An execution that failed or was cancelled is not completed; a retry may yet complete it.
    create function note_execution() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then
        insert into activity_notes (project_id, kind, at, by) values (new.project_id, 'started', new.started_at, 1);
      end if;
      if new.status in ('COMPLETED', 'EXITED') then
        insert into activity_notes (project_id, kind, at, by)
        values (new.project_id, 'completed', coalesce(new.completed_at, now()), 1);
      end if;
      return null;
    end $$;
    create trigger executions_note_started after insert on executions for each row execute function note_execution();
    create trigger executions_note_completed after update of status on executions for each row
      when (old.status not in ('COMPLETED', 'EXITED') and new.status in ('COMPLETED', 'EXITED'))
      execute function note_execution();
    insert into activity_notes (project_id, kind, at, by)
    select project_id, 'started', started_at, 1 from executions
    union all
    select project_id, 'completed', completed_at, 1 from executions where status in ('COMPLETED', 'EXITED');

    -- For the feed.
    create index executions_started on executions (project_id, started_at, id);
    create index executions_completed on executions (project_id, completed_at, id) where status in ('COMPLETED', 'EXITED');
    -- For what is to come.
    create index executions_delayed on executions (project_id, wake_at, id) where status = 'WAITING' and wake_at is not null;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop index executions_delayed, executions_completed, executions_started;
    drop trigger executions_note_completed on executions;
    drop trigger executions_note_started on executions;
    drop trigger emails_note_changed on emails;
    drop trigger emails_note_added on emails;
    drop trigger events_note_added on events;
    drop function note_events();
    create function note_event() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from tracked_looks where project_id = new.project_id and look = 'event.' || new.name) then
        insert into contact_changes (project_id, contact_id, looks)
        values (new.project_id, new.contact_id, array['event.' || new.name]);
      end if;
      return null;
    end $$;
    create trigger events_note_added after insert on events
      for each row execute function note_event();
    drop function note_execution(), note_mail(), note_activity(uuid, text, timestamptz, timestamptz);
    drop table activity_hours, activity_notes, event_contacts, event_days, event_hours, event_names, event_notes;
  `);
}
