import type { AppParts, Middleware } from '../http/context.ts';

/** Counts and times every request, and logs it: quietly, unless it is our fault. */
export function observe({ metrics, log, isClosing }: Pick<AppParts, 'metrics' | 'log' | 'isClosing'>): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    // A client that keeps the connection would only send its next request to a process that is about to end.
    if (isClosing()) ctx.set('Connection', 'close');
    const { method, status } = ctx;
    const { id, route = 'unknown' } = ctx.state;
    const ms = performance.now() - started;
    metrics.observe(method, route, status, ms / 1000);
    const level = status >= 500 ? 'warn' : 'debug';
    if (log.isLevelEnabled(level)) log[level]({ requestId: id, method, route, status, ms: Math.round(ms) }, 'request');
  };
}
