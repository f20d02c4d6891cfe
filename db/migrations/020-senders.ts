import type { Knex } from 'knex';

// See docs/decisions/080-domain-checks.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Stands for the set of the project's verified domains: who knows that a domain belongs to it knows so for as long as
    -- this stays the same. Drawn by lot and not counted, so that one that was rolled back never comes again.
    alter table projects add column senders_version uuid not null default gen_random_uuid();

    -- In the transaction of the change, whoever makes it: from its commit on the old version is no longer to be seen.
    -- The row of the project is locked after that of the domain. Of two changes at once the second waits there, so there
    -- is no version that two sets have had.
    create function renew_senders_version() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' and old.status = 'VERIFIED' then
        update projects set senders_version = gen_random_uuid() where id = old.project_id;
      end if;
      if tg_op <> 'DELETE' and new.status = 'VERIFIED' then
        update projects set senders_version = gen_random_uuid() where id = new.project_id;
      end if;
      return null;
    end $$;
    create trigger domains_sender_added after insert on domains
      for each row when (new.status = 'VERIFIED') execute function renew_senders_version();
    create trigger domains_sender_changed after update on domains
      for each row when ((old.status, old.domain, old.project_id) is distinct from (new.status, new.domain, new.project_id))
      execute function renew_senders_version();
    create trigger domains_sender_gone after delete on domains
      for each row when (old.status = 'VERIFIED') execute function renew_senders_version();
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop trigger domains_sender_gone on domains;
    drop trigger domains_sender_changed on domains;
    drop trigger domains_sender_added on domains;
    drop function renew_senders_version();
    alter table projects drop column senders_version;
  `);
}
