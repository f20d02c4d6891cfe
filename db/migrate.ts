import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { readSettings } from '../platform/settings.ts';
import { connectDb, type Db } from './connect.ts';
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
 * Brings the database up to date. An advisory lock lets one process at a time through and, unlike knex's own lock row,
 * goes away with a process that dies; so knex's may be cleared by whoever holds ours.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const guard = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, keepAlive: true });
  await guard.connect();
  const db = connectDb({ databaseUrl, poolSize: 2, name: 'everpost-migrate' });
  try {
    await guard.query('select pg_advisory_lock($1)', [LOCK]);
    if (await db.schema.hasTable('knex_migrations_lock'))
      await db.migrate.forceFreeMigrationsLock({ migrationSource: source });
    const [, applied] = await db.migrate.latest({ migrationSource: source });
    return applied;
  } finally {
    await db.destroy();
    await guard.end();
  }
}

/** The migrations that this program knows and the database has not seen. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  if (!(await db.schema.hasTable('knex_migrations'))) return names;
  const done = new Set(await db('knex_migrations').pluck('name'));
  return names.filter((name) => !done.has(name));
}

async function run(): Promise<void> {
  const { databaseUrl = '' } = readSettings(process.env, ['DATABASE_URL']);
  const applied = await migrate(databaseUrl);
  console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'the database is up to date');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  run().catch((error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
