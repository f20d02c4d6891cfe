import type { Knex } from 'knex';

// What the condition of a segment uses, written whenever it is saved: so no other condition is read to check one. All
// null until the service has read a condition from before this migration.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table segments
      -- Filters of its own tree.
      add column filter_count integer,
      -- { "<segment id>": how many filters name it }
      add column refers_to jsonb,
      -- What it looks at by itself, as in tracked_looks.
      add column looks text[],
      -- Whether its own filters change with time alone; drifts says it of those that it refers to as well.
      add column drifts_itself boolean;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table segments drop column filter_count, drop column refers_to, drop column looks, drop column drifts_itself;
  `);
}
