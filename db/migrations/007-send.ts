import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- The template that subject or body came from; it may be gone by now.
    alter table emails add column template_id uuid;

    alter table email_contents
      -- What the mail's own request said, stored on the contact or not: it wins over what the contact has by then.
      add column variables jsonb,
      add column headers jsonb,
      add column type text not null default 'TRANSACTIONAL' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
      add column attachment_set uuid;
    create index email_contents_attachments on email_contents (attachment_set) where attachment_set is not null;

    -- The files of one request, once for all of its recipients. A set goes with the last mail that has it.
    create table email_attachments (
      set_id uuid not null,
      position smallint not null,
      filename text not null,
      content_type text not null,
      content_id text,
      disposition text not null check (disposition in ('attachment', 'inline')),
      content bytea not null,
      primary key (set_id, position)
    );
    -- Most files are compressed as they are.
    alter table email_attachments alter column content set storage external;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table email_attachments;
    alter table email_contents drop column variables, drop column headers, drop column type,
      drop column attachment_set;
    alter table emails drop column template_id;
  `);
}
