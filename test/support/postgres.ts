import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { migrate } from '../../db/migrate.ts';
import { freePort } from '../../dev/ports.ts';
import { type Postgres, query, startPostgres } from '../../dev/postgres.ts';
import { atEnd, once, runDirectory } from './cleanup.ts';

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

// The data need not survive a crash of the machine, so nothing is flushed to disk.
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'on', max_connections: '200' };
const TEMPLATE = 'everpost_template';

const server = once(async (): Promise<Postgres> => {
  const dataDir = join(runDirectory(), 'postgres');
  const postgres = await startPostgres({ dataDir, port: await freePort(), settings, logFile: `${dataDir}.log` });
  atEnd(() => postgres.stop());
  return postgres;
});

/** Migrated once and copied for every test file, which takes a fraction of a second. */
const template = once(async () => {
  const { url } = await server();
  await query(url, `create database ${TEMPLATE}`);
  await migrate(withDatabase(url, TEMPLATE));
});

export async function createDatabase(): Promise<TestDatabase> {
  const { url } = await server();
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
  const { url } = await server();
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
  const startServer = () => startPostgres({ dataDir, port, database: 'everpost', settings, logFile: `${dataDir}.log` });
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
