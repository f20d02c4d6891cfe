import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { TemporalSettings } from '../platform/settings.ts';
import { type Deadlines, retryUntilDeadline } from './deadlines.ts';

/** The Temporal client. Connects on first use and reconnects after an outage. */
export interface Temporal {
  namespace: string;
  connection: Connection;
  client: Client;
  /** Returns whether Temporal responds for our namespace within about a second. Never throws. */
  check(): Promise<boolean>;
  close(): Promise<void>;
}

export function createTemporal(settings: TemporalSettings, deadlines?: Deadlines): Temporal {
  const { namespace } = settings;
  const connection = Connection.lazy({
    ...serverOptions(settings),
    interceptors: [retryUntilDeadline(deadlines)],
    // By default gRPC waits up to two minutes between attempts, and accepted work would wait as long after an outage.
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
  return {
    namespace,
    connection,
    client: new Client({ connection, namespace }),
    check: async () => {
      try {
        await connection.workflowService.describeNamespace({ namespace });
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
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
