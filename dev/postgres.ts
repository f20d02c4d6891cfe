import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Child, startChild, waitUntilReady } from './child.ts';
import { type Account, changeOwner, postgresAccount } from './postgres-account.ts';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts';
import { stopOrphanedPostgres } from './postgres-orphan.ts';
import { startCommandWith } from './root.ts';
import { execute } from './run.ts';

export interface PostgresOptions {
  dataDir: string;
  port: number;
  /** Created when it does not exist. */
  database?: string;
  settings?: Record<string, string>;
  logFile?: string;
  onSpawn?: (child: Child) => void;
}

export interface Postgres {
  url: string;
  port: number;
  pid: number;
  child: Child;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const USER = 'everpost';
const SHARED_MEMORY_IN_USE = /pre-existing shared memory block/;

/** Starts Postgres on 127.0.0.1 with its data in `dataDir`, which is initialized when it does not exist. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { port, database = 'postgres' } = options;
  const dataDir = resolve(options.dataDir);
  mkdirSync(dirname(dataDir), { recursive: true });
  const binaries = await postgresBinaries();
  const account = postgresAccount(binaries.postgres, dirname(dataDir));
  await stopOrphanedPostgres(dataDir);
  if (!existsSync(dataDir)) await initialize(binaries, account, dataDir, options.settings?.fsync !== 'off');
  await refuseOtherVersion(binaries, dataDir);
  changeOwner(account, dataDir);

  const password = readPassword(dataDir);
  const urlOf = (name: string) => `postgres://${USER}:${password}@127.0.0.1:${port}/${name}`;
  const child = await startServer(binaries, account, { ...options, dataDir }, urlOf('postgres'));
  // SIGINT is a fast shutdown: it ends sessions and writes a checkpoint. SIGQUIT stops at once and leaves work to recovery.
  const shutdownSteps = [
    { signal: 'SIGINT' as const, waitMs: 30_000 },
    { signal: 'SIGQUIT' as const, waitMs: 5_000 },
  ];
  const stop = async () => void (await child.stop(shutdownSteps));
  try {
    if (database !== 'postgres') await createDatabaseIfMissing(urlOf('postgres'), database);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: urlOf(database), port, pid: child.pid, child, stop, kill: async () => void (await child.kill()) };
}

/** Postgres itself would exit with a message in its log. */
async function refuseOtherVersion({ postgres }: PostgresBinaries, dataDir: string): Promise<void> {
  const found = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  const { stdout } = await execute(postgres, ['--version']);
  const wanted = /(\d+)/.exec(stdout)?.[1];
  if (found !== wanted)
    throw new Error(
      `The data in ${dataDir} is of Postgres ${found}, and this version of Everpost runs Postgres ${wanted}. Start empty with "${startCommandWith('--fresh')}", or move the data by pg_dump of the old version.`,
    );
}

const passwordFile = (dataDir: string): string => `${dataDir}.password`;

function readPassword(dataDir: string): string {
  try {
    return readFileSync(passwordFile(dataDir), 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`The password of the database in ${dataDir} cannot be read: ${reason}`);
  }
}

/** Initializes a temporary directory and renames it at the end: an existing data directory is always complete. */
async function initialize(
  { initdb }: PostgresBinaries,
  account: Account,
  dataDir: string,
  sync: boolean,
): Promise<void> {
  const parent = dirname(dataDir);
  const tempPrefix = `.${basename(dataDir)}.init-`;
  for (const entry of readdirSync(parent)) {
    if (entry.startsWith(tempPrefix)) rmSync(join(parent, entry), { recursive: true, force: true });
  }
  const tempDir = mkdtempSync(join(parent, tempPrefix));
  const password = randomBytes(24).toString('base64url');
  writeFileSync(join(tempDir, 'password'), password, { mode: 0o600 });
  changeOwner(account, tempDir);
  // The built-in C.UTF-8 sorts by code point and maps the case of all scripts, the same on every system.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const secrets = ['--auth=scram-sha-256', `--username=${USER}`, `--pwfile=${join(tempDir, 'password')}`];
  const flags = ['-D', join(tempDir, 'data'), ...locale, ...secrets, ...(sync ? [] : ['--no-sync'])];
  const [command = '', ...args] = [...account.prefix, initdb, ...flags];
  const { uid, gid } = account;
  await execute(command, args, { uid, gid, cwd: tempDir });
  writeFileSync(passwordFile(dataDir), password, { mode: 0o600 });
  renameSync(join(tempDir, 'data'), dataDir);
  rmSync(tempDir, { recursive: true, force: true });
}

async function startServer(
  { postgres }: PostgresBinaries,
  { prefix, uid, gid }: Account,
  { dataDir, port, settings, logFile, onSpawn }: PostgresOptions,
  url: string,
): Promise<Child> {
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command = '', ...args] = [...prefix, postgres, '-D', dataDir, '-p', String(port), ...flags];
  const log = logFile ?? join(tmpdir(), `everpost-postgres-${process.pid}-${port}.log`);
  const options = { name: 'Postgres', command, args, uid, gid, cwd: dataDir, logFile: log };
  for (let tries = 1; ; tries++) {
    const child = await startChild({ ...options, signalOnExit: 'SIGINT', onSpawn });
    try {
      await waitUntilReady(child, 60_000, () => acceptsQueries(url));
      return child;
    } catch (error) {
      await child.kill();
      // After a SIGKILL of the postmaster its sessions need a moment to exit; Postgres refuses to start until then.
      if (tries > 40 || !SHARED_MEMORY_IN_USE.test(child.lastLines(5))) throw error;
      await sleep(250);
    }
  }
}

async function acceptsQueries(url: string): Promise<boolean> {
  await query(url, 'select 1');
  return true;
}

async function createDatabaseIfMissing(url: string, name: string): Promise<void> {
  const { rowCount } = await query(url, 'select from pg_database where datname = $1', [name]);
  if (rowCount === 0) await query(url, `create database ${pg.escapeIdentifier(name)}`);
}

export async function query(url: string, sql: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A server that stops while the client is connected also emits 'error'; the rejected query reports it already.
  client.on('error', () => {});
  await client.connect();
  try {
    return await client.query(sql, values);
  } finally {
    await client.end();
  }
}
