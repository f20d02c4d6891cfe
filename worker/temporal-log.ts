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
  const at = (level: Level) => (message: string, meta?: Record<string | symbol, unknown>) =>
    log[level](plain(meta), message);
  return {
    log: (level, message, meta) => at(level.toLowerCase() as Level)(message, meta),
    trace: at('trace'),
    // What the SDK calls information is one line per activity and workflow: of use when hunting, noise otherwise.
    debug: at('debug'),
    info: at('debug'),
    warn: at('warn'),
    error: at('error'),
  };
}

/** The SDK's metadata holds numbers that JSON cannot write. */
function plain({ error, ...meta }: Record<string | symbol, unknown> = {}): Record<string, unknown> {
  const entries = Object.entries(meta).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? String(value) : value,
  ]);
  return { ...Object.fromEntries(entries), ...(error === undefined ? {} : { err: error }) };
}
