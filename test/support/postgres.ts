import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { freePort } from '../../dev/ports.ts';
import { type Postgres, query, startPostgres } from '../../dev/postgres.ts';
import { TEST_POSTGRES } from '../../dev/testing/servers.ts';
import { atEnd, atEndOfRun, once, runDirectory } from './cleanup.ts';
import { isRunnerChild, sharedServer } from './runner.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A separate Postgres for a test that stops or kills it. `start` restarts it on the same port. */
export interface OwnPostgres {
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const TEMPLATE = 'everpost_template';

const serverUrl = once(async (): Promise<string> => {
  if (isRunnerChild) return sharedServer('postgres');
  const dataDir = join(runDirectory(), 'postgres');
  const options = { dataDir, port: await freePort(), settings: TEST_POSTGRES, logFile: `${dataDir}.log` };
  const postgres = await startPostgres(options);
  atEndOfRun(() => postgres.stop());
  return postgres.url;
});

/** Migrated once and copied for every test file, which takes a fraction of a second. */
const template = once(async () => {
  const url = await serverUrl();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    // The children of a run share the server: the first one migrates.
    await client.query('select pg_advisory_lock(1)');
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
    if (rowCount) return;
    await client.query(`create database ${TEMPLATE}_draft`);
    await migrate(withDatabase(url, `${TEMPLATE}_draft`));
    await client.query(`alter database ${TEMPLATE}_draft rename to ${TEMPLATE}`);
  } finally {
    await client.end();
  }
});

export async function createDatabase(): Promise<TestDatabase> {
  const url = await serverUrl();
  await template();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await query(url, `create database ${name} template ${TEMPLATE}`);
  return {
    url: withDatabase(url, name),
    drop: async () => void (await query(url, `drop database if exists ${name} with (force)`)),
  };
}

/** Creates a database without tables, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const url = await serverUrl();
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await query(url, `create database ${name}`);
  return {
    url: withDatabase(url, name),
    drop: async () => void (await query(url, `drop database if exists ${name} with (force)`)),
  };
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = join(runDirectory(), `postgres-${randomUUID()}`);
  const port = await freePort();
  const startServer = () =>
    startPostgres({ dataDir, port, database: 'everpost', settings: TEST_POSTGRES, logFile: `${dataDir}.log` });
  let current: Postgres = await startServer();
  atEnd(() => current.stop());
  await migrate(current.url);
  return {
    url: current.url,
    start: async () => {
      if (current.child.hasExited()) current = await startServer();
    },
    stop: () => current.stop(),
    kill: () => current.kill(),
  };
}

function withDatabase(url: string, name: string): string {
  const target = new URL(url);
  target.pathname = `/${name}`;
  return target.href;
}
