import type { Knex } from 'knex';

// See docs/decisions/030-one-condition-two-readers.md and 032-tracked-membership.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- For conditions on dates inside data: null, and never an error, for whatever is no full ISO 8601 date-time.
    -- The offset is part of the text, so the answer does not depend on any setting.
    create function iso_instant(value text) returns timestamptz
    language sql immutable strict parallel safe as $$
      select case
        when value ~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})\\?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$'
          and pg_input_is_valid(value, 'timestamptz')
        then regexp_replace(value, '(\\.[0-9]{3})[0-9]+', '\\1')::timestamptz
      end
    $$;

    create function data_keys(data jsonb) returns text[]
    language sql immutable strict parallel safe as $$
      select array(select jsonb_object_keys(data))
    $$;

    -- contacts_data answers which value a key has; this one whether there is such a key at all.
    create index contacts_data_keys on contacts using gin (project_id, data_keys(data));
    -- Who did something, how often and when: one look for a contact, one walk for all of them.
    create index events_condition on events (project_id, name, contact_id, created_at);
    -- What happened in a given minute. Events are written in the order of time, so this costs next to nothing.
    create index events_time on events using brin (created_at) with (autosummarize = on);

    create table segments (
      id uuid primary key,
      project_id uuid not null references projects on delete cascade,
      slug text not null,
      name text not null,
      description text,
      type text not null check (type in ('DYNAMIC', 'STATIC')),
      condition jsonb,
      track_membership boolean not null default false,
      member_count integer not null default 0,
      -- The condition's answer changes with time alone; up to swept_at that has been settled.
      drifts boolean not null default false,
      swept_at timestamptz not null default now(),
      -- From then on all contacts must be looked at once more.
      reconcile_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (project_id, slug),
      check ((type = 'DYNAMIC') = (condition is not null))
    );
    create index segments_drifting on segments (swept_at) where track_membership and drifts;
    create index segments_reconcile on segments (reconcile_at) where reconcile_at is not null;

    -- Who is in a static segment, and who is known to be in a tracked dynamic one. No foreign key to contacts: taking
    -- half a million of them as known would lock each; those who are deleted are removed by the trigger below.
    create table segment_members (
      segment_id uuid not null references segments on delete cascade,
      contact_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (segment_id, contact_id)
    );
    create index segment_members_contact on segment_members (contact_id);

    -- What the tracked dynamic segments of a project look at, through their references too: only a change of one of
    -- these is noted, and only the segments that look at it are evaluated.
    create table tracked_looks (
      project_id uuid not null,
      look text not null,
      segment_id uuid not null references segments on delete cascade,
      primary key (project_id, look, segment_id)
    );
    create index tracked_looks_segment on tracked_looks (segment_id);

    -- Contacts that must be looked at. Null looks: at everything about them.
    create table contact_changes (
      id bigint generated always as identity primary key,
      project_id uuid not null,
      contact_id uuid not null,
      looks text[]
    );
    create index contact_changes_project on contact_changes (project_id, id);

    -- Segments whose cached count is no longer true. Only appended to, so that nobody waits for anybody here.
    create table segment_recounts (segment_id uuid not null);

    -- By row, with one look into an index where nothing is tracked: those who write contacts and events pay for this.
    create function note_added_contact() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from tracked_looks where project_id = new.project_id) then
        insert into contact_changes (project_id, contact_id) values (new.project_id, new.id);
      end if;
      return null;
    end $$;
    create trigger contacts_note_added after insert on contacts
      for each row execute function note_added_contact();

    create function note_changed_contact() returns trigger language plpgsql as $$
    declare
      changed text[];
    begin
      if not exists (select 1 from tracked_looks where project_id = new.project_id) then return null; end if;
      changed := array(
        select distinct l.look from tracked_looks l
        where l.project_id = new.project_id and case l.look
          when 'email' then new.email <> old.email
          when 'subscribed' then new.subscribed <> old.subscribed
          when 'createdAt' then new.created_at <> old.created_at
          when 'updatedAt' then new.updated_at <> old.updated_at
          else l.look like 'data.%' and (new.data -> substr(l.look, 6)) is distinct from (old.data -> substr(l.look, 6))
        end);
      if cardinality(changed) > 0 then
        insert into contact_changes (project_id, contact_id, looks) values (new.project_id, new.id, changed);
      end if;
      return null;
    end $$;
    create trigger contacts_note_changed after update on contacts
      for each row execute function note_changed_contact();

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

    -- Events go by the million, and rarely.
    create function note_removed_events() returns trigger language plpgsql as $$
    begin
      insert into contact_changes (project_id, contact_id, looks)
      select distinct e.project_id, e.contact_id, array['event.' || e.name] from removed e
      where exists (select 1 from tracked_looks l where l.project_id = e.project_id and l.look = 'event.' || e.name);
      return null;
    end $$;
    create trigger events_note_removed after delete on events
      referencing old table as removed for each statement execute function note_removed_events();

    create function forget_members() returns trigger language plpgsql as $$
    begin
      with left_out as (
        delete from segment_members m using gone where m.contact_id = gone.id returning m.segment_id
      )
      insert into segment_recounts select distinct segment_id from left_out;
      return null;
    end $$;
    create trigger contacts_forget_members after delete on contacts
      referencing old table as gone for each statement execute function forget_members();
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger contacts_forget_members on contacts;
    drop trigger events_note_removed on events;
    drop trigger events_note_added on events;
    drop trigger contacts_note_changed on contacts;
    drop trigger contacts_note_added on contacts;
    drop function forget_members(), note_removed_events(), note_event(), note_changed_contact(), note_added_contact();
    drop table segment_recounts, contact_changes, tracked_looks, segment_members, segments;
    drop index events_time, events_condition, contacts_data_keys;
    drop function data_keys(jsonb), iso_instant(text);
  `);
}
