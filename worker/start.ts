import { setMaxListeners } from 'node:events';
import { withStatementTimeout } from '../db/bounds.ts';
import { DatabaseClock } from '../db/clock.ts';
import { connectDb, type Db } from '../db/connect.ts';
import { installationId } from '../db/installation.ts';
import { Listener } from '../db/listener.ts';
import { createReadiness, waitForDatabase } from '../db/readiness.ts';
import { outboundHttp } from '../platform/http/outbound-http.ts';
import { createResolver, type Resolver } from '../platform/http/resolver.ts';
import type { Logger } from '../platform/logger.ts';
import { logFailure } from '../platform/outages.ts';
import { startProbes } from '../platform/probes.ts';
import type { SettingName, Settings } from '../platform/settings.ts';
import { type ShutdownTimes, shutdownTimes } from '../platform/shutdown.ts';
import { createRenderer } from '../platform/templates/index.ts';
import { startTracing } from '../platform/tracing.ts';
import { productVersion } from '../platform/version.ts';
import { MailReachCache } from '../services/addresses/mail-reach.ts';
import { MailLinks } from '../services/emails/links.ts';
import { startHeartbeat } from '../services/operators/processes.ts';
import { checkSealedSecrets } from '../services/operators/sealed-secrets.ts';
import { createTemporal, type Temporal } from '../temporal/connection.ts';
import { ForeignNamespaceError, NamespaceOwner } from '../temporal/namespace-owner.ts';
import { openRuns } from '../temporal/open-runs.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';
import { buildOf } from './bundle.ts';
import { deploymentOptions, startDeployment } from './deployment.ts';
import { startHousekeeping } from './housekeeping.ts';
import { IdleMode } from './idle-mode.ts';
import { Loop } from './loop.ts';
import { startMail } from './mail.ts';
import { MailLoad } from './mail-load.ts';
import { createWorkerMetrics, type WorkerMetrics } from './metrics.ts';
import { Relay, WAKE_CHANNEL } from './relay.ts';
import type { WorkerRole } from './roles.ts';
import { SdkMetrics, withSdkMetrics } from './sdk-metrics.ts';
import { StuckWorkflows } from './stuck-workflows.ts';
import {
  bulkQueueOptions,
  domainsQueueOptions,
  executionsQueueOptions,
  webhookEndpointsQueueOptions,
  webhooksQueueOptions,
  workflowsQueueOptions,
} from './task-queue-options.ts';
import { installRuntime } from './temporal-log.ts';
import { type QueueOptions, TemporalWorkers } from './temporal-workers.ts';
import { startWantedSchedules } from './wanted-schedules.ts';
import { webhookResources } from './webhook-resources.ts';

interface WorkerDeps {
  settings: Settings;
  roles: Set<WorkerRole>;
  databaseUrl: string;
  db: Db;
  /** Past a pooler, for what needs a session. */
  directUrl: string;
  clock: DatabaseClock;
  temporal: Temporal;
  owner: NamespaceOwner;
  /** Of the workflow code; undefined without versioning. */
  build: string | undefined;
  shutdown: ShutdownTimes;
  stuck: StuckWorkflows;
  metrics: WorkerMetrics;
  /** How much mail this process sends. */
  mailLoad: MailLoad;
  idleMode: IdleMode;
  log: Logger;
}

/** For bulk work: customers decide the size of its chunks, and no request waits for it. */
const BULK_STATEMENT_MS = 120_000;

/** Stops a part of the worker. Called in the reverse order of starting. */
type Stop = () => Promise<unknown> | unknown;

export interface WorkerOptions {
  settings: Settings;
  roles: Set<WorkerRole>;
  log: Logger;
  /** Of a process that has one already. */
  temporal?: Temporal;
}

export interface Worker {
  /** Of the probes. */
  port: number;
  /** Finishes running work, as far as the grace period allows, then closes all resources. */
  stop(): Promise<void>;
}

/** The settings that a worker needs. */
export const workerSettings = (roles: Set<WorkerRole>): SettingName[] => [
  'DATABASE_URL',
  'TEMPORAL_ADDRESS',
  ...(roles.has('mail') ? (['SMTP_URL'] as const) : []),
];

/** Starts a worker. Call it once per process: Temporal's runtime belongs to the process. */
export async function startWorker({ settings, roles, log, temporal: given }: WorkerOptions): Promise<Worker> {
  const { databaseUrl = '', databaseDirectUrl: directUrl = '', timings } = settings;
  const db = connectDb({
    databaseUrl,
    poolSize: settings.databasePoolSize,
    name: 'everpost-worker',
    timeouts: settings.databaseTimeouts.worker,
  });
  await waitForDatabase(db, log, timings);
  const sdkMetrics = new SdkMetrics();
  const stuck = new StuckWorkflows();
  installRuntime(log, { onFailedTask: stuck.onFailedTask, metrics: sdkMetrics.buffer });
  const temporal = given ?? createTemporal(settings.temporal, { renewMs: timings.certificates.renew });
  const owner = new NamespaceOwner(temporal, await installationId(db));
  await refuseForeignNamespace(owner, log);
  const metrics = createWorkerMetrics(db);
  const build = settings.versioning.on && roles.has('workflows') ? await buildOf(settings.versioning.build) : undefined;
  const clock = new DatabaseClock(db, timings.database.synchroniseClock);
  await clock.start();
  const deps: WorkerDeps = {
    settings,
    roles,
    databaseUrl,
    directUrl,
    db,
    clock,
    temporal,
    owner,
    build,
    shutdown: shutdownTimes(settings.shutdownGraceSeconds),
    stuck,
    metrics,
    log,
    mailLoad: new MailLoad(),
    idleMode: new IdleMode(timings.idleMode.after),
  };

  const stops: Stop[] = [() => db.destroy(), () => clock.stop(), () => sdkMetrics.stop()];
  if (!given) stops.push(() => temporal.close());
  if (settings.tracing)
    stops.push(startTracing({ ...settings.tracing, service: 'everpost-worker', version: productVersion }));
  let busyQueues = (): string[] => [];
  stops.push(startHeartbeat({ db, kind: 'worker', build, busyQueues: () => busyQueues(), log, timings }));
  const work = await startWork(deps);
  busyQueues = work.busyQueues;
  stops.push(work.stop);
  const probes = await startProbes({
    port: settings.workerPort,
    host: settings.host,
    registry: withSdkMetrics(metrics.registry, sdkMetrics),
    ready: createReadiness(db, temporal.check, {
      isPolling: work.isPolling,
      opensSecrets: async () => (await checkSealedSecrets(db, settings.secretKeys)).unopened.length === 0,
      timings,
    }),
  });
  stops.push(() => probes.stop());
  log.info({ roles: [...roles], port: probes.port }, 'worker started');
  const stop = async () => {
    for (const stop of stops.reverse()) await stop();
  };
  return { port: probes.port, stop };
}

/** Refuses another installation's namespace. Where Temporal is unavailable, the check is repeated before anything is done. */
async function refuseForeignNamespace(owner: NamespaceOwner, log: Logger): Promise<void> {
  try {
    await owner.verify();
  } catch (error) {
    if (error instanceof ForeignNamespaceError) throw error;
    logFailure(log, { err: error }, 'cannot check whose namespace this is; Temporal is unavailable');
  }
}

async function startWork(
  deps: WorkerDeps,
): Promise<{ stop: Stop; isPolling: () => boolean; busyQueues: () => string[] }> {
  const { settings, roles, temporal, owner, build, shutdown, log } = deps;
  const { timings } = settings;
  const resolver = createResolver({ servers: settings.dnsServers });
  const stopping = new AbortController();
  // Every running batch listens to it.
  setMaxListeners(0, stopping.signal);
  const cut = new AbortController();
  setMaxListeners(0, cut.signal);
  const listener = new Listener({ databaseUrl: deps.directUrl, log, timings });
  listener.on(WAKE_CHANNEL, () => deps.idleMode.end());
  const mail = roles.has('mail')
    ? startMail(deps, listener, { stopping: stopping.signal, cut: cut.signal })
    : undefined;
  const queues: QueueOptions[] = mail ? mail.queues : [];
  if (roles.has('bulk'))
    queues.push(
      bulkQueueOptions({
        db: withStatementTimeout(deps.db, BULK_STATEMENT_MS),
        limits: settings,
        projectLimits: settings.limits,
        retention: settings,
        formSettings: settings,
        now: deps.clock.now,
        timings,
        stopping: stopping.signal,
      }),
    );
  if (roles.has('bulk')) queues.push(domainsQueueOptions({ db: deps.db, resolver, settings }));
  const executions = roles.has('workflows') ? startExecutions(deps, resolver, stopping.signal) : undefined;
  if (executions) {
    const versioning = build ? { workerDeploymentOptions: deploymentOptions(build) } : {};
    queues.push(
      { ...(await workflowsQueueOptions({ ...executions.deps, timings })), ...versioning },
      ...executions.queues,
    );
  }
  const workers = new TemporalWorkers({
    settings: settings.temporal,
    temporal,
    owner,
    duties: queues,
    shutdown,
    timings,
    log,
  });
  if (executions) deps.stuck.start({ db: deps.db, temporal, timings, log });
  const deployment = build
    ? startDeployment({ db: deps.db, temporal, build, auto: settings.versioning.autoCurrent, timings, log })
    : undefined;
  const stopRelay = roles.has('relay') ? startRelay(deps, listener, resolver) : () => {};
  const stopReturnedMail = roles.has('relay') ? await startReturnedMail(deps) : () => {};
  await listener.start();
  const stop = async () => {
    stopping.abort(new Error('the worker is shutting down'));
    // An SMTP server that has not answered by then makes an unknown outcome, which is still recorded.
    const cutting = setTimeout(() => cut.abort(new Error('the grace period is over')), shutdown.waitMs);
    await Promise.all([stopReturnedMail(), stopRelay(), deps.stuck.stop(), deployment?.stop(), workers.stop()]);
    clearTimeout(cutting);
    await listener.stop();
    await mail?.close();
    await executions?.close();
    resolver.close();
  };
  return { stop, isPolling: () => workers.isPolling, busyQueues: () => workers.busyQueues };
}

function startExecutions(
  { settings, db, clock, temporal, owner, mailLoad, log }: WorkerDeps,
  resolver: Resolver,
  stopping: AbortSignal,
) {
  const renderer = createRenderer({ log, processes: 1 });
  const http = outboundHttp({ resolver, allowedHosts: settings.webhookAllowedHosts });
  const { now } = clock;
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
    queues: [
      executionsQueueOptions({ ...deps, temporalSide: openRuns(temporal, owner) }),
      webhooksQueueOptions({ db, http, keys: settings.secretKeys, now }),
      webhookEndpointsQueueOptions({
        db,
        resolver,
        allowedHosts: settings.webhookAllowedHosts,
        keys: settings.secretKeys,
        now,
        systemFrom: settings.systemFrom,
        isBusy: mailLoad.isHigh,
        timings: settings.timings,
        stopping,
      }),
    ],
    close: () => renderer.close(),
  };
}

/** Of several workers on one machine only one gets the port. */
async function startReturnedMail({ settings, db, log }: WorkerDeps): Promise<Stop> {
  const { bouncePort: port } = settings.mailFrom;
  if (port === undefined) return () => {};
  // Loaded here because few installations receive mail.
  const { listenForReturnedMail } = await import('./returned-mail.ts');
  try {
    return (await listenForReturnedMail({ port, host: settings.host, db, keys: settings.secretKeys, log })).stop;
  } catch (err) {
    log.warn({ err, port }, 'cannot listen for returned mail; another worker may have the port');
    return () => {};
  }
}

function startRelay(
  { db, temporal, owner, settings, idleMode, log }: WorkerDeps,
  listener: Listener,
  resolver: Resolver,
): Stop {
  const { timings } = settings;
  const relay = new Relay({
    db,
    temporal,
    owner,
    listener,
    timings,
    log,
    billing: settings.stripe !== undefined,
    webhookResources: webhookResources(settings),
    idleMode,
  });
  relay.start();
  const stopHousekeeping = startHousekeeping({
    db: withStatementTimeout(db, BULK_STATEMENT_MS),
    settings,
    mailReach: new MailReachCache(resolver),
    idleMode,
    log,
  });
  // Workers create these when they connect. This restores them in a namespace that was lost since.
  const upkeep = new Loop({
    name: 'schedules and search attributes',
    idleMs: timings.worker.upkeep,
    troubleMs: timings.worker.upkeep,
    log,
    round: async () => {
      await owner.verifyAgain();
      await ensureSearchAttributes(temporal);
      await ensureSchedules(temporal);
      return 'idle';
    },
  });
  const sweeping = startWantedSchedules({ db, temporal, owner, timings, log });
  return () => Promise.all([relay.stop(), stopHousekeeping(), upkeep.stop(), sweeping.stop()]);
}
