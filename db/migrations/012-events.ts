import type { Knex } from 'knex';

// See docs/decisions/050-one-door-for-events.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- The door for events inside functions; statements have the same in db/models/event-writing.ts. The contact must be
    -- locked. Whoever wants to know of events has a trigger on the table.
    create function record_event(
      p_id uuid, p_project_id uuid, p_contact_id uuid, p_name text, p_data jsonb, p_email_id uuid, p_depth integer
    ) returns void language plpgsql as $$
    begin
      insert into events (id, project_id, contact_id, name, data, email_id, depth)
      values (p_id, p_project_id, p_contact_id, p_name, p_data, p_email_id, p_depth);
    end $$;
    ${writeContact(
      ", p_event_data jsonb default '{}', p_depth integer default 0",
      `perform record_event(p_event_id, p_project_id, known.id,
          case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, p_event_data, null, p_depth);`,
    )}
    ${changeContact(", p_event_data jsonb default '{}', p_depth integer default 0", ', p_event_data, p_depth')}
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
