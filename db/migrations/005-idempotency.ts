import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- A key that is there means that its work is done: it is written in the transaction of the work.
    create table idempotency_keys (
      project_id uuid not null,
      key text not null,
      request text not null,
      status_code integer not null,
      -- The ids that the answer gave, for a client that lost it.
      response jsonb not null,
      created_at timestamptz not null default now(),
      primary key (project_id, key)
    );
    create index idempotency_keys_age on idempotency_keys (created_at);
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table idempotency_keys');
}
