import { inSpan, isTracing } from '../../platform/tracing.ts';
import type { AppParts, Context, Middleware } from '../http/context.ts';

/** Measures and logs every request, at debug level unless it is a server error. An outage has its own line. */
export function observe({
  metrics,
  log,
  isClosing,
  requestLog,
}: Pick<AppParts, 'metrics' | 'log' | 'isClosing' | 'requestLog'>): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    await (isTracing() ? traced(ctx, next) : next());
    // Closes the connection, so that the client does not send its next request to a stopping process.
    if (isClosing()) ctx.set('Connection', 'close');
    const { method, status } = ctx;
    const { id, route = 'unknown' } = ctx.state;
    const ms = performance.now() - started;
    metrics.observe(method, route, status, ms / 1000);
    record(ctx, requestLog);
    const level = status >= 500 && !ctx.state.isOutage ? 'warn' : 'debug';
    if (log.isLevelEnabled(level)) log[level]({ requestId: id, method, route, status, ms: Math.round(ms) }, 'request');
  };
}

/** The trace of the request is the caller's, where it names one. */
const traced = (ctx: Context, next: () => Promise<unknown>): Promise<void> =>
  inSpan(ctx.method, { kind: 'server', traceparent: ctx.get('traceparent') }, async (span) => {
    await next();
    const { route = 'unknown', id } = ctx.state;
    span.rename(`${ctx.method} ${route}`);
    span.set({ 'http.request.method': ctx.method, 'http.route': route, 'http.response.status_code': ctx.status });
    span.set({ 'everpost.request_id': id });
    if (ctx.status >= 500) span.fail(`answered ${ctx.status}`);
  });

/** Only requests whose project is known have a log to be in. Of those that succeed, only those of keys, where wanted. */
function record({ method, status, state }: Context, requestLog: AppParts['requestLog']): void {
  const { caller, id, route = 'unknown' } = state;
  if (!caller?.project) return;
  const { project, keyKind, user } = caller;
  const isWanted = status >= 400 || (project.logsRequests && keyKind !== undefined);
  const failure = status >= 400 ? state.failure : { code: null, message: '' };
  if (!isWanted || !failure) return;
  requestLog.add({
    projectId: project.projectId,
    at: new Date(),
    requestId: id,
    method,
    route,
    status,
    ...failure,
    keyName: keyKind && !project.key ? `${keyKind} key` : null,
    keyId: project.key?.id ?? null,
    userId: user?.id ?? null,
  });
}
