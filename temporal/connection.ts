import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import type { TemporalSettings } from '../platform/settings.ts';

/** The client's side of Temporal: made at once, connected when it is first needed, connected again after an outage. */
export interface Temporal {
  namespace: string;
  connection: Connection;
  client: Client;
  /** Whether Temporal answers for our namespace, within a second or so. Never throws. */
  check(): Promise<boolean>;
  close(): Promise<void>;
}

const CHECK_MS = 1_500;

export function createTemporal(settings: TemporalSettings): Temporal {
  const { namespace } = settings;
  const connection = Connection.lazy({
    ...serverOptions(settings),
    // gRPC waits up to two minutes between attempts by default; what was promised would wait as long after an outage.
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 2_000 },
  });
  const describe = () => connection.workflowService.describeNamespace({ namespace });
  return {
    namespace,
    connection,
    client: new Client({ connection, namespace }),
    check: async () => {
      try {
        await connection.withDeadline(Date.now() + CHECK_MS, describe);
        return true;
      } catch {
        return false;
      }
    },
    close: () => connection.close(),
  };
}

/** Where the server is and how to prove who we are; the same for clients and workers. */
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
