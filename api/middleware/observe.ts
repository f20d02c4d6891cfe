import type { AppParts, Middleware } from '../http/context.ts';

/** Measures and logs every request, at debug level unless it is a server error. */
export function observe({ metrics, log, isClosing }: Pick<AppParts, 'metrics' | 'log' | 'isClosing'>): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await next();
    // Closes the connection, so that the client does not send its next request to a stopping process.
    if (isClosing()) ctx.set('Connection', 'close');
    const { method, status } = ctx;
    const { id, route = 'unknown' } = ctx.state;
    const ms = performance.now() - started;
    metrics.observe(method, route, status, ms / 1000);
    const level = status >= 500 ? 'warn' : 'debug';
    if (log.isLevelEnabled(level)) log[level]({ requestId: id, method, route, status, ms: Math.round(ms) }, 'request');
  };
}
