import type Router from '@koa/router';
import { ApiError } from '../../platform/errors.ts';
import type { Middleware, RequestState } from '../http/context.ts';

/** Reached when no route matches the path, or none of those accepts the method. */
export const unknownRoute =
  (router: Router<RequestState>): Middleware =>
  (ctx) => {
    const methods = [...new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods))].sort();
    if (methods.length === 0)
      throw new ApiError(404, 'RESOURCE_NOT_FOUND', `There is no route ${ctx.method} ${ctx.path.slice(0, 200)}.`, {
        suggestion: 'GET /openapi.json lists every route.',
      });
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
