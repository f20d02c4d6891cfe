import { ApiError } from '../../platform/errors.ts';
import { statusOf } from '../../platform/probes.ts';
import { docsPage, pageHeaders } from '../../web/pages.ts';
import { type Answer, answer, failure, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { docsOf } from '../http/docs.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { object, oneOf, record } from '../http/schemas.ts';

const readiness = object({ status: oneOf('ok', 'degraded', 'down'), parts: record() });

/** Routes for operators and for documentation, without authentication. */
export function operations(
  parts: Pick<AppParts, 'ready' | 'metrics' | 'settings'>,
  document: () => OpenApiDocument,
): RouteGroup {
  const { registry } = parts.metrics;
  /** Rendered once, on first request. */
  let docs: string | undefined;
  const probes = [
    route({
      method: 'GET',
      path: '/',
      summary: 'Redirect browsers to the dashboard',
      access: 'public',
      worksWithoutDatabase: true,
      answers: { 302: answer('To /app/.'), 404: failure('The caller is no browser.', 'RESOURCE_NOT_FOUND') },
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
      answers: { 200: answer('The process is up.', object({ status: oneOf('ok') })) },
      handle: () => ok({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      summary: 'Check that requests can be served, with the state of each dependency',
      access: 'public',
      worksWithoutDatabase: true,
      answers: {
        200: answer('Ready; `degraded` when Temporal is unavailable and accepted work waits.', readiness),
        503: answer('Not ready: no database, or pending migrations.', readiness),
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
      answers: { 200: answer('The OpenAPI 3.1 description of all routes.', record()) },
      handle: () => ok(document()),
    }),
    route({
      method: 'GET',
      path: '/docs',
      summary: 'Show the documentation page with every route',
      access: 'public',
      worksWithoutDatabase: true,
      answers: { 200: { description: 'The page.', contentType: 'text/html' } },
      handle: (): Answer => {
        docs ??= docsPage(docsOf(document()));
        return { status: 200, body: docs, headers: pageHeaders };
      },
    }),
  ];
  const metrics = route({
    method: 'GET',
    path: '/metrics',
    summary: 'Get metrics in the text format of Prometheus',
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
