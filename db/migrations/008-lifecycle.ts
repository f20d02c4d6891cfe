import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Whether the event of a mail's result is recorded. Delivery writes the ledger alone; the relay tells the rest.
    alter table emails add column told boolean not null default false;
    create index emails_untold on emails (id) where not told and (sent_at is not null or status = 'FAILED');
    -- What the subject became, where it has variables; it is erased with the rest of the content.
    alter table email_contents add column rendered_subject text;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table email_contents drop column rendered_subject;
    alter table emails drop column told;
  `);
}
