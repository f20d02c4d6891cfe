import type { Knex } from 'knex';

// What a project cannot wipe by resetting itself (docs/decisions/092-wiping-projects.md), and where headers of webhooks
// are found that must be sealed (docs/decisions/107-sealed-headers.md).
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Hourly counts of the mail that a project sent before it was reset. Auto-disable and the security state add them to
    -- activity_hours; analytics do not see them.
    create table past_rate_hours (
      project_id uuid not null,
      hour timestamptz not null,
      sent bigint not null,
      bounced bigint not null,
      complained bigint not null,
      primary key (project_id, hour)
    );
    ${forgetSuppressedAddress("case when current_setting('everpost.keep_suppressed_addresses', true) = 'on' then s.email end")}

    -- For sealing headers of webhooks anew: the rows that may have some.
    create index workflow_steps_webhooks on workflow_steps (id) where type = 'WEBHOOK';
    create index workflow_versions_webhooks on workflow_versions (workflow_id, version)
      where graph @> '{"steps": [{"type": "WEBHOOK"}]}';
    create index execution_steps_requests on execution_steps (id) where request is not null;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop index execution_steps_requests, workflow_versions_webhooks, workflow_steps_webhooks;
    ${forgetSuppressedAddress('null')}
    drop table past_rate_hours;
  `);
}

/** As in 016; a reset, which deletes all contacts, keeps the list readable. */
const forgetSuppressedAddress = (email: string): string => `
  create or replace function forget_suppressed_address() returns trigger language plpgsql as $$
  begin
    update suppressions s set email = ${email}, contact_id = null from gone
    where s.project_id = gone.project_id
      and (s.contact_id = gone.id or s.address_hash = address_hash(gone.project_id, gone.email));
    return null;
  end $$;`;
