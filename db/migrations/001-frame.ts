import type { Knex } from 'knex';

// Hot tables (contacts, events, emails, outbox) have no foreign key to projects: each insert would lock the project's
// row, and every request of a tenant would queue up there. Deleting a project removes its rows in the background.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table users (
      id uuid primary key,
      email text not null unique,
      password_hash text,
      email_verified boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table sessions (
      token_hash bytea primary key,
      user_id uuid not null references users on delete cascade,
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    );
    create index sessions_user on sessions (user_id);

    create table projects (
      id uuid primary key,
      name text not null,
      public_key text not null unique,
      secret_key_hash bytea not null unique,
      -- Raised by every rotation: a statement that writes compares it with the one its caller was let in with.
      key_generation integer not null default 1,
      tracking text not null default 'ENABLED' check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
      language text not null default 'en',
      disabled boolean not null default false,
      disabled_reason text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table memberships (
      project_id uuid not null references projects on delete cascade,
      user_id uuid not null references users on delete cascade,
      role text not null check (role in ('MEMBER', 'ADMIN', 'OWNER')),
      created_at timestamptz not null default now(),
      primary key (project_id, user_id)
    );
    create index memberships_user on memberships (user_id);

    create table domains (
      id uuid primary key,
      project_id uuid not null references projects on delete cascade,
      domain text not null unique,
      status text not null default 'PENDING' check (status in ('PENDING', 'VERIFIED')),
      -- Ours to answer for (the demo domain, the system sender): always verified, never checked.
      managed boolean not null default false,
      verified_at timestamptz,
      last_checked_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index domains_project on domains (project_id);

    create table contacts (
      id uuid primary key,
      project_id uuid not null,
      email text not null,
      subscribed boolean not null,
      data jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (project_id, email)
    );

    -- The one way in which a contact is written: created, or locked and patched. The row stays locked to the end of the
    -- transaction, so that whatever is recorded of a contact is recorded in order. A change of subscription is announced
    -- by an event. A function and not a statement: it tells the state before from the state after, leaves a contact that
    -- does not change untouched, and takes half the time of the same rule as common table expressions.
    create function write_contact(
      p_project_id uuid, p_email text, p_new_id uuid, p_subscribed boolean, p_subscribed_when_new boolean,
      p_patch jsonb, p_deletes jsonb, p_defaults jsonb, p_event_id uuid,
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
        insert into events (id, project_id, contact_id, name) values (p_event_id, p_project_id, known.id,
          case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end);
      end if;
    end $$;

    create table events (
      id uuid primary key,
      project_id uuid not null,
      contact_id uuid not null,
      name text not null,
      data jsonb not null default '{}',
      email_id uuid,
      created_at timestamptz not null default now()
    );
    create index events_contact on events (project_id, contact_id, id);
    create index events_name on events (project_id, name, id);

    -- The send ledger: narrow, and a due row in it is the intent to send. What is sent stands in email_contents.
    create table emails (
      id uuid primary key,
      project_id uuid not null,
      contact_id uuid not null,
      source_type text not null default 'TRANSACTIONAL' check (source_type in ('TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN')),
      -- Order of service: 0 transactional mail, 1 that of workflows. Higher ones are not folded into deliveries.
      priority smallint not null default 0,
      status text not null default 'PENDING' check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED',
        'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'CANCELLED', 'UNKNOWN')),
      reason text,
      attempts integer not null default 0,
      -- Attempts that ended on the wire, so that nobody knows whether the relay took the mail.
      unknown_outcomes integer not null default 0,
      due_at timestamptz not null default now(),
      batch_id uuid,
      provider_message_id text,
      sent_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index emails_due on emails (priority, project_id, due_at) where status = 'PENDING' and batch_id is null;
    -- A finished row keeps its batch, which leads to its delivery workflow; only unfinished ones are looked up by it.
    create index emails_batch on emails (batch_id) where status in ('PENDING', 'SENDING') and batch_id is not null;
    create index emails_project on emails (project_id, id);
    create index emails_contact on emails (project_id, contact_id, id);

    create table email_contents (
      email_id uuid primary key,
      project_id uuid not null,
      to_email text not null,
      to_name text,
      from_email text not null,
      from_name text,
      reply_to text,
      subject text not null,
      html text not null,
      created_at timestamptz not null default now()
    );

    -- Mail folded together for one delivery workflow. Who holds the lease may send; the row goes when all is settled.
    create table delivery_batches (
      id uuid primary key,
      priority smallint not null,
      lease_token uuid,
      lease_until timestamptz not null default '-infinity',
      created_at timestamptz not null default now()
    );

    create table outbox (
      id bigint generated always as identity primary key,
      lane text not null check (lane in ('mail', 'control', 'events', 'starts')),
      project_id uuid not null,
      workflow_id text not null,
      action text not null check (action in ('start', 'signal', 'cancel')),
      payload jsonb not null default '{}',
      attempts integer not null default 0,
      due_at timestamptz not null default now(),
      parked_at timestamptz,
      last_error text,
      created_at timestamptz not null default now()
    );
    create index outbox_due on outbox (lane, project_id, due_at) where parked_at is null;
    create index outbox_order on outbox (workflow_id, id);
    create index outbox_parked on outbox (parked_at) where parked_at is not null;

    create table rate_windows (
      project_id uuid primary key,
      -- Raised with every new window, so that a process can tell which one its report belongs to.
      number bigint not null default 1,
      opened_at timestamptz not null default now(),
      granted integer not null,
      -- Of those granted: known to be spent. The rest lies unspent in some process, or its spending is not told yet.
      settled integer not null,
      -- The limit was reached with grants unsettled: from then on nobody is granted more than it needs at once.
      tight boolean not null default false,
      -- What the statement that returns this row has granted: RETURNING does not see what was there before.
      last_grant integer not null
    );
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop function write_contact;
    drop table rate_windows, outbox, delivery_batches, email_contents, emails, events, contacts, domains, memberships,
      projects, sessions, users;
  `);
}
