import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table jobs (
      id uuid primary key,
      project_id uuid not null,
      type text not null check (type in ('IMPORT', 'BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE')),
      status text not null default 'QUEUED' check (status in ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
      total integer not null,
      -- How far it has got: everything before is done, and written in the transaction that moved this.
      processed integer not null default 0,
      result jsonb not null,
      failed_reason text,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      completed_at timestamptz
    );
    create index jobs_project on jobs (project_id, id);

    -- What a job works on, apart from the row that is written all the time. Gone when the job has ended.
    create table job_inputs (
      job_id uuid primary key references jobs on delete cascade,
      file bytea,
      contact_ids uuid[],
      check (num_nonnulls(file, contact_ids) = 1)
    );
  `);
}

export async function down(db: Knex): Promise<void> {
  await db.raw('drop table job_inputs, jobs');
}
