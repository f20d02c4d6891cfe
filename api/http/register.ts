import Router from '@koa/router';
import type { AppParts, Middleware, RequestState } from './context.ts';
import type { Route, RouteGroup } from './route.ts';
import { type Handler, handlerOf } from './serve.ts';

const none = Object.freeze({});

/**
 * Registers every route. Routes without parameters, among them the busiest, are also found through a map: the router
 * tries paths one by one.
 */
export function register(
  groups: RouteGroup[],
  parts: AppParts,
): { router: Router<RequestState>; shortcut: Middleware } {
  const router = new Router<RequestState>({ exclusive: 'specificity', sensitive: true });
  const staticRoutes = new Map<string, Handler>();
  for (const route of groups.flatMap(({ routes }) => routes)) {
    const handler = lazyHandler(route, parts);
    router[route.method.toLowerCase() as Lowercase<Route['method']>](route.path, (ctx) => handler(ctx, ctx.params));
    if (!route.path.includes(':')) staticRoutes.set(`${route.method} ${route.path}`, handler);
  }
  const shortcut: Middleware = (ctx, next) => {
    const handler = staticRoutes.get(`${ctx.method} ${ctx.path}`);
    return handler ? handler(ctx, none) : next();
  };
  return { router, shortcut };
}

/** Builds the handler with the first request: compiling the schemas of all routes would double the time of a start. */
function lazyHandler(route: Route, parts: AppParts): Handler {
  let handler: Handler | undefined;
  return (ctx, params) => {
    handler ??= handlerOf(route, parts);
    return handler(ctx, params);
  };
}
