import type { Knex } from 'knex';

// `composing` is null until a lease of the batch ran out instead of being released. From then on its mails are composed
// one at a time, and each is listed here, once per try, from before it is composed until that has ended.
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table delivery_batches add column composing uuid[]');
}

export async function down(db: Knex): Promise<void> {
  await db.raw('alter table delivery_batches drop column composing');
}
