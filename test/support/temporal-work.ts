// Temporal clients, workers and activities inside the test process.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Info } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { root } from '../../dev/root.ts';
import { createTemporal, type Temporal } from '../../temporal/connection.ts';
import { ensureSearchAttributes } from '../../temporal/search-attributes.ts';
import { type Bundle, cachedBundle } from '../../worker/bundle.ts';
import { bridge, installRuntime } from '../../worker/temporal-log.ts';
import { atEndOfRun } from './cleanup.ts';
import { devServer } from './temporal.ts';

export const silent = pino({ level: 'silent' });

// Once for all test files, before the first of them starts a worker.
installRuntime(silent);
atEndOfRun(() => Runtime.instance().shutdown());

export const activityEnvironment = (info: Partial<Info> = {}): MockActivityEnvironment =>
  new MockActivityEnvironment(info, { logger: bridge(silent) });

export const temporalSettings = (address: string, namespace = 'default') => ({
  address,
  namespace,
  apiKey: undefined,
  tls: undefined,
});

/**
 * Creates a namespace on the shared dev server: workers take any task in their task queue, and must not find those of
 * another test.
 */
export async function ownNamespace(server?: { address: string }): Promise<OwnNamespace> {
  const temporal = await bareNamespace(server);
  await ensureSearchAttributes(temporal);
  return temporal;
}

export type OwnNamespace = Temporal & { address: string };

/** Creates a namespace without our search attributes. */
export async function bareNamespace(server?: { address: string }): Promise<OwnNamespace> {
  const { address } = server ?? (await devServer());
  const namespace = `test-${randomUUID()}`;
  // Busy machines take longer than production allows: the check of `/ready`, that of a domain, and the first Schedule of a
  // namespace.
  const temporal = createTemporal(temporalSettings(address, namespace), {
    deadlines: {
      DescribeNamespace: 60_000,
      ExecuteMultiOperation: 60_000,
      CreateSchedule: 60_000,
      DescribeSchedule: 60_000,
    },
  });
  await temporal.connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  return { ...temporal, address };
}

/** For a worker inside the test process. Close it afterwards. */
export const nativeConnection = (address: string): Promise<NativeConnection> => NativeConnection.connect({ address });

/** Bundles the workflows of `test/support/workflows.ts`. */
export const testBundle = (): Promise<Bundle> => cachedBundle(join(root, 'test/support/workflows.ts'));
