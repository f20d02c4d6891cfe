import type { Knex } from 'knex';

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

    -- One answers which value a key has, the other whether there is such a key at all.
    create index if not exists contacts_data on contacts using gin (data jsonb_path_ops);
    create index contacts_data_keys on contacts using gin (data_keys(data));
    -- Who did something, how often and when: one look for a contact, one walk for all of them.
    create index events_condition on events (project_id, name, contact_id, created_at);

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
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (project_id, slug),
      check ((type = 'DYNAMIC') = (condition is not null))
    );

    -- Who is in a static segment, and who is known to be in a tracked dynamic one. No foreign key to contacts: taking
    -- half a million of them as known would lock each; those who leave are removed by the trigger below.
    create table segment_members (
      segment_id uuid not null references segments on delete cascade,
      contact_id uuid not null,
      created_at timestamptz not null default now(),
      primary key (segment_id, contact_id)
    );
    create index segment_members_contact on segment_members (contact_id);

    create function forget_members() returns trigger language plpgsql as $$
    begin
      delete from segment_members m using gone where m.contact_id = gone.id;
      return null;
    end $$;
    create trigger contacts_forget_members after delete on contacts
      referencing old table as gone for each statement execute function forget_members();
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger contacts_forget_members on contacts;
    drop function forget_members();
    drop table segment_members, segments;
    drop index events_condition, contacts_data_keys;
    drop function data_keys(jsonb), iso_instant(text);
  `);
}
