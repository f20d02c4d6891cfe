import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDb, type Db } from '../db/connect.ts';
import { installationId } from '../db/installation.ts';
import { pendingMigrations } from '../db/migrate.ts';
import { statement } from '../db/statement.ts';
import { existingFolder, freeDisk } from '../platform/free-disk.ts';
import { createResolver } from '../platform/http/resolver.ts';
import { readSettings, type Settings } from '../platform/settings.ts';
import { Relay } from '../platform/smtp/relay.ts';
import { createUploadStorage } from '../platform/storage/upload-storage.ts';
import { busyQueues, listProcesses } from '../services/operators/processes.ts';
import { checkSealedSecrets } from '../services/operators/sealed-secrets.ts';
import { createTemporal, type Temporal } from '../temporal/connection.ts';
import { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { unpolledQueues } from '../temporal/pollers.ts';
import { environment } from './environment.ts';
import { type CommandResult, messageOf } from './output.ts';

export interface Finding {
  part: string;
  state: 'ok' | 'warning' | 'fault';
  message: string;
  /** What to do about it. */
  advice?: string;
}

type Check = (settings: Settings) => Promise<Finding>;

const ok = (part: string, message: string): Finding => ({ part, state: 'ok', message });
const warning = (part: string, message: string, advice: string): Finding => ({
  part,
  state: 'warning',
  message,
  advice,
});
const fault = (part: string, message: string, advice: string): Finding => ({ part, state: 'fault', message, advice });

/** Checks everything that the service depends on and advises how to fix what fails. */
export async function doctor(): Promise<CommandResult> {
  const findings = await examine();
  const failed = findings.some(({ state }) => state === 'fault');
  return { lines: findings.flatMap(linesOf), json: { findings }, failed };
}

async function examine(): Promise<Finding[]> {
  let settings: Settings;
  try {
    settings = readSettings(environment());
  } catch (error) {
    const advice = 'Set them as .env.example shows, then run this again: the rest was not checked.';
    return [fault('settings', messageOf(error), advice)];
  }
  const findings = [ok('settings', 'They can be read.')];
  for (const check of [
    baseUrl,
    database,
    migrations,
    secrets,
    temporal,
    namespaceOwner,
    polling,
    smtp,
    dns,
    uploads,
    disk,
  ])
    findings.push(await check(settings));
  return findings;
}

const linesOf = ({ part, state, message, advice }: Finding): string[] => [
  `${{ ok: 'ok     ', warning: 'warning', fault: 'FAULT  ' }[state]} ${part}: ${message}`,
  ...(advice ? [`          → ${advice}`] : []),
];

const baseUrl: Check = async ({ baseUrl: url, production }) => {
  const { protocol, hostname } = new URL(url);
  if (!production) return ok('base url', url);
  if (/^(localhost|127\.|\[::1\])/.test(hostname))
    return fault('base url', `Links in mails would lead to ${url}.`, 'Set BASE_URL to the public address of the API.');
  if (protocol !== 'https:')
    return warning(
      'base url',
      `${url} is not https.`,
      'Put the API behind https: sessions and links are sent unencrypted.',
    );
  return ok('base url', url);
};

const MIN_POSTGRES = 18;
/** Without settings, commands use the stack of this folder. */
const START_HERE = 'In a folder of "npm start" it is set while that runs: start it again;';
const NO_DATABASE = 'DATABASE_URL is not set.';

const readVersion = statement<{ version: number }>(
  'server-version',
  "select current_setting('server_version_num')::integer as version",
);

const database: Check = async ({ databaseUrl, databaseTimeouts: { api: timeouts } }) => {
  if (!databaseUrl)
    return fault('database', NO_DATABASE, `${START_HERE} elsewhere set it to postgres://user:password@host:5432/name.`);
  const db = connectDb({ databaseUrl, poolSize: 1, name: 'everpost-doctor', timeouts });
  try {
    const [row] = await readVersion(db);
    const version = Math.floor((row?.version ?? 0) / 10_000);
    return version >= MIN_POSTGRES
      ? ok('database', `Postgres ${version} answers.`)
      : fault('database', `Postgres ${version} is too old.`, `Use Postgres ${MIN_POSTGRES} or newer.`);
  } catch (error) {
    return fault('database', messageOf(error), 'Check that Postgres runs and that DATABASE_URL is correct.');
  } finally {
    await db.destroy();
  }
};

const migrations: Check = async ({ databaseUrl, databaseTimeouts: { api: timeouts } }) => {
  if (!databaseUrl) return fault('migrations', NO_DATABASE, 'Set DATABASE_URL first.');
  const db = connectDb({ databaseUrl, poolSize: 1, name: 'everpost-doctor', timeouts });
  try {
    const pending = await pendingMigrations(db);
    if (pending.length === 0) return ok('migrations', 'The database is up to date.');
    return fault('migrations', `${pending.length} are pending: ${pending.join(', ')}.`, 'Run "everpost migrate".');
  } catch (error) {
    return fault('migrations', messageOf(error), 'Fix the database first.');
  } finally {
    await db.destroy();
  }
};

const secrets: Check = async ({ databaseUrl, databaseTimeouts: { api: timeouts }, secretKeys }) => {
  if (!databaseUrl) return fault('secrets', NO_DATABASE, 'Set DATABASE_URL first.');
  const db = connectDb({ databaseUrl, poolSize: 1, name: 'everpost-doctor', timeouts });
  try {
    const { opened, unopened } = await checkSealedSecrets(db, secretKeys);
    if (unopened.length === 0)
      return ok('secrets', opened.length > 0 ? `SECRET_KEY opens ${opened.join(', ')}.` : 'None are stored yet.');
    const kinds = unopened.map(({ kind }) => kind).join(', ');
    const [reason] = unopened.map(({ reason }) => reason);
    return fault(
      'secrets',
      `SECRET_KEY does not open all ${kinds}: ${reason}`,
      'Append the key that sealed them (SECRET_KEY=new,old) and restart everything. Until then mail that needs such a DKIM key waits.',
    );
  } catch (error) {
    return fault('secrets', messageOf(error), 'Fix the database first.');
  } finally {
    await db.destroy();
  }
};

const temporal: Check = async ({ temporal: settings }) => {
  const { address, namespace } = settings;
  if (!address)
    return fault(
      'temporal',
      'TEMPORAL_ADDRESS is not set.',
      `${START_HERE} elsewhere set it to host:port of the frontend.`,
    );
  try {
    const client = createTemporal(settings);
    const answers = await client.check();
    await client.close();
    if (answers) return ok('temporal', `${address} answers for the namespace ${namespace}.`);
  } catch (error) {
    return fault('temporal', messageOf(error), 'Check TEMPORAL_TLS_* and TEMPORAL_API_KEY.');
  }
  return fault(
    'temporal',
    `${address} does not answer for the namespace ${namespace}.`,
    `Check that Temporal runs there and has the namespace: "temporal operator namespace create ${namespace}".`,
  );
};

/** Runs `work` with both, and returns what to report when either is unavailable: their own checks say why. */
async function withBoth(
  part: string,
  { databaseUrl = '', databaseTimeouts: { api: timeouts }, temporal: settings }: Settings,
  work: (db: Db, temporal: Temporal) => Promise<Finding>,
): Promise<Finding> {
  const skipped = warning(part, 'It was not checked.', 'Fix the database and Temporal first.');
  if (!databaseUrl || !settings.address) return skipped;
  const db = connectDb({ databaseUrl, poolSize: 1, name: 'everpost-doctor', timeouts });
  const client = createTemporal(settings);
  try {
    return (await client.check()) ? await work(db, client) : skipped;
  } catch {
    return skipped;
  } finally {
    await client.close();
    await db.destroy();
  }
}

const namespaceOwner: Check = async (settings) =>
  withBoth('namespace', settings, async (db, client) => {
    const id = await installationId(db);
    const owner = await new NamespaceOwner(client, id).owner();
    if (owner === undefined) return ok('namespace', `${client.namespace} has no owner yet; the first worker takes it.`);
    if (owner === id) return ok('namespace', `${client.namespace} belongs to this installation.`);
    return fault('namespace', `${client.namespace} belongs to another installation (${owner}).`, FOREIGN_ADVICE);
  });

const FOREIGN_ADVICE =
  'Name a namespace of its own in TEMPORAL_NAMESPACE, or run "everpost namespace take" if the other one is gone.';

const polling: Check = async (settings) =>
  withBoth('workers', settings, async (db, client) => {
    const workers = (await listProcesses(db)).filter(
      ({ kind, lastSeenAt }) =>
        kind === 'worker' && Date.now() - lastSeenAt.getTime() < settings.timings.processes.alive,
    );
    // A worker whose slots are all busy does not poll.
    const busy = await busyQueues(db, settings.timings.processes.alive);
    const silent = (await unpolledQueues(client)).filter((queue) => !busy.includes(queue));
    if (workers.length === 0)
      return warning(
        'workers',
        'No worker is running.',
        'Start one: "node dist/worker/main.js". Until then accepted work waits.',
      );
    if (silent.length === 0) return ok('workers', `${workers.length} running; all task queues are polled.`);
    return fault(
      'workers',
      `No worker polls ${silent.join(', ')}.`,
      "Check the workers' /ready and log, and their --roles.",
    );
  });

const smtp: Check = async ({ relays, smtpAllowPlainAuth: allowPlainAuth }) => {
  if (relays.length === 0) return fault('smtp', 'SMTP_URL is not set.', 'Set it to smtp://user:password@host:587.');
  const timeouts = { connectMs: 5_000, greetingMs: 5_000, silenceMs: 5_000 };
  const failures = await Promise.all(
    relays.map(async (settings) => {
      const relay = new Relay({ ...settings, maxConnections: 1, pauseMs: 60_000, allowPlainAuth, timeouts });
      const connection = await relay.connect();
      relay.close(true);
      return 'kind' in connection ? `${relay.name}: ${connection.reason}` : [];
    }),
  );
  const reasons = failures.flat();
  const names = relays.map(({ name }) => name).join(', ');
  if (reasons.length === 0) return ok('smtp', `${names} ${relays.length > 1 ? 'accept' : 'accepts'} our connection.`);
  const advice = 'Check that the relay runs and accepts these credentials: host, port, TLS, password.';
  // Mail leaves through the other relays.
  const finding = reasons.length < relays.length ? warning : fault;
  return finding('smtp', reasons.join('; '), advice);
};

const dns: Check = async ({ dnsServers, systemFrom }) => {
  const resolver = createResolver({ servers: dnsServers });
  const domain = systemFrom.slice(systemFrom.lastIndexOf('@') + 1);
  const answer = await resolver.txt(domain, 'doctor');
  resolver.close();
  const servers = dnsServers.length > 0 ? dnsServers.join(', ') : "the system's name servers";
  if (answer.kind !== 'unknown') return ok('dns', `${servers} answered.`);
  return fault('dns', `${servers}: ${answer.reason}.`, 'Set DNS_SERVERS to name servers that this machine can reach.');
};

const STORAGE_MS = 10_000;
const UPLOADS_ADVICE = 'Set UPLOADS_DIR to a folder that this user may write to, or S3_BUCKET.';

/** Stores a file and removes it. */
const uploads: Check = async ({ uploads: target }) => {
  const place = 's3' in target ? `the bucket ${target.s3.bucket}` : target.folder;
  try {
    await ('s3' in target ? tryBucket(target) : tryFolder(target.folder));
    return ok('uploads', `${place} takes files.`);
  } catch (error) {
    if ('s3' in target) return fault('uploads', `${place}: ${String(error)}`, 'Check S3_* and the rights of the key.');
    return warning('uploads', messageOf(error), UPLOADS_ADVICE);
  }
};

async function tryBucket(target: Settings['uploads']): Promise<void> {
  const storage = createUploadStorage(target);
  const key = `doctor${randomBytes(8).toString('hex')}.txt`;
  const timeout = sleep(STORAGE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${STORAGE_MS / 1_000} s`);
  });
  const stored = async () => {
    await storage.save(key, Buffer.from('everpost doctor'), 'text/plain');
    await storage.remove(key);
  };
  await Promise.race([stored(), timeout]);
}

/** The first upload creates the folder, as its own user; until then its nearest existing parent must be writable. */
async function tryFolder(target: string): Promise<void> {
  const folder = existingFolder(target);
  await rm(await mkdtemp(join(folder, '.doctor-')), { recursive: true });
}

const GIGABYTE = 1024 ** 3;

/** Received files wait in the temporary folder, images stay in theirs. */
const disk: Check = async ({ uploads: target, importMaxBytes }) => {
  const folders = [...new Set([tmpdir(), ...('s3' in target ? [] : [existingFolder(target.folder)])])];
  const sizes = await Promise.all(
    folders.map(async (folder) => {
      const free = await freeDisk(folder);
      return free === undefined ? [] : { folder, free };
    }),
  ).then((found) => found.flat());
  const message = sizes.map(({ folder, free }) => `${folder} has ${(free / GIGABYTE).toFixed(1)} GB free`).join(', ');
  const least = Math.min(...sizes.map(({ free }) => free));
  const advice = 'Free some space: uploads and imports need it, and a full disk stops Postgres where it is the same.';
  if (least < importMaxBytes) return fault('disk', `${message}.`, advice);
  return least < GIGABYTE ? warning('disk', `${message}.`, advice) : ok('disk', `${message}.`);
};
