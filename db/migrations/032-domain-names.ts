import type { Knex } from 'knex';

// A domain name is exclusive once it is verified, not once it is added. See docs/decisions/106-domain-names.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table domains
      -- Whether it has been verified at any time. One that never was is removed after a while.
      add column ever_verified boolean not null default false,
      -- When the members were told that it will be removed.
      add column removal_warned_at timestamptz;
    -- Only a change of status has ever set updated_at, so a pending one that differs was verified before.
    update domains set ever_verified = true where managed or status = 'VERIFIED' or updated_at <> created_at;

    alter table domains drop constraint domains_domain_key;
    alter table domains add constraint domains_project_domain unique (project_id, domain);
    -- Covered by the constraint above.
    drop index domains_project;
    -- Of two projects that verify a name at the same moment, one wins here.
    create unique index domains_verified on domains (domain) where status = 'VERIFIED';
    create index domains_never_verified on domains (created_at, id) where not managed and not ever_verified;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    -- Of several rows of a name only one can stay: the verified one, or else the oldest.
    delete from domains where id in (
      select id from (
        select id, row_number() over (partition by domain order by status desc, created_at, id) as place from domains
      ) ranked
      where place > 1
    );
    drop index domains_never_verified, domains_verified;
    create index domains_project on domains (project_id);
    alter table domains drop constraint domains_project_domain;
    alter table domains add constraint domains_domain_key unique (domain);
    alter table domains drop column removal_warned_at, drop column ever_verified;
  `);
}
