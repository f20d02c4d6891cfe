import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- What Temporal says is open, while somebody compares it with what ought to be. Rows of a scan go with it.
    create unlogged table open_runs (
      scan uuid not null,
      workflow_id text not null,
      workflow_type text not null,
      -- So long open that whatever it is about must be written down.
      settled boolean not null,
      at timestamptz not null default now(),
      primary key (scan, workflow_id)
    );
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table open_runs');
}
