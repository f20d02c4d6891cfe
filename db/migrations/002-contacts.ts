import type { Knex } from 'knex';

// See docs/decisions/010-counting-contacts.md and 011-finding-contacts.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create extension if not exists pg_trgm;
    create extension if not exists btree_gin;

    -- The merged data of a contact. Looking at the text only when the binary form is large keeps small writes cheap.
    alter table contacts add constraint contacts_data_size
      check (pg_column_size(data) <= 131072 or octet_length(data::text) <= 131072);

    -- Lists by time; with both states of subscription side by side it serves the filter and, merged, its absence.
    create index contacts_created on contacts (project_id, subscribed, created_at, id);
    -- The project is part of both: a common word in somebody else's addresses costs nothing.
    create index contacts_search on contacts using gin (project_id, email gin_trgm_ops);
    create index contacts_data on contacts using gin (project_id, data jsonb_path_ops);

    create table contact_counts (
      project_id uuid primary key,
      contacts bigint not null,
      subscribed bigint not null
    );
    -- The type is that of the first value seen and stays; contacts is how many have the key.
    create table contact_fields (
      project_id uuid not null,
      key text not null,
      type text not null check (type in ('number', 'boolean', 'date', 'string')),
      contacts bigint not null,
      primary key (project_id, key)
    );
    -- What has changed since the two above were last brought up to date. Only ever appended to by those who write
    -- contacts, so that they never wait for one another here.
    create table contact_count_deltas (
      project_id uuid not null,
      contacts smallint not null,
      subscribed smallint not null,
      -- Keys with the type of their value, and keys alone.
      gained jsonb,
      lost jsonb,
      at timestamptz not null default clock_timestamp()
    );
    create index contact_count_deltas_project on contact_count_deltas (project_id, at);

    create function contact_value_type(value jsonb) returns text language sql immutable parallel safe as $$
      select case jsonb_typeof(value)
        when 'number' then 'number'
        when 'boolean' then 'boolean'
        when 'string' then
          case when value #>> '{}' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})\\?Z)\\?$'
            then 'date' else 'string' end
        else 'string'
      end
    $$;

    create function count_added_contact() returns trigger language plpgsql as $$
    begin
      insert into contact_count_deltas (project_id, contacts, subscribed, gained)
      values (new.project_id, 1, new.subscribed::integer,
        (select jsonb_object_agg(key, contact_value_type(value)) from jsonb_each(new.data)));
      return null;
    end $$;
    create trigger contacts_count_added after insert on contacts
      for each row execute function count_added_contact();

    create function count_changed_contact() returns trigger language plpgsql as $$
    begin
      insert into contact_count_deltas (project_id, contacts, subscribed, gained, lost)
      values (new.project_id, 0, new.subscribed::integer - old.subscribed::integer,
        (select jsonb_object_agg(key, contact_value_type(value)) from jsonb_each(new.data) where not old.data \\? key),
        (select jsonb_agg(key) from jsonb_object_keys(old.data) as key where not new.data \\? key));
      return null;
    end $$;
    -- Two objects have the same keys when neither adds anything to the other; that is cheaper than listing the keys.
    create trigger contacts_count_changed after update on contacts
      for each row
      when (old.subscribed <> new.subscribed or old.data || new.data <> new.data or new.data || old.data <> old.data)
      execute function count_changed_contact();

    create function count_removed_contact() returns trigger language plpgsql as $$
    begin
      insert into contact_count_deltas (project_id, contacts, subscribed, lost)
      values (old.project_id, -1, -old.subscribed::integer,
        (select jsonb_agg(key) from jsonb_object_keys(old.data) as key));
      return null;
    end $$;
    create trigger contacts_count_removed after delete on contacts
      for each row execute function count_removed_contact();

    insert into contact_count_deltas (project_id, contacts, subscribed, gained, at)
    select project_id, 1, subscribed::integer,
      (select jsonb_object_agg(key, contact_value_type(value)) from jsonb_each(data)), created_at
    from contacts;

    -- A contact changed by its id. The address first, so that the rules of write_contact are the only ones.
    create function change_contact(
      p_project_id uuid, p_id uuid, p_email text, p_subscribed boolean, p_patch jsonb, p_deletes jsonb, p_event_id uuid,
      out id uuid, out is_changed boolean
    ) language plpgsql as $$
    declare
      address text;
      written record;
    begin
      select c.email into address from contacts c where c.project_id = p_project_id and c.id = p_id for update;
      if not found then return; end if;
      if p_email <> address then
        update contacts c set email = p_email, updated_at = now() where c.id = p_id;
      end if;
      written := write_contact(p_project_id, coalesce(p_email, address), null, p_subscribed, null,
        p_patch, p_deletes, '{}', p_event_id);
      id := p_id;
      is_changed := written.is_changed or coalesce(p_email <> address, false);
    end $$;

    -- A contact as it is now, for a statement that has just written it: its own snapshot is older than its writes.
    create function contact_now(p_id uuid) returns setof contacts language plpgsql volatile rows 1 as $$
    begin
      return query select * from contacts c where c.id = p_id;
    end $$;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function contact_now(uuid), change_contact(uuid, uuid, text, boolean, jsonb, jsonb, uuid);
    drop trigger contacts_count_added on contacts;
    drop trigger contacts_count_changed on contacts;
    drop trigger contacts_count_removed on contacts;
    drop function count_added_contact(), count_changed_contact(), count_removed_contact(), contact_value_type(jsonb);
    drop table contact_count_deltas, contact_fields, contact_counts;
    drop index contacts_data, contacts_search, contacts_created;
    alter table contacts drop constraint contacts_data_size;
  `);
}
