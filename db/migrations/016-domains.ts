import type { Knex } from 'knex';

// Sender domains that are checked, their keys, and the addresses that a project must not write to.
// See docs/decisions/080-domain-checks.md and 081-suppression.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table domains
      -- Part of the id of its workflow: a loop that was lost is started again under the next one, and an old one ends.
      add column generation integer not null default 1,
      add column loop_started_at timestamptz not null default now(),
      -- In a row, since it was last found to be in order.
      add column failed_checks integer not null default 0,
      -- What the last look at each record found, by its type and name.
      add column checks jsonb not null default '{}';
    create index domains_checked on domains (last_checked_at) where not managed;

    -- One of them signs. Another may be there before it (published ahead of a rotation) or after it (mail on its way).
    create table domain_keys (
      id uuid primary key,
      domain_id uuid not null references domains on delete cascade,
      selector text not null,
      -- Sealed with SECRET_KEY, bound to this row's id.
      private_key text not null,
      public_key text not null,
      signs boolean not null default false,
      created_at timestamptz not null default now(),
      unique (domain_id, selector)
    );
    create unique index domain_keys_signing on domain_keys (domain_id) where signs;

    -- It outlives the contact, of whose address only the hash is left then.
    create table suppressions (
      id uuid primary key,
      project_id uuid not null,
      address_hash bytea not null,
      email text,
      contact_id uuid,
      reason text not null check (reason in ('HARD_BOUNCE', 'COMPLAINT')),
      email_id uuid,
      created_at timestamptz not null default now(),
      unique (project_id, address_hash)
    );
    create index suppressions_project on suppressions (project_id, id);
    create index suppressions_contact on suppressions (contact_id) where contact_id is not null;

    -- With the project inside: the same address is not recognised from one tenant's list in another's. Stable, and not
    -- immutable as it could be: so it is inlined, which makes it four times as fast.
    create function address_hash(p_project_id uuid, p_email text) returns bytea language sql stable parallel safe as $$
      select sha256(convert_to(p_project_id::text || ' ' || p_email, 'UTF8'))
    $$;

    -- For functions of the database; statements have the same in db/models/suppression.ts. In plpgsql, which keeps the
    -- plan: SQL would make it anew for every statement that calls this.
    create function is_suppressed(p_project_id uuid, p_email text) returns boolean language plpgsql stable as $$
    begin
      return exists (
        select 1 from suppressions s
        where s.project_id = p_project_id and s.address_hash = address_hash(p_project_id, p_email)
          and s.reason = 'HARD_BOUNCE');
    end $$;

    -- Whichever way a contact is created: one who has bounced or complained before starts unsubscribed.
    create function start_unsubscribed() returns trigger language plpgsql as $$
    begin
      if exists (
        select 1 from suppressions s
        where s.project_id = new.project_id and s.address_hash = address_hash(new.project_id, new.email)
      ) then new.subscribed := false; end if;
      return new;
    end $$;
    create trigger contacts_start_unsubscribed before insert on contacts
      for each row when (new.subscribed) execute function start_unsubscribed();

    -- Nor does a change of address lead around that; this one is a change of subscription, so it is announced.
    create function unsubscribe_moved() returns trigger language plpgsql as $$
    begin
      if exists (
        select 1 from suppressions s
        where s.project_id = new.project_id and s.address_hash = address_hash(new.project_id, new.email)
      ) then
        new.subscribed := false;
        perform record_event(uuidv7(), new.project_id, new.id, 'contact.unsubscribed', '{"reason": "suppressed"}', null, 0);
      end if;
      return new;
    end $$;
    create trigger contacts_unsubscribe_moved before update of email on contacts
      for each row when (new.email <> old.email and new.subscribed) execute function unsubscribe_moved();

    create function forget_suppressed_address() returns trigger language plpgsql as $$
    begin
      update suppressions s set email = null, contact_id = null from gone
      where s.project_id = gone.project_id
        and (s.contact_id = gone.id or s.address_hash = address_hash(gone.project_id, gone.email));
      return null;
    end $$;
    create trigger contacts_forget_suppressed after delete on contacts
      referencing old table as gone for each statement execute function forget_suppressed_address();

    -- Notices of a provider that have been dealt with, by its ids: they may come again for days.
    create table received_notices (
      id text primary key,
      received_at timestamptz not null default now()
    );
    create index received_notices_age on received_notices (received_at);
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table received_notices;
    drop trigger contacts_forget_suppressed on contacts;
    drop trigger contacts_unsubscribe_moved on contacts;
    drop trigger contacts_start_unsubscribed on contacts;
    drop function forget_suppressed_address(), unsubscribe_moved(), start_unsubscribed(), is_suppressed(uuid, text);
    drop table suppressions;
    drop function address_hash(uuid, text);
    drop table domain_keys;
    alter table domains drop column checks, drop column failed_checks, drop column loop_started_at,
      drop column generation;
  `);
}
