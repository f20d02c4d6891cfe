import type { Knex } from 'knex';

// What campaigns, executions, tracking and provider notices know of a mail, and what orders and bounds events.
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table emails
      -- Where the mail came from; these may be gone by now.
      add column campaign_id uuid,
      add column workflow_id uuid,
      add column execution_id uuid,
      add column step_visit integer,
      -- When it first came to pass. The status says how far the mail has got, these what has happened to it.
      add column delivered_at timestamptz,
      add column opened_at timestamptz,
      add column clicked_at timestamptz,
      add column bounced_at timestamptz,
      add column complained_at timestamptz,
      add column bounce_type text,
      drop constraint emails_status_check,
      add constraint emails_status_check check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED',
        'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN'));
    -- One mail to a contact of a campaign, one from a visit of a step: whoever comes twice finds the first.
    create unique index emails_campaign on emails (campaign_id, contact_id) where campaign_id is not null;
    create unique index emails_visit on emails (execution_id, step_visit) where execution_id is not null;
    -- Notices name a mail by the relay's id of it.
    create index emails_provider on emails (provider_message_id) where provider_message_id is not null;

    -- Given out under the contact's lock, so that of two events of a contact the later one has the higher number,
    -- whatever the clocks of the processes say. It must not be given out in blocks.
    create sequence event_positions cache 1;
    alter table events
      add column position bigint not null default nextval('event_positions'),
      -- How many workflows deep it was caused: 0 by the world.
      add column depth smallint not null default 0;
    alter sequence event_positions owned by events.position;
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table events drop column depth, drop column position;
    drop index emails_provider, emails_visit, emails_campaign;
    alter table emails
      drop column bounce_type, drop column complained_at, drop column bounced_at, drop column clicked_at,
      drop column opened_at, drop column delivered_at, drop column step_visit, drop column execution_id,
      drop column workflow_id, drop column campaign_id,
      drop constraint emails_status_check,
      add constraint emails_status_check check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED',
        'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'CANCELLED', 'UNKNOWN'));
  `);
}
