import { ApiError } from '../../platform/errors.ts';
import { statusOf } from '../../platform/probes.ts';
import { noticePage } from '../../web/pages.ts';
import { type Answer, answer, failure, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import type { OpenApiDocument } from '../http/openapi-shared.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { namedType, oneOf, optional, record, text } from '../http/schemas.ts';

const readiness = namedType('Readiness', 'Whether requests can be served.', {
  status: oneOf('ok', 'degraded', 'down').description('Overall status.'),
  parts: record()
    .description('Status of each dependency: `ok`, `degraded` or `down`.')
    .example({ database: 'ok', migrations: 'ok', temporal: 'ok' }),
  reason: optional(text()).description('What is wrong, if known.').example("The database's disk is full."),
});

const healthSchema = namedType('Health', 'Whether the process is up.', {
  status: oneOf('ok').description('Always `ok`.'),
});

/** Routes for operators and for documentation, without authentication. */
export function operations(
  parts: Pick<AppParts, 'ready' | 'metrics' | 'settings'>,
  document: () => OpenApiDocument,
): RouteGroup {
  const { registry } = parts.metrics;
  const probes = [
    route({
      method: 'GET',
      path: '/',
      summary: 'Redirect browsers to the dashboard',
      access: 'public',
      worksWithoutDatabase: true,
      answers: {
        302: answer('Redirects to /app/.'),
        404: failure('The caller is not a browser.', 'RESOURCE_NOT_FOUND'),
      },
      handle: ({ request }): Answer => {
        if (request.headers.accept?.includes('text/html'))
          return { status: 302, headers: { Location: '/app/', Vary: 'Accept' } };
        throw new ApiError(404, 'RESOURCE_NOT_FOUND', 'There is no route GET /.', {
          suggestion: 'GET /openapi.json lists every route.',
        });
      },
    }),
    route({
      method: 'GET',
      path: '/health',
      summary: 'Check that the process is up',
      access: 'public',
      worksWithoutDatabase: true,
      answers: { 200: answer('The process is up.', healthSchema) },
      handle: () => ok({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      summary: 'Check that requests can be served',
      access: 'public',
      worksWithoutDatabase: true,
      answers: {
        200: answer(
          "Ready. `degraded` if Temporal is unavailable and accepted work waits, or if the database's disk is full.",
          readiness,
        ),
        503: answer('Not ready: the database is unavailable or lacks migrations.', readiness),
      },
      handle: async (): Promise<Answer> => {
        const state = await parts.ready();
        return { status: statusOf(state), body: state };
      },
    }),
    route({
      method: 'GET',
      path: '/openapi.json',
      summary: 'Get the OpenAPI document',
      access: 'public',
      worksWithoutDatabase: true,
      answers: { 200: answer('OpenAPI 3.1 document of all routes.', record()) },
      handle: () => ok(document()),
    }),
    route({
      method: 'GET',
      path: '/docs',
      summary: 'Show the documentation site',
      access: 'public',
      worksWithoutDatabase: true,
      answers: { 200: { description: 'The page.', contentType: 'text/html' } },
      // The middleware `documentation` answers once the site is built.
      handle: (): Answer => docsNotice(parts.settings.docsDir),
    }),
  ];
  const metrics = route({
    method: 'GET',
    path: '/metrics',
    summary: 'Get metrics in Prometheus text format',
    access: 'public',
    worksWithoutDatabase: true,
    answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
    handle: async (): Promise<Answer> => ({
      status: 200,
      body: await registry.metrics(),
      headers: { 'Content-Type': registry.contentType },
    }),
  });
  // The API's port is public: in production metrics are served on METRICS_PORT only.
  const { metricsPort, production } = parts.settings;
  return routes('Operations', metricsPort === undefined && !production ? [...probes, metrics] : probes);
}

/** `npm start` names the directory before it has built the site, so the page is loaded again. */
function docsNotice(docsDir: string | undefined): Answer {
  const text = docsDir
    ? 'The documentation is being built. It appears here when it is ready, usually within a minute. If it does not, the terminal of npm start shows the error.'
    : 'The documentation is not built. Run "npm run build", or start everything with "npm start".';
  const link = { href: '/openapi.json', text: 'OpenAPI document' };
  const { body, headers } = noticePage({ language: 'en', title: 'Documentation', text, link });
  return { status: 200, body, headers: { ...headers, ...(docsDir && { Refresh: '3' }) } };
}
