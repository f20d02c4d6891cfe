import type { MetricsBuffer, Logger as TemporalLogger } from '@temporalio/worker';
import { Runtime } from '@temporalio/worker';
import type { Logger } from '../platform/logger.ts';
import { logOutage, type Outage, outageOf } from '../platform/outages.ts';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** A workflow task that failed: its workflow does not continue until it succeeds. */
export interface FailedTask {
  runId: string;
  failure: string;
}

export interface RuntimeHooks {
  onFailedTask?: (task: FailedTask) => void;
  metrics?: MetricsBuffer;
}

/** Routes the SDK's log through ours. Call it once per process, before any other use of the worker package. */
export function installRuntime(log: Logger, { onFailedTask, metrics }: RuntimeHooks = {}): void {
  Runtime.install({
    logger: bridge(log, onFailedTask),
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metrics && { metrics: { buffer: metrics, attachServiceName: false } }),
    },
    // The worker handles signals itself, in its own order.
    shutdownSignals: [],
  });
}

/** How the SDK's core, which passes errors as text, prints gRPC codes. */
const CODES_AS_TEXT = [
  [/unavailable/i, 'Unavailable'],
  [/DeadlineExceeded|(Deadline|Timeout) expired/, 'DeadlineExceeded'],
  [/ResourceExhausted|resource has been exhausted/, 'ResourceExhausted'],
] as const;

function outageIn(error: unknown): Outage | undefined {
  if (typeof error !== 'string') return outageOf(error);
  const [, code] = CODES_AS_TEXT.find(([pattern]) => pattern.test(error)) ?? [];
  return code && { of: 'Temporal', code, cause: error };
}

/** The message of the SDK's core (sdk-core, worker/workflow/mod.rs); nothing else says which workflow it is. */
const FAILED_TASK = 'Failing workflow task';

export function bridge(log: Logger, onFailedTask: RuntimeHooks['onFailedTask'] = () => {}): TemporalLogger {
  const sdkLog = log.child({ sdk: 'temporal' });
  const write = (level: Level, message: string, meta?: Record<string | symbol, unknown>) => {
    if (message === FAILED_TASK && meta?.runId)
      onFailedTask({ runId: String(meta.runId), failure: messageIn(String(meta.failure ?? '')) });
    const outage = level === 'warn' ? outageIn(meta?.error) : undefined;
    if (outage) logOutage(log, outage, { sdk: 'temporal', detail: message });
    else sdkLog[isNoise(level, message) ? 'debug' : level](plain(meta), message);
  };
  const at = (level: Level) => (message: string, meta?: Record<string | symbol, unknown>) =>
    write(level, message, meta);
  return {
    log: (level, message, meta) => write(level.toLowerCase() as Level, message, meta),
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}

/** The core prints the failure as a Rust structure; its first message says what is wrong. */
const messageIn = (failure: string): string => /message: "((?:[^"\\]|\\.)*)"/.exec(failure)?.[1] ?? failure;

/** The SDK's info messages only help debugging. A worker without workflows or activities is intended. */
const isNoise = (level: Level, message: string) =>
  level === 'info' || (level === 'warn' && /^No (workflows|activities) registered/.test(message));

/** The SDK's metadata contains bigints, which JSON cannot represent. */
function plain({ error, ...meta }: Record<string | symbol, unknown> = {}): Record<string, unknown> {
  const entries = Object.entries(meta).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return { ...Object.fromEntries(entries), ...(error === undefined ? {} : { err: error }) };
}
