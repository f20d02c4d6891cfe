import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table templates (
      id uuid primary key,
      project_id uuid not null references projects on delete cascade,
      name text not null,
      description text,
      subject text not null,
      body text not null,
      from_email text,
      from_name text,
      reply_to text,
      type text not null check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    -- A project has hundreds of templates at most: the other orders and the search go through those.
    create index templates_project on templates (project_id, created_at);
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table templates');
}
