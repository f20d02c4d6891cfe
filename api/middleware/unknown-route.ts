import type Router from '@koa/router';
import { ApiError } from '../../platform/errors.ts';
import type { Context, Middleware, RequestState } from '../http/context.ts';
import { isNarrower } from '../http/path-patterns.ts';

/** The answer to a path without a route. */
export const noRoute = ({ method, path }: Context): ApiError =>
  new ApiError(404, 'RESOURCE_NOT_FOUND', `There is no route ${method} ${path.slice(0, 200)}.`, {
    suggestion: 'GET /openapi.json lists every route.',
  });

/** Reached when no route matches the path, or none of those accepts the method. */
export const unknownRoute =
  (router: Router<RequestState>): Middleware =>
  (ctx) => {
    const found = router.match(ctx.path, ctx.method).path;
    const narrowest = found.filter(({ path }) => !found.some((other) => isNarrower(`${other.path}`, `${path}`)));
    if (narrowest.length === 0) throw noRoute(ctx);
    refuseMethod(
      ctx,
      narrowest.flatMap(({ methods }) => methods),
    );
  };

/** Answers a method that a path does not take: OPTIONS with the others, all others with 405. */
export function refuseMethod(ctx: Context, methods: string[]): void {
  const allow = [...new Set(methods)].sort().join(', ');
  if (ctx.method !== 'OPTIONS')
    throw new ApiError(405, 'BAD_REQUEST', `${ctx.path.slice(0, 200)} does not support ${ctx.method}.`, {
      suggestion: `Use one of: ${allow}.`,
      headers: { Allow: allow },
    });
  ctx.status = 204;
  ctx.set('Allow', allow);
}

/** The methods of pages and files. */
export const PAGE_METHODS = ['GET', 'HEAD'];
