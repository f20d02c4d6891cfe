import type { Knex } from 'knex';

// What keeps mail from leaving, and how fast all of it may leave. See docs/decisions/042-holding.md and 043-send-rate.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Why nothing of the project may leave just now, for whoever has a reason of their own (a billing cap). Who sets it
    -- back to null calls releaseHeld.
    alter table projects add column sending_held_reason text;

    -- The one place that decides whether mail may leave: null, or the reason why it is held. With an empty domain
    -- the sender's is not looked at. Our own mail (services/system) is sent from a domain that belongs to nobody.
    -- In plpgsql, which keeps its plans.
    create function sending_hold(p_project_id uuid, p_domain text) returns text language plpgsql stable as $$
    declare
      project record;
    begin
      select p.disabled, p.sending_held_reason into project from projects p where p.id = p_project_id;
      if not found or project.disabled then return 'project disabled'; end if;
      if project.sending_held_reason is not null then return project.sending_held_reason; end if;
      if p_domain <> '' and p_project_id <> '00000000-0000-7000-8000-000000000001' and not exists (
        select 1 from domains d where d.project_id = p_project_id and d.domain = p_domain and d.status = 'VERIFIED'
      ) then return 'domain not verified'; end if;
      return null;
    end $$;

    -- Of mail that is held: the sender's domain, so that it is known when the cause has ended; empty where none counts.
    alter table emails add column held_domain text;
    create index emails_held on emails (project_id, held_domain) where held_domain is not null and status = 'PENDING';

    -- From when on the next mail may leave, over all workers. One row.
    create table send_pace (
      only_one boolean primary key default true check (only_one),
      next_at timestamptz not null
    );
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table send_pace;
    drop index emails_held;
    alter table emails drop column held_domain;
    drop function sending_hold(uuid, text);
    alter table projects drop column sending_held_reason;
  `);
}
