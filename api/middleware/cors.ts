import koaCors from '@koa/cors';
import type { Middleware } from '../http/context.ts';

const shared = {
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposeHeaders: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'X-Request-Id'],
  maxAge: 600,
  // Errors are answered outside of this, with the headers that are set by then.
  keepHeadersOnError: false,
};

/** Browsers anywhere call /v1 with a key; everything else may carry a cookie, and is for our own pages. */
export function cors(origins: string[]): Middleware {
  const everyone = koaCors({ ...shared, origin: '*' }) as Middleware;
  const dashboard = koaCors({
    ...shared,
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    credentials: true,
  }) as Middleware;
  return (ctx, next) => {
    if (!isPublicApi(ctx.path)) return dashboard(ctx, next);
    return ctx.req.headers.origin === undefined ? next() : everyone(ctx, next);
  };
}

/** /v1 is open to every origin, which is why no cookie counts there. */
export const isPublicApi = (path: string): boolean => path.startsWith('/v1/');
