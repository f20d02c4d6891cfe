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

/** A Postgres of its own, for a test that stops or kills it. `start` works again after either, on the same port. */
export interface OwnPostgres {
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

// Nothing here outlives the machine, so nothing is flushed to disk; commits keep their usual order and meaning.
const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'on', max_connections: '200' };
const TEMPLATE = 'everpost_template';

const server = once(async (): Promise<Postgres> => {
  const dataDir = join(runDirectory(), 'postgres');
  const postgres = await startPostgres({ dataDir, port: await freePort(), settings, logFile: `${dataDir}.log` });
  atEnd(() => postgres.stop());
  return postgres;
});

/** Migrated once; every test file then gets a copy, which takes a fraction of a second. */
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

/** A database without any table in it, for tests of the migrations themselves. */
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
  const begin = () => startPostgres({ dataDir, port, database: 'everpost', settings, logFile: `${dataDir}.log` });
  let current: Postgres = await begin();
  atEnd(() => current.stop());
  await migrate(current.url);
  return {
    url: current.url,
    start: async () => {
      if (current.child.hasExited()) current = await begin();
    },
    stop: () => current.stop(),
    kill: () => current.kill(),
  };
}

function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
