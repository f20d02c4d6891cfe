import type { Knex } from 'knex';

// See docs/decisions/050-one-door-for-events.md and 051-time-partitions.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ${partitions}
    ${partitionedEvents}
    ${partitionedContents}
    -- The door for events inside functions; statements have the same in db/models/event-writing.ts. The contact must be
    -- locked. Whoever wants to know of events has a trigger on the table.
    create function record_event(
      p_id uuid, p_project_id uuid, p_contact_id uuid, p_name text, p_data jsonb, p_email_id uuid, p_depth integer
    ) returns void language plpgsql as $$
    begin
      insert into events (id, project_id, contact_id, name, data, email_id, depth)
      values (p_id, p_project_id, p_contact_id, p_name, p_data, p_email_id, coalesce(p_depth, cascade_depth()));
    end $$;
    ${writeContact(
      ", p_event_data jsonb default '{}', p_depth integer default null",
      `perform record_event(p_event_id, p_project_id, known.id,
          case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, p_event_data, null, p_depth);`,
    )}
    ${changeContact(", p_event_data jsonb default '{}', p_depth integer default null", ', p_event_data, p_depth')}
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    ${writeContact(
      '',
      `insert into events (id, project_id, contact_id, name) values (p_event_id, p_project_id, known.id,
          case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end);`,
    )}
    ${changeContact('', '')}
    drop function record_event(uuid, uuid, uuid, text, jsonb, uuid, integer);
    ${wholeEvents}
    ${wholeContents}
    drop function add_month(text, date), activity_type(text, jsonb), uuid_floor(timestamptz);
  `);
}

/** As 001 has it, but that the announcement of a changed subscription says why, and how deep in workflows it came. */
const writeContact = (parameters: string, announce: string): string => `
    drop function write_contact;
    create function write_contact(
      p_project_id uuid, p_email text, p_new_id uuid, p_subscribed boolean, p_subscribed_when_new boolean,
      p_patch jsonb, p_deletes jsonb, p_defaults jsonb, p_event_id uuid${parameters},
      out id uuid, out subscribed boolean, out is_new boolean, out is_changed boolean
    ) language plpgsql as $$
    declare
      known record;
      new_data jsonb;
    begin
      loop
        select c.id, c.subscribed, c.data into known
        from contacts c where c.project_id = p_project_id and c.email = p_email for update;
        exit when found;
        insert into contacts as c (id, project_id, email, subscribed, data)
        values (p_new_id, p_project_id, p_email, coalesce(p_subscribed, p_subscribed_when_new), p_defaults || p_patch)
        on conflict (project_id, email) do nothing
        returning c.id, c.subscribed, true, true into id, subscribed, is_new, is_changed;
        -- Otherwise somebody else has just created it: now it can be seen.
        if found then return; end if;
      end loop;

      id := known.id;
      is_new := false;
      subscribed := coalesce(p_subscribed, known.subscribed);
      new_data := known.data;
      if p_deletes <> '[]' then new_data := new_data - array(select jsonb_array_elements_text(p_deletes)); end if;
      new_data := p_defaults || new_data || p_patch;
      is_changed := subscribed <> known.subscribed or new_data <> known.data;
      if is_changed then
        update contacts c set subscribed = write_contact.subscribed, data = new_data, updated_at = now()
        where c.id = known.id;
      end if;
      if subscribed <> known.subscribed then
        ${announce}
      end if;
    end $$;`;

/** As 002 has it. */
const changeContact = (parameters: string, handedOn: string): string => `
    drop function change_contact;
    create function change_contact(
      p_project_id uuid, p_id uuid, p_email text, p_subscribed boolean, p_patch jsonb, p_deletes jsonb,
      p_event_id uuid${parameters}, out id uuid, out is_changed boolean
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
        p_patch, p_deletes, '{}', p_event_id${handedOn});
      id := p_id;
      is_changed := written.is_changed or coalesce(p_email <> address, false);
    end $$;`;

/** Months of UTC. Events are cut by their time, contents by their mail's id, which grows with time and is all one knows. */
const partitions = `
    create function uuid_floor(at timestamptz) returns uuid language sql immutable strict parallel safe as $$
      select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
    $$;

    -- Makes the partition of a month, with what has gathered in the default partition for it. False: it is there.
    create function add_month(p_table text, p_month date) returns boolean language plpgsql as $$
    declare
      part text := p_table || to_char(p_month, '_YYYY_MM');
      rest text := p_table || '_default';
      key text := case p_table when 'events' then 'created_at' else 'email_id' end;
      first timestamptz := p_month::timestamp at time zone 'UTC';
      next timestamptz := (p_month + interval '1 month') at time zone 'UTC';
      low text := case p_table when 'events' then first::text else uuid_floor(first)::text end;
      high text := case p_table when 'events' then next::text else uuid_floor(next)::text end;
    begin
      if to_regclass(part) is not null then return false; end if;
      execute format('lock table %I in share update exclusive mode', p_table);
      if to_regclass(part) is not null then return false; end if;
      execute format('lock table %I in access exclusive mode', rest);
      execute format('create table %I (like %I including all excluding indexes)', part, p_table);
      execute format('with moved as (delete from %I where %I >= %L and %I < %L returning *) insert into %I select * from moved',
        rest, key, low, key, high, part);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)', p_table, part, low, high);
      return true;
    end $$;

    -- What an event is in the feed of activity: hidden when it is not shown there, as later opens of a mail are not.
    create function activity_type(name text, data jsonb) returns text language sql immutable parallel safe as $$
      select case
        when name like 'email.%' then case name
          when 'email.sent' then 'email.sent'
          when 'email.delivery' then 'email.delivered'
          when 'email.open' then case when data -> 'isFirst' = 'false' then 'hidden' else 'email.opened' end
          when 'email.click' then case when data -> 'isFirst' = 'false' then 'hidden' else 'email.clicked' end
          when 'email.bounce' then 'email.bounced'
          when 'email.complaint' then 'email.complained'
          when 'email.failed' then 'email.failed'
          else 'hidden'
        end
        when name in ('contact.subscribed', 'contact.unsubscribed') then name
        when name like 'segment._%.entry' or name like 'segment._%.exit' then 'hidden'
        else 'event.triggered'
      end
    $$;`;

const eventTriggers = `
    create trigger events_note_added after insert on events
      for each row execute function note_event();
    create trigger events_note_removed after delete on events
      referencing old table as removed for each statement execute function note_removed_events();`;

const fromFirstMonth = (table: string, time: string): string => `
    do $$ begin
      perform add_month('${table}', month::date) from generate_series(
        (select date_trunc('month', coalesce(min(${time}), now()) at time zone 'UTC') from ${table}_default),
        date_trunc('month', now() at time zone 'UTC') + interval '3 months', interval '1 month') month;
    end $$;`;

const partitionedEvents = `
    alter table events rename to events_whole;
    alter table events_whole rename constraint events_pkey to events_whole_pkey;
    create table events (
      id uuid not null,
      project_id uuid not null,
      contact_id uuid not null,
      name text not null,
      data jsonb not null default '{}',
      email_id uuid,
      created_at timestamptz not null default now(),
      position bigint not null default nextval('event_positions'),
      depth smallint not null default 0,
      primary key (id, created_at)
    ) partition by range (created_at);
    create table events_default partition of events default;
    alter sequence event_positions owned by events.position;
    insert into events (id, project_id, contact_id, name, data, email_id, created_at, position, depth)
    select id, project_id, contact_id, name, data, email_id, created_at, position, depth from events_whole;
    drop table events_whole;
    ${fromFirstMonth('events', 'created_at')}
    create index events_contact on events (project_id, contact_id, created_at, id);
    create index events_name on events (project_id, name, created_at, id);
    create index events_condition on events (project_id, name, contact_id, created_at);
    create index events_activity on events (project_id, activity_type(name, data), created_at, id);
    -- For retention. Events are written in the order of time, so this costs next to nothing.
    create index events_time on events using brin (created_at) with (autosummarize = on);
    ${eventTriggers}`;

const wholeEvents = `
    alter table events rename to events_parted;
    alter table events_parted rename constraint events_pkey to events_parted_pkey;
    drop index events_contact, events_name, events_condition, events_activity, events_time;
    create table events (
      id uuid primary key,
      project_id uuid not null,
      contact_id uuid not null,
      name text not null,
      data jsonb not null default '{}',
      email_id uuid,
      created_at timestamptz not null default now(),
      position bigint not null default nextval('event_positions'),
      depth smallint not null default 0
    );
    alter sequence event_positions owned by events.position;
    insert into events select * from events_parted;
    drop table events_parted;
    create index events_contact on events (project_id, contact_id, id);
    create index events_name on events (project_id, name, id);
    create index events_condition on events (project_id, name, contact_id, created_at);
    create index events_time on events using brin (created_at) with (autosummarize = on);
    ${eventTriggers}`;

const contentColumns = `
      project_id uuid not null,
      to_email text not null,
      to_name text,
      from_email text not null,
      from_name text,
      reply_to text,
      subject text not null,
      html text not null,
      created_at timestamptz not null default now(),
      variables jsonb,
      headers jsonb,
      type text not null default 'TRANSACTIONAL' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
      attachment_set uuid,
      rendered_subject text`;

const partitionedContents = `
    alter table email_contents rename to contents_whole;
    alter table contents_whole rename constraint email_contents_pkey to contents_whole_pkey;
    create table email_contents (email_id uuid primary key, ${contentColumns}) partition by range (email_id);
    create table email_contents_default partition of email_contents default;
    insert into email_contents select * from contents_whole;
    drop table contents_whole;
    ${fromFirstMonth('email_contents', 'created_at')}
    create index email_contents_attachments on email_contents (attachment_set) where attachment_set is not null;`;

const wholeContents = `
    alter table email_contents rename to contents_parted;
    alter table contents_parted rename constraint email_contents_pkey to contents_parted_pkey;
    drop index email_contents_attachments;
    create table email_contents (email_id uuid primary key, ${contentColumns});
    insert into email_contents select * from contents_parted;
    drop table contents_parted;
    create index email_contents_attachments on email_contents (attachment_set) where attachment_set is not null;`;
