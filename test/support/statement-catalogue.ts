// Reads from the database which tables contain tenant data, so that a new table is not forgotten.
import type { Db } from '../../db/connect.ts';
import { type Catalogue, wordsOf } from './sql-scope.ts';

/** Tables without a `project_id`, and the column that references the parent row. */
const PARENTS: Record<string, string> = {
  campaign_count_deltas: 'campaign_id',
  campaign_counts: 'campaign_id',
  campaign_domains: 'campaign_id',
  campaign_links: 'campaign_id',
  campaign_rates: 'campaign_id',
  human_campaign_deltas: 'campaign_id',
  domain_keys: 'domain_id',
  email_attachments: 'set_id',
  email_notices: 'email_id',
  unpublished_email_results: 'email_id',
  job_chunks: 'job_id',
  job_inputs: 'job_id',
  segment_members: 'segment_id',
  segment_recounts: 'segment_id',
  workflow_removals: 'workflow_id',
  workflow_tick_contacts: 'workflow_id',
  workflow_ticks: 'workflow_id',
  workflow_versions: 'workflow_id',
};

/** Tables that belong to no project. */
const SHARED = [
  // Accounts: a user may be a member of several projects.
  'users',
  'sessions',
  'user_recovery_codes',
  'user_identities',
  'account_requests',
  'auth_attempts',
  'notification_settings',
  // State of the service itself.
  'knex_migrations',
  'database_functions',
  'knex_migrations_lock',
  'open_runs',
  'processes',
  'send_rates',
  'received_notices',
  'senders',
  'mail_processes',
  'upload_removals',
  'installation',
  'stuck_workflows',
  // Hashes alone, for limits over all projects and for proofs that were used.
  'confirmations_sent',
  'form_challenges_used',
];

export async function readCatalogue(db: Db): Promise<Catalogue> {
  const columns: { rows: { name: string; columns: string[] }[] } = await db.raw(
    `select table_name as name, array_agg(column_name::text) as columns
     from information_schema.columns where table_schema = 'public' group by table_name`,
  );
  const tables = new Map<string, Set<string>>();
  for (const { name, columns: names } of columns.rows) {
    const isTenants = names.includes('project_id') || name === 'projects' || name in PARENTS;
    if (isTenants) tables.set(name, new Set(names));
    else if (!SHARED.includes(name))
      throw new Error(`Table ${name} has no project_id: add it to PARENTS or SHARED in statement-catalogue.ts.`);
  }
  return { tables, parents: new Map(Object.entries(PARENTS)), functions: await readFunctions(db, tables) };
}

/** Finds functions whose body names a tenant table, or calls a function that does. */
async function readFunctions(db: Db, tables: Catalogue['tables']): Promise<Catalogue['functions']> {
  const { rows }: { rows: { name: string; arguments: string; body: string }[] } = await db.raw(
    `select proname as name, pg_get_function_identity_arguments(p.oid) as arguments, prosrc as body
     from pg_proc p join pg_language l on l.oid = prolang
     where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype and lanname in ('sql', 'plpgsql')`,
  );
  const words = new Map(rows.map(({ name, body }) => [name, wordsOf(body)]));
  const found = new Set<string>();
  for (let size = -1; size < found.size; ) {
    size = found.size;
    for (const [name, used] of words)
      if ([...used].some((word) => tables.has(word) || (word !== name && found.has(word)))) found.add(name);
  }
  return new Map(
    rows
      .filter(({ name }) => found.has(name))
      .map(({ name, arguments: given }) => [name, { takesProject: /\bp_project_id\b/.test(given) }]),
  );
}
