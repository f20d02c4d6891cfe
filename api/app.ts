import Koa from 'koa';
import { findFormOrigins } from '../services/forms/public.ts';
import type { AppParts, RequestState } from './http/context.ts';
import { DocsSite } from './http/docs-site.ts';
import { servedOpenApi } from './http/openapi-file.ts';
import type { OpenApiDocument } from './http/openapi-shared.ts';
import { register } from './http/register.ts';
import type { RouteGroup } from './http/route.ts';
import { readWebApp } from './http/web-app-files.ts';
import { changeAnnouncer } from './middleware/announce-changes.ts';
import { cors } from './middleware/cors.ts';
import { documentation } from './middleware/documentation.ts';
import { errors } from './middleware/errors.ts';
import { observe } from './middleware/observe.ts';
import { readableUrl } from './middleware/readable-url.ts';
import { requestId } from './middleware/request-id.ts';
import { secure } from './middleware/secure.ts';
import { unknownRoute } from './middleware/unknown-route.ts';
import { webApp } from './middleware/web-app.ts';
import { routeGroups } from './routes/index.ts';

/** Builds the middleware stack, in the order in which a request passes it. */
export function createApp(parts: AppParts, moreRoutes: RouteGroup[] = []): Koa<RequestState> {
  const { settings, log } = parts;
  // Trusts only the last address of X-Forwarded-For, which the proxy added; the client may have sent the others.
  const app = new Koa<RequestState>({ proxy: settings.trustProxy, maxIpsCount: 1 });
  let served: OpenApiDocument | undefined;
  const document = () => {
    served ??= servedOpenApi(parts.document(), groups);
    return served;
  };
  const groups = [...routeGroups(parts, document), ...moreRoutes];
  const { router, shortcut } = register(groups, parts);

  app.use(secure(settings));
  app.use(requestId);
  app.use(observe(parts));
  app.use(errors(parts));
  app.use(cors(settings.corsOrigins, (id) => findFormOrigins(parts.db, id)));
  app.use(readableUrl);
  app.use(changeAnnouncer(parts));
  app.use(documentation(new DocsSite(settings.docsDir)));
  app.use(shortcut);
  app.use(webApp(readWebApp(settings.webAppDir)));
  app.use(router.routes() as Koa.Middleware<RequestState>);
  app.use(unknownRoute(router));
  // Errors here occur after the response has begun, mostly because the client disconnected.
  app.on('error', (error: unknown) => log.debug({ err: error }, 'response was interrupted'));
  return app;
}
