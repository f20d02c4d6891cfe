import type { Knex } from 'knex';

// Counters of sign-ups, invitations and mail run for an hour or a day; those of failed log-ins for 15 minutes.
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table auth_attempts add column window_minutes integer not null default 15');
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table auth_attempts drop column window_minutes');
}
