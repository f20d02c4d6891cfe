import koaCors from '@koa/cors';
import type { Middleware } from '../http/context.ts';

const shared = {
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposeHeaders: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'X-Request-Id'],
  maxAge: 600,
  // Errors are handled outside this middleware, with the headers set by then.
  keepHeadersOnError: false,
};

/** /v1 is called with a key from any origin; other routes accept cookies and are for our own pages. */
export function cors(origins: string[]): Middleware {
  const anyOrigin = koaCors({ ...shared, origin: '*' }) as Middleware;
  const dashboard = koaCors({
    ...shared,
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    credentials: true,
  }) as Middleware;
  return (ctx, next) => {
    if (!isPublicApi(ctx.path)) return dashboard(ctx, next);
    return ctx.req.headers.origin === undefined ? next() : anyOrigin(ctx, next);
  };
}

/** /v1 is open to every origin, so cookies are ignored there. */
export const isPublicApi = (path: string): boolean => path.startsWith('/v1/');
