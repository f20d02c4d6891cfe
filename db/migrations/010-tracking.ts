import type { Knex } from 'knex';

// What became of a mail after it left, and of each attempt to send it. See docs/decisions/023-notices.md.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Lists and their totals come from this index alone: by status, and by the time that ids only come near to.
    drop index emails_project;
    create index emails_project on emails (project_id, id) include (status, created_at);
    create index emails_template on emails (project_id, template_id, id) where template_id is not null;
    create index emails_campaign_page on emails (campaign_id, id) include (project_id, status) where campaign_id is not null;
    create index emails_workflow on emails (workflow_id, id) include (project_id, status) where workflow_id is not null;

    -- One row for each time that a mail was offered to the relay. Narrow, and written with the mail's result.
    create table email_attempts (
      email_id uuid not null,
      number integer not null,
      started_at timestamptz not null,
      ended_at timestamptz not null,
      outcome text not null check (outcome in ('sent', 'deferred', 'refused', 'unknown')),
      answer text,
      primary key (email_id, number)
    );

    -- What was heard of mails and is not recorded of them yet. Whoever hears something only appends here, so that nobody
    -- who clicks waits for a lock. A mail is named by its id, or by the id that the relay gave it.
    create table email_notices (
      id bigint generated always as identity primary key,
      email_id uuid,
      provider_message_id text,
      kind text not null check (kind in ('delivery', 'open', 'click', 'bounce', 'complaint')),
      bounce_type text check (bounce_type in ('Permanent', 'Transient', 'Undetermined')),
      link text,
      reason text,
      -- When it happened, by the word of whoever told us.
      at timestamptz not null default now(),
      created_at timestamptz not null default now(),
      due_at timestamptz not null default now(),
      check (email_id is not null or provider_message_id is not null)
    );
    create index email_notices_due on email_notices (due_at, id);
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    drop table email_notices, email_attempts;
    drop index emails_workflow, emails_campaign_page, emails_template, emails_project;
    create index emails_project on emails (project_id, id);
  `);
}
