import { setMaxListeners } from 'node:events';
import { withStatementTimeout } from '../db/bounds.ts';
import { connectDb, type Db } from '../db/connect.ts';
import { Listener } from '../db/listener.ts';
import { createReadiness, refusePendingMigrations } from '../db/readiness.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { createMailer } from '../platform/mailer.ts';
import { outboundHttp } from '../platform/outbound-http.ts';
import { startProbes } from '../platform/probes.ts';
import { createRenderer } from '../platform/renderer/index.ts';
import { createResolver, type Resolver } from '../platform/resolver.ts';
import { readSettings, type Settings } from '../platform/settings.ts';
import { SignerCache } from '../services/domains/signing-key.ts';
import { DeliveryLedger } from '../services/emails/delivery-ledger.ts';
import { MailLinks } from '../services/emails/links.ts';
import { SendPace } from '../services/emails/send-pace.ts';
import { createTemporal, type Temporal } from '../temporal/connection.ts';
import { openRuns } from '../temporal/open-runs.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { startHousekeeping } from './housekeeping.ts';
import { Loop } from './loop.ts';
import { createMetrics, type WorkerMetrics } from './metrics.ts';
import { Relay } from './relay.ts';
import { listenForReturnedMail } from './returned-mail.ts';
import { parseRoles, type Role } from './roles.ts';
import {
  bulkDuty,
  campaignsDuty,
  domainsDuty,
  executionsDuty,
  mailDuty,
  webhooksDuty,
  workflowsDuty,
} from './task-queue-options.ts';
import { installRuntime } from './temporal-log.ts';
import { type Duty, TemporalWorkers } from './temporal-workers.ts';

interface Parts {
  settings: Settings;
  roles: Set<Role>;
  databaseUrl: string;
  db: Db;
  temporal: Temporal;
  metrics: WorkerMetrics;
  log: Logger;
}

/** Longer than the workers are given to drain. */
const FAREWELL_MS = 45_000;

const UPKEEP_MS = 5 * 60_000;

/** Work in chunks whose size the customer decides, and which nobody waits for. */
const BULK_STATEMENT_MS = 120_000;

/** Ends what it stands for; run in the reverse order of starting. */
type End = () => Promise<unknown> | unknown;

async function run(): Promise<void> {
  const roles = parseRoles(process.argv.slice(2));
  const settings = readSettings(process.env, [
    'DATABASE_URL',
    'TEMPORAL_ADDRESS',
    ...(roles.has('mail') ? (['SMTP_URL'] as const) : []),
  ]);
  const log = createLogger('worker', settings.logLevel);
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, event);
      process.exit(1);
    });
  }
  const { databaseUrl = '' } = settings;
  const db = connectDb({
    databaseUrl,
    poolSize: settings.databasePoolSize,
    name: 'everpost-worker',
    timeouts: settings.databaseTimeouts.worker,
  });
  await refusePendingMigrations(db);
  installRuntime(log);
  const temporal = createTemporal(settings.temporal);
  const parts: Parts = { settings, roles, databaseUrl, db, temporal, metrics: createMetrics(db), log };

  const ends: End[] = [() => db.destroy(), () => temporal.close()];
  ends.push(await startWork(parts));
  const probes = await startProbes({
    port: settings.workerPort,
    host: settings.host,
    registry: parts.metrics.registry,
    ready: createReadiness(db, temporal.check),
  });
  ends.push(() => probes.stop());
  log.info({ roles: [...roles], port: probes.port }, 'the worker is up');

  log.info({ signal: await farewellSignal() }, 'finishing what is under way');
  endAnyway(log);
  for (const end of ends.reverse()) await end();
  log.info('the worker is down');
}

async function farewellSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve);
  });
}

/** On a second signal, or when something hangs. What is cut short is found again: by its lease, in Temporal. */
function endAnyway(log: Logger): void {
  const end = (why: string) => {
    log.error(why);
    process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end('told twice: ending at once'));
  setTimeout(() => end('something does not end: leaving it'), FAREWELL_MS).unref();
}

async function startWork(parts: Parts): Promise<End> {
  const { settings, roles, temporal, log } = parts;
  const resolver = createResolver({ servers: settings.dnsServers });
  const stopping = new AbortController();
  // Every batch that is being sent listens to it.
  setMaxListeners(0, stopping.signal);
  const listener = new Listener({ databaseUrl: parts.databaseUrl, log });
  const mail = roles.has('mail') ? startMail(parts, listener, stopping.signal) : undefined;
  const duties: Duty[] = mail ? mail.duties : [];
  if (roles.has('bulk'))
    duties.push(
      bulkDuty({
        db: withStatementTimeout(parts.db, BULK_STATEMENT_MS),
        limits: settings,
        projectLimits: settings.limits,
        retention: settings,
        now: () => new Date(),
        stopping: stopping.signal,
      }),
    );
  if (roles.has('bulk')) duties.push(domainsDuty({ db: parts.db, resolver, settings }));
  const executions = roles.has('workflows') ? startExecutions(parts, resolver) : undefined;
  if (executions) duties.push(await workflowsDuty(executions.deps), ...executions.duties);
  const workers = new TemporalWorkers({ settings: settings.temporal, temporal, duties, log });
  const stopRelay = roles.has('relay') ? startRelay(parts, listener) : () => {};
  const stopReturnedMail = roles.has('relay') ? await startReturnedMail(parts) : () => {};
  await listener.start();
  return async () => {
    stopping.abort(new Error('the worker is shutting down'));
    await Promise.all([stopReturnedMail(), stopRelay(), workers.stop()]);
    await listener.stop();
    await mail?.close();
    await executions?.close();
    resolver.close();
  };
}

function startMail({ settings, db, metrics, log }: Parts, listener: Listener, stopping: AbortSignal) {
  const { sendRatePerSecond } = settings;
  const mailer = createMailer({
    url: settings.smtpUrl ?? '',
    maxConnections: settings.smtpMaxConnections,
    allowPlainAuth: settings.smtpAllowPlainAuth,
    pace: sendRatePerSecond ? new SendPace(db, sendRatePerSecond) : undefined,
  });
  const signers = settings.dkimSigning ? new SignerCache(db, listener, settings.secretKeys, log) : undefined;
  const renderer = createRenderer({ log });
  // Its first process takes a moment to come up, which no mail shall wait for.
  renderer.render({ subject: '', html: '', items: [{ data: {}, builtIn: {} }] }).catch(() => {});
  const ledger = new DeliveryLedger(db, settings.smtpMaxConnections);
  const deps = {
    db,
    mailer,
    renderer,
    links: new MailLinks(settings),
    ledger,
    signerFor: signers && ((projectId: string, domain: string) => signers.signerFor(projectId, domain)),
    onResult: metrics.countResult,
    stopping,
  };
  return {
    duties: [mailDuty(deps), campaignsDuty({ ...deps, limits: settings, billing: settings.stripe !== undefined })],
    close: async () => {
      mailer.close();
      await renderer.close();
    },
  };
}

function startExecutions({ settings, db, temporal, log }: Parts, resolver: Resolver) {
  const renderer = createRenderer({ log, processes: 1 });
  const http = outboundHttp({ resolver, allowedHosts: settings.webhookAllowedHosts });
  const now = () => new Date();
  const deps = {
    db,
    renderer,
    links: new MailLinks(settings),
    now,
    limits: settings.limits,
    keys: settings.secretKeys,
  };
  return {
    deps,
    duties: [
      executionsDuty({ ...deps, temporalSide: openRuns(temporal) }),
      webhooksDuty({ db, http, keys: settings.secretKeys, now }),
    ],
    close: () => renderer.close(),
  };
}

/** Of several workers on one machine one has the port. */
async function startReturnedMail({ settings, db, log }: Parts): Promise<End> {
  const { bouncePort: port } = settings.mailFrom;
  if (port === undefined) return () => {};
  try {
    return (await listenForReturnedMail({ port, host: settings.host, db, keys: settings.secretKeys, log })).stop;
  } catch (err) {
    log.warn({ err, port }, 'cannot listen for returned mail; another worker may');
    return () => {};
  }
}

function startRelay({ db, temporal, settings, log }: Parts, listener: Listener): End {
  const relay = new Relay({ db, temporal, listener, log, billing: settings.stripe !== undefined });
  relay.start();
  const stopHousekeeping = startHousekeeping({ db: withStatementTimeout(db, BULK_STATEMENT_MS), settings, log });
  // Made when a worker first connects; a namespace that was lost since has neither.
  const upkeep = new Loop({
    name: 'schedules and search attributes',
    idleMs: UPKEEP_MS,
    troubleMs: UPKEEP_MS,
    log,
    round: async () => {
      await ensureSearchAttributes(temporal);
      await ensureSchedules(temporal);
      return 'idle';
    },
  });
  return () => Promise.all([relay.stop(), stopHousekeeping(), upkeep.stop()]);
}

run().then(
  () => process.exit(0),
  (error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
