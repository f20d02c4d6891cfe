import type { Logger as TemporalLogger } from '@temporalio/worker';
import { Runtime } from '@temporalio/worker';
import type { Logger } from '../platform/logger.ts';

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** Once per process, before anything else of the worker package: its engine reports through our log. */
export function installRuntime(log: Logger): void {
  Runtime.install({
    logger: bridge(log.child({ sdk: 'temporal' })),
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    // We end the process ourselves, in our own order.
    shutdownSignals: [],
  });
}

export function bridge(log: Logger): TemporalLogger {
  const write = (level: Level, message: string, meta?: Record<string | symbol, unknown>) =>
    log[isNoise(level, message) ? 'debug' : level](plain(meta), message);
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

/** What the SDK calls information is of use when hunting a fault; that a worker has one duty alone is as we want it. */
const isNoise = (level: Level, message: string) =>
  level === 'info' || (level === 'warn' && /^No (workflows|activities) registered/.test(message));

/** The SDK's metadata holds numbers that JSON cannot write. */
function plain({ error, ...meta }: Record<string | symbol, unknown> = {}): Record<string, unknown> {
  const entries = Object.entries(meta).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return { ...Object.fromEntries(entries), ...(error === undefined ? {} : { err: error }) };
}
