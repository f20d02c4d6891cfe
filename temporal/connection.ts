import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { TemporalSettings } from '../platform/settings.ts';
import { processTimings } from '../platform/timings.ts';
import { type Deadlines, retryUntilDeadline } from './deadlines.ts';

/**
 * The Temporal client. Connects on first use and reconnects after an outage. Read `connection` and `client` when you use
 * them: both are replaced when the files of certificates change.
 */
export interface Temporal {
  namespace: string;
  readonly connection: Connection;
  readonly client: Client;
  /** Returns whether Temporal responds for our namespace within about a second. Never throws. */
  check(): Promise<boolean>;
  /** Called after certificates or keys were read again. */
  onRenewed(listener: () => void): void;
  close(): Promise<void>;
}

const CLOSE_MS = 30_000;

interface Opened {
  connection: Connection;
  client: Client;
}

export interface TemporalOptions {
  /** Between two looks at the files of certificates. */
  renewMs?: number;
  deadlines?: Deadlines;
}

export function createTemporal(
  settings: TemporalSettings,
  { renewMs = processTimings.certificates.renew, deadlines = {} }: TemporalOptions = {},
): Temporal {
  const { namespace } = settings;
  let current = open(settings, deadlines);
  let files = filesOf(settings);
  const listeners: (() => void)[] = [];
  let isRenewing = false;
  const renew = async () => {
    const now = filesOf(settings);
    if (isRenewing || now === files || now === undefined) return;
    isRenewing = true;
    await replace(now).finally(() => {
      isRenewing = false;
    });
  };
  const replace = async (now: string) => {
    const next = open(settings, deadlines);
    // Half-written files, or a certificate that the server does not accept yet: tried again later.
    if (!(await answers(next, namespace))) return void (await next.connection.close());
    const previous = current;
    current = next;
    files = now;
    for (const listener of listeners) listener();
    // Calls that have begun may end.
    setTimeout(() => void previous.connection.close().catch(() => {}), CLOSE_MS).unref();
  };
  const timer = files === undefined ? undefined : setInterval(() => void renew().catch(() => {}), renewMs).unref();
  return {
    namespace,
    get connection() {
      return current.connection;
    },
    get client() {
      return current.client;
    },
    check: () => answers(current, namespace),
    onRenewed: (listener) => void listeners.push(listener),
    close: () => {
      clearInterval(timer);
      return current.connection.close();
    },
  };
}

function open(settings: TemporalSettings, deadlines: Deadlines): Opened {
  const connection = Connection.lazy({
    ...serverOptions(settings),
    interceptors: [retryUntilDeadline(deadlines)],
    metadata: { 'temporal-namespace': settings.namespace },
    // By default gRPC waits up to two minutes between attempts, and accepted work would wait as long after an outage.
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
  // The SDK calls this around every call, to add the header above. It would use an AsyncLocalStorage: see deadlines.ts.
  connection.withMetadata = async (_metadata, call) => call();
  return { connection, client: new Client({ connection, namespace: settings.namespace }) };
}

async function answers({ connection }: Opened, namespace: string): Promise<boolean> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return true;
  } catch {
    return false;
  }
}

/** Returns a hash of the files that the settings name; undefined when there are none, or one cannot be read. */
function filesOf({ tls }: TemporalSettings): string | undefined {
  const paths = [tls?.ca, tls?.cert, tls?.key].filter((path) => path !== undefined);
  if (paths.length === 0) return undefined;
  try {
    const hash = createHash('sha256');
    for (const path of paths) hash.update(readFileSync(path)).update('\0');
    return hash.digest('hex');
  } catch {
    return undefined;
  }
}

/** Address and credentials, the same for clients and workers. */
export function serverOptions({ address, apiKey, tls }: TemporalSettings) {
  if (!address) throw new Error('TEMPORAL_ADDRESS is not set.');
  return { address, ...(apiKey ? { apiKey } : {}), ...(tls ? { tls: tlsOptions(tls) } : {}) };
}

function tlsOptions({ ca, cert, key, serverName }: NonNullable<TemporalSettings['tls']>) {
  if (Boolean(cert) !== Boolean(key)) throw new Error('TEMPORAL_TLS_CERT and TEMPORAL_TLS_KEY go together.');
  return {
    ...(serverName ? { serverNameOverride: serverName } : {}),
    ...(ca ? { serverRootCACertificate: readFileSync(ca) } : {}),
    ...(cert && key ? { clientCertPair: { crt: readFileSync(cert), key: readFileSync(key) } } : {}),
  };
}
