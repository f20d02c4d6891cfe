import type Router from '@koa/router';
import { ApiError } from '../../platform/errors.ts';
import type { Context, Middleware, RequestState } from '../http/context.ts';

/** The answer to a path without a route. */
export const noRoute = ({ method, path }: Context): ApiError =>
  new ApiError(404, 'RESOURCE_NOT_FOUND', `There is no route ${method} ${path.slice(0, 200)}.`, {
    suggestion: 'GET /openapi.json lists every route.',
  });

/** Reached when no route matches the path, or none of those accepts the method. */
export const unknownRoute =
  (router: Router<RequestState>): Middleware =>
  (ctx) => {
    const methods = [...new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods))].sort();
    if (methods.length === 0) throw noRoute(ctx);
    const allow = methods.join(', ');
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('Allow', allow);
      return;
    }
    throw new ApiError(405, 'BAD_REQUEST', `${ctx.path.slice(0, 200)} does not take ${ctx.method}.`, {
      suggestion: `Use one of: ${allow}.`,
      headers: { Allow: allow },
    });
  };
