import koaCors from '@koa/cors';
import type { Middleware } from '../http/context.ts';

const shared = {
  allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposeHeaders: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'X-Request-Id'],
  maxAge: 600,
  // Errors are handled outside this middleware, with the headers set by then.
  keepHeadersOnError: false,
};

/** Returns the origins that may read answers about a form, `*` for all. */
export type FormOrigins = (formId: string) => Promise<string[] | '*'>;

const FORMS = '/f/';
const formIdOf = (path: string): string => path.slice(FORMS.length).replace(/[./].*$/, '');

/** /v1 is called with a key from any origin; other routes accept cookies and are for our own pages. */
export function cors(origins: string[], formOrigins: FormOrigins = async () => []): Middleware {
  const anyOrigin = koaCors({ ...shared, origin: '*' }) as Middleware;
  const dashboard = koaCors({
    ...shared,
    origin: (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    credentials: true,
  }) as Middleware;
  // A form is used by the pages that it allows, without cookies.
  const form = koaCors({
    ...shared,
    origin: async (ctx) => {
      const allowed = await formOrigins(formIdOf(ctx.path));
      const origin = ctx.get('Origin');
      return allowed === '*' ? '*' : allowed.includes(origin) ? origin : '';
    },
  }) as Middleware;
  return (ctx, next) => {
    if (ctx.path.startsWith(FORMS)) return ctx.req.headers.origin === undefined ? next() : form(ctx, next);
    if (!isPublicApi(ctx.path)) return dashboard(ctx, next);
    return ctx.req.headers.origin === undefined ? next() : anyOrigin(ctx, next);
  };
}

/** /v1 is open to every origin, so cookies are ignored there. */
export const isPublicApi = (path: string): boolean => path.startsWith('/v1/');
