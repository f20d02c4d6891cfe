import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- What WEBHOOK steps are signed with, sealed. Made when it is first asked for.
    create table webhook_secrets (
      project_id uuid primary key references projects on delete cascade,
      sealed text not null,
      updated_at timestamptz not null default now()
    );
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table webhook_secrets');
}
