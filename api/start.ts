import { withStatementTimeout } from '../db/bounds.ts';
import { connectDb } from '../db/connect.ts';
import { hasFullDisk } from '../db/full-disk.ts';
import { installationId } from '../db/installation.ts';
import { Listener } from '../db/listener.ts';
import { createReadiness, waitForDatabase } from '../db/readiness.ts';
import { createResolver } from '../platform/http/resolver.ts';
import { securityHeaders } from '../platform/http/security-headers.ts';
import type { Logger } from '../platform/logger.ts';
import { startProbes } from '../platform/probes.ts';
import type { Settings } from '../platform/settings.ts';
import { createRenderer } from '../platform/templates/index.ts';
import { startTracing } from '../platform/tracing.ts';
import { productVersion } from '../platform/version.ts';
import { AddressLimiter } from '../services/access/address-limiter.ts';
import { KeyCache } from '../services/access/keys.ts';
import { RateLimiter, type RateLimiterOptions, rateStore } from '../services/access/rate-limiter.ts';
import { type CheckByWorkflow, domainChecker } from '../services/domains/check-now.ts';
import { startHeartbeat } from '../services/operators/processes.ts';
import { RequestLog } from '../services/request-log/requests.ts';
import { createApp } from './app.ts';
import { ConcurrencyLimit } from './http/concurrency.ts';
import type { AppParts } from './http/context.ts';
import { listen } from './http/listen.ts';
import { ReceiveLimit } from './http/receive-limit.ts';
import type { RouteGroup } from './http/route.ts';
import { LiveHub } from './live/hub.ts';
import { createApiMetrics } from './metrics.ts';

export interface Api {
  port: number;
  url: string;
  /** Finishes open requests, then closes all resources. */
  stop(): Promise<void>;
  /** Closes the connections that `stop` waits for. */
  cut(): void;
}

export interface ApiOptions {
  settings: Settings;
  log: Logger;
  document: AppParts['document'];
  /** Whether Temporal is reachable; the API does not require it. */
  checkTemporal(): Promise<boolean>;
  /** Asks a domain's check loop; without it this process checks. */
  checkByWorkflow?: (
    loop: Parameters<CheckByWorkflow>[0],
    installation: () => Promise<string>,
  ) => ReturnType<CheckByWorkflow>;
  /** Addresses of OAuth providers, for tests. */
  oauthAt?: AppParts['oauthAt'];
  /** A lower limit of requests at once, for tests. */
  concurrency?: ConcurrencyLimit;
  /** A shorter time in which slow uploads are noticed, for tests. */
  receiving?: ReceiveLimit;
  /** Another wait or clock, for tests. */
  rateLimiting?: RateLimiterOptions;
  /** Additional routes, for tests of stages that no route of ours uses. */
  moreRoutes?: RouteGroup[];
}

/** Builds the app's dependencies and listens. */
export async function startApi({
  settings,
  log,
  document,
  checkTemporal,
  checkByWorkflow,
  oauthAt,
  concurrency = new ConcurrencyLimit(),
  receiving = new ReceiveLimit(),
  rateLimiting,
  moreRoutes,
}: ApiOptions): Promise<Api> {
  const {
    databaseUrl = '',
    databasePoolSize: poolSize,
    databaseTimeouts,
    rateLimitPerMinute,
    metricsPort,
    host,
    timings,
  } = settings;
  const opened: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    for (let close = opened.pop(); close; close = opened.pop()) await close();
  };
  try {
    const db = connectDb({ databaseUrl, poolSize, name: 'everpost-api', timeouts: databaseTimeouts.api });
    opened.push(() => db.destroy());
    if (settings.tracing)
      opened.push(startTracing({ ...settings.tracing, service: 'everpost-api', version: productVersion }));
    await waitForDatabase(db, log, timings);
    const listener = new Listener({ databaseUrl: settings.databaseDirectUrl ?? databaseUrl, log, timings });
    opened.push(() => listener.stop());
    const keys = new KeyCache(db, listener);
    const limiter =
      rateLimitPerMinute > 0 ? new RateLimiter(rateLimitPerMinute, rateStore(db), listener, rateLimiting) : undefined;
    const perIp = settings.publicRateLimitPerIpPerMinute;
    const addressLimiter = perIp > 0 ? new AddressLimiter(perIp) : undefined;
    await listener.start();

    opened.push(startHeartbeat({ db, kind: 'api', log, timings }));

    let closing = false;
    const metrics = createApiMetrics(db);
    if (metricsPort !== undefined) {
      const probes = await startProbes({ port: metricsPort, host, registry: metrics.registry });
      opened.push(() => probes.stop());
    }
    const ready = createReadiness(db, checkTemporal, { timings });
    const resolver = createResolver({ servers: settings.dnsServers });
    opened.push(async () => resolver.close());
    // Starts its process with the first rendering.
    const renderer = createRenderer({ log, processes: 1 });
    opened.push(() => renderer.close());
    const requestLog = new RequestLog(db, log, timings.requestLog.flush);
    opened.push(() => requestLog.stop());
    const liveHub = new LiveHub({ db, settings, log });
    const isClosing = () => closing;
    const parts: AppParts = {
      settings,
      db,
      log,
      keys,
      limiter,
      addressLimiter,
      metrics,
      ready,
      resolver,
      renderer,
      oauthAt,
      isClosing,
      requestLog,
      liveHub,
      concurrency,
      receiving,
      document,
      hasFullDisk: () => hasFullDisk(db),
      dbWithTimeout: (ms) => withStatementTimeout(db, ms),
      checkDomain: domainChecker(
        { db, resolver, settings },
        checkByWorkflow && ((loop) => checkByWorkflow(loop, () => installationId(db))),
      ),
    };
    const app = createApp(parts, moreRoutes);
    const server = await listen(app.callback(), settings.port, host, securityHeaders(settings.baseUrl));
    opened.push(() => server.close());
    // First: the server waits for open answers.
    opened.push(() => liveHub.close());
    log.info({ port: server.port, host }, 'listening');
    const stop = () => {
      closing = true;
      return closeAll();
    };
    return { port: server.port, url: `http://${host}:${server.port}`, stop, cut: server.cut };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
