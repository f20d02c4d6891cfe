// Brings a database up to date: the migrations in order, then every function, view and trigger whose text has changed. See
// docs/decisions/migrations.md.
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { doctorAdvice } from '../platform/doctor-advice.ts';
import { readSettings } from '../platform/settings.ts';
import { connectDb, type Db } from './connect.ts';
import {
  changedFunctions,
  type DatabaseFunction,
  deletedFunctions,
  functionsAfterTables,
  functionsBeforeTables,
} from './functions.ts';
import { migrations } from './migrations/index.ts';

const names = Object.keys(migrations).sort();

const source = {
  getMigrations: async () => names,
  getMigrationName: (name: string) => name,
  getMigration: async (name: string) => {
    const migration = migrations[name];
    if (!migration) throw new Error(`unknown migration ${name}`);
    return migration;
  },
};

const LOCK = 0x65766572; // "ever"

/**
 * Migrates under an advisory lock, one process at a time. Unlike knex's lock row it is released when a process dies, so its
 * owner may clear knex's.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, keepAlive: true });
  await client.connect();
  const db = connectDb({ databaseUrl, poolSize: 2, name: 'everpost-migrate' });
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    if ((await compareVersions(db)) === 'newer') return [];
    if (await db.schema.hasTable('knex_migrations_lock'))
      await db.migrate.forceFreeMigrationsLock({ migrationSource: source });
    await applyFunctions(client, functionsBeforeTables);
    const [, applied] = await db.migrate.latest({ migrationSource: source });
    await applyFunctions(client, functionsAfterTables, { dropOthers: true });
    await client.query(addPartitions);
    return applied;
  } finally {
    await db.destroy();
    await client.end();
  }
}

/**
 * Compares the migrations of the database with those of this program. `newer`: a later version has migrated it, and leaves
 * this one working. Throws when the histories differ, as in a database from before the baseline.
 */
async function compareVersions(db: Db): Promise<'newer' | 'same or older'> {
  if (!(await db.schema.hasTable('knex_migrations'))) return 'same or older';
  const { unknown, missing } = await migrationsOf(db);
  if (unknown.length === 0) return 'same or older';
  if (missing.length === 0 && unknown.every(isLater)) return 'newer';
  throw new Error(
    `This database has migrations of another version of Everpost (${unknown[0]}): start with an empty one, in development by npm start -- --fresh.`,
  );
}

async function migrationsOf(db: Db): Promise<{ unknown: string[]; missing: string[] }> {
  const done: string[] = await db('knex_migrations').orderBy('id').pluck('name');
  return {
    unknown: done.filter((name) => !names.includes(name)),
    missing: names.filter((name) => !done.includes(name)),
  };
}

/** Migrations are numbered, so their names sort in the order of versions. */
const isLater = (name: string): boolean => name > (names.at(-1) ?? '');

/** Applies all of them or none, so that a crash leaves no mixture of versions. */
async function applyFunctions(
  client: pg.Client,
  functions: DatabaseFunction[],
  { dropOthers = false } = {},
): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`create table if not exists database_functions (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query('select name, checksum from database_functions');
    for (const { name, sql, checksum } of changedFunctions(functions, rows)) {
      await client.query(sql);
      await client.query(
        `insert into database_functions (name, checksum) values ($1, $2)
         on conflict (name) do update set checksum = excluded.checksum, applied_at = now()`,
        [name, checksum],
      );
    }
    if (dropOthers) for (const { name } of deletedFunctions(rows)) await dropFunction(client, name);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Drops what a deleted file created. Fails, and rolls back, when an index, a view or a column default still needs it. */
async function dropFunction(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `with own as (select oid from pg_namespace where nspname = current_schema())
     select format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass) as statement
     from own, pg_trigger t join pg_proc p on p.oid = t.tgfoid
     where p.proname = $1 and p.pronamespace = own.oid and t.tgparentid = 0
     union all
     select format('drop function %s', p.oid::regprocedure) from own, pg_proc p
     where p.proname = $1 and p.pronamespace = own.oid
     union all
     select format('drop view %s', c.oid::regclass) from own, pg_class c
     where c.relname = $1 and c.relnamespace = own.oid and c.relkind = 'v'`,
    [name],
  );
  for (const { statement } of rows) await client.query(statement);
  await client.query('delete from database_functions where name = $1', [name]);
}

/** Adds the partitions of this month and the next three, and of this week and the next two. The worker adds later ones. */
const addPartitions = `
  select add_month_partition(partitioned, month::date)
  from unnest(array['events', 'email_contents', 'email_bodies', 'audit_log', 'consents']) as partitioned,
    generate_series(date_trunc('month', now() at time zone 'UTC'),
      date_trunc('month', now() at time zone 'UTC') + interval '3 months', interval '1 month') as month;
  select add_week_partition(partitioned, monday::date)
  from unnest(array['webhook_events', 'webhook_deliveries']) as partitioned,
    generate_series(date_trunc('week', now() at time zone 'UTC'),
      date_trunc('week', now() at time zone 'UTC') + interval '2 weeks', interval '1 week') as monday`;

/**
 * The migrations and functions of this program that the database does not have. When a later version has migrated it, the
 * functions count as there: that version has replaced or dropped them, and keeps this one working.
 */
export async function pendingMigrations(db: Db): Promise<string[]> {
  if (!(await db.schema.hasTable('database_functions')) || !(await db.schema.hasTable('knex_migrations'))) return names;
  const { unknown, missing } = await migrationsOf(db);
  if (missing.length === 0 && unknown.some(isLater)) return [];
  const applied = await db('database_functions').select('name', 'checksum');
  const functions = changedFunctions([...functionsBeforeTables, ...functionsAfterTables], applied);
  return [...missing, ...functions.map(({ name }) => `function ${name}`)];
}

async function run(): Promise<void> {
  const { databaseUrl = '' } = readSettings(process.env, ['DATABASE_URL']);
  const applied = await migrate(databaseUrl);
  console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'the database is up to date');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  run().catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    console.error(doctorAdvice);
    process.exitCode = 1;
  });
