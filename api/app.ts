import Koa from 'koa';
import type { AppParts, RequestState } from './http/context.ts';
import { openApiOf } from './http/openapi.ts';
import { register } from './http/register.ts';
import type { RouteGroup } from './http/route.ts';
import { cors } from './middleware/cors.ts';
import { errors } from './middleware/errors.ts';
import { observe } from './middleware/observe.ts';
import { readableUrl } from './middleware/readable-url.ts';
import { requestId } from './middleware/request-id.ts';
import { secure } from './middleware/secure.ts';
import { unknownRoute } from './middleware/unknown-route.ts';
import { routeGroups } from './routes/index.ts';

/** From a request to its answer, top-down. */
export function createApp(parts: AppParts, moreRoutes: RouteGroup[] = []): Koa<RequestState> {
  const { settings, log } = parts;
  // The last address in the proxy's header is the one it saw itself; those before it are the client's own words.
  const app = new Koa<RequestState>({ proxy: settings.trustProxy, maxIpsCount: 1 });
  const groups = [...routeGroups(parts, () => document), ...moreRoutes];
  const document = openApiOf(groups);
  const { router, shortcut } = register(groups, parts);

  app.use(secure(settings));
  app.use(requestId);
  app.use(observe(parts));
  app.use(errors(log));
  app.use(cors(settings.corsOrigins));
  app.use(readableUrl);
  app.use(shortcut);
  app.use(router.routes() as Koa.Middleware<RequestState>);
  app.use(unknownRoute(router));
  // What is left for here happens after the answer has begun: a client that went away, most of the time.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'an answer broke off'));
  return app;
}
