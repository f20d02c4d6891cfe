import type { Knex } from 'knex';

// See docs/decisions/104-limits-per-project.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- How many custom fields the project has, kept beside the number of its contacts: the row is there before the first
    -- field, because the same statement writes both.
    alter table contact_counts add column fields integer not null default 0;
    update contact_counts c set fields = f.fields
    from (select project_id, count(*) as fields from contact_fields group by project_id) f
    where f.project_id = c.project_id;

    create function count_added_fields() returns trigger language plpgsql as $$
    begin
      update contact_counts c set fields = c.fields + a.fields
      from (select project_id, count(*) as fields from added group by project_id) a
      where a.project_id = c.project_id;
      return null;
    end $$;
    create trigger contact_fields_added after insert on contact_fields
      referencing new table as added for each statement execute function count_added_fields();

    create function count_removed_fields() returns trigger language plpgsql as $$
    begin
      update contact_counts c set fields = c.fields - r.fields
      from (select project_id, count(*) as fields from removed group by project_id) r
      where r.project_id = c.project_id;
      return null;
    end $$;
    create trigger contact_fields_removed after delete on contact_fields
      referencing old table as removed for each statement execute function count_removed_fields();

    -- How many names of tracked events the project has. Names that only the service records are not counted; the same
    -- rule as isReservedEvent in services/events/reserved.ts.
    create table event_name_counts (
      project_id uuid primary key,
      names integer not null
    );
    create function is_reserved_event(name text) returns boolean language sql immutable parallel safe as $$
      select name like 'email.%' or name in ('contact.subscribed', 'contact.unsubscribed')
        or name ~ '^segment\\..+\\.(entry|exit)$'
    $$;
    insert into event_name_counts (project_id, names)
    select project_id, count(*) from event_names where not is_reserved_event(name) group by project_id;

    create function count_added_event_names() returns trigger language plpgsql as $$
    begin
      insert into event_name_counts as c (project_id, names)
      select project_id, count(*) from added where not is_reserved_event(name) group by project_id
      on conflict (project_id) do update set names = c.names + excluded.names;
      return null;
    end $$;
    create trigger event_names_added after insert on event_names
      referencing new table as added for each statement execute function count_added_event_names();

    create function count_removed_event_names() returns trigger language plpgsql as $$
    begin
      update event_name_counts c set names = c.names - r.names
      from (
        select project_id, count(*) as names from removed where not is_reserved_event(name) group by project_id
      ) r
      where r.project_id = c.project_id;
      return null;
    end $$;
    create trigger event_names_removed after delete on event_names
      referencing old table as removed for each statement execute function count_removed_event_names();

    -- A job holds one of its project's slots from the moment its workflow is to be started until it ends. Without one it
    -- waits QUEUED, and Temporal knows nothing of it.
    alter table jobs add column admitted_at timestamptz;
    update jobs set admitted_at = created_at;
    create index jobs_open on jobs (project_id, id) where status in ('QUEUED', 'RUNNING');
    create index jobs_waiting on jobs (project_id) where status = 'QUEUED' and admitted_at is null;

    -- Bytes of all uploads of a project. The row's lock lets concurrent uploads be counted one after the other.
    create table upload_totals (
      project_id uuid primary key,
      bytes bigint not null
    );
    insert into upload_totals (project_id, bytes) select project_id, sum(size) from uploads group by project_id;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table upload_totals;
    drop index jobs_waiting, jobs_open;
    alter table jobs drop column admitted_at;
    drop trigger event_names_removed on event_names;
    drop trigger event_names_added on event_names;
    drop function count_removed_event_names(), count_added_event_names(), is_reserved_event(text);
    drop table event_name_counts;
    drop trigger contact_fields_removed on contact_fields;
    drop trigger contact_fields_added on contact_fields;
    drop function count_removed_fields(), count_added_fields();
    alter table contact_counts drop column fields;
  `);
}
