import Router from '@koa/router';
import type { AppParts, Middleware, RequestState } from './context.ts';
import type { Route, RouteGroup } from './route.ts';
import { type Handler, handlerOf } from './serve.ts';

const none = Object.freeze({});

/**
 * Gives the router every route. Those without parameters are found by a look into a map as well, before it: the busiest
 * ones are among them, and the router tries one path after the other.
 */
export function register(
  groups: RouteGroup[],
  parts: AppParts,
): { router: Router<RequestState>; shortcut: Middleware } {
  const router = new Router<RequestState>({ exclusive: 'specificity', sensitive: true });
  const known = new Map<string, Handler>();
  for (const route of groups.flatMap(({ routes }) => routes)) {
    const handler = handlerOf(route, parts);
    router[route.method.toLowerCase() as Lowercase<Route['method']>](route.path, (ctx) => handler(ctx, ctx.params));
    if (!route.path.includes(':')) known.set(`${route.method} ${route.path}`, handler);
  }
  const shortcut: Middleware = (ctx, next) => {
    const handler = known.get(`${ctx.method} ${ctx.path}`);
    return handler ? handler(ctx, none) : next();
  };
  return { router, shortcut };
}
