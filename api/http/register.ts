import Router from '@koa/router';
import { refuseMethod } from '../middleware/unknown-route.ts';
import type { AppParts, Middleware, RequestState } from './context.ts';
import { isNarrower, pathExpression } from './path-patterns.ts';
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
  const all = groups.flatMap(({ routes }) => routes);
  for (const route of all) {
    const handler = lazyHandler(route, parts);
    let others: ReturnType<typeof otherPaths> | undefined;
    router[route.method.toLowerCase() as Lowercase<Route['method']>](route.path, (ctx) => {
      others ??= otherPaths(route, all);
      const other = others.find(({ expression }) => expression.test(ctx.path));
      return other ? refuseMethod(ctx, other.methods) : handler(ctx, ctx.params);
    });
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

/**
 * Returns the paths that match a route with parameters but are those of other routes, which do not take its method: of
 * `DELETE /contacts/:id` the path `/contacts/fields`. An event may be named as the other path is: `DELETE /events/track`.
 */
function otherPaths(route: Route, all: Route[]): { expression: RegExp; methods: string[] }[] {
  const { path, method } = route;
  const others = all.filter((other) => isNarrower(other.path, path) && !takesAsParameter(route, other.path));
  const narrower = new Set(others.map((other) => other.path));
  return [...narrower]
    .map((other) => ({ expression: pathExpression(other), methods: methodsOf(other, all) }))
    .filter(({ methods }) => !methods.includes(method));
}

/** Returns whether the fixed parts of another path are valid values of the route's parameters. */
function takesAsParameter({ path, params = {} }: Route, other: string): boolean {
  const parts = other.split('/');
  return path.split('/').every((part, n) => {
    const schema = params[part.slice(1)];
    const value = parts[n] ?? '';
    return !part.startsWith(':') || value.startsWith(':') || schema?.validate(value).error === undefined;
  });
}

const methodsOf = (path: string, all: Route[]): string[] =>
  all.filter((route) => route.path === path).flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
