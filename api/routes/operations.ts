import { statusOf } from '../../platform/probes.ts';
import { docsPage, pageHeaders } from '../../web/pages.ts';
import { type Answer, answer, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { docsOf } from '../http/docs.ts';
import type { OpenApiDocument } from '../http/openapi.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { object, oneOf, record } from '../http/schemas.ts';

const readiness = object({ status: oneOf('ok', 'degraded', 'down'), parts: record() });

/** For those who run the service: nobody is asked who they are. */
export function operations(
  parts: Pick<AppParts, 'ready' | 'metrics' | 'settings'>,
  document: () => OpenApiDocument,
): RouteGroup {
  const { registry } = parts.metrics;
  /** Made once, when somebody first looks. */
  let docs: string | undefined;
  const probes = [
    route({
      method: 'GET',
      path: '/health',
      summary: 'Whether the process is up',
      access: 'nobody',
      answers: { 200: answer('It is.', object({ status: oneOf('ok') })) },
      handle: () => ok({ status: 'ok' }),
    }),
    route({
      method: 'GET',
      path: '/ready',
      summary: 'Whether requests can be served, and the state of each part that they need',
      access: 'nobody',
      answers: {
        200: answer(
          'They can; `degraded` when something behind the API is away and what is accepted waits.',
          readiness,
        ),
        503: answer('They cannot: no database, or one with pending migrations.', readiness),
      },
      handle: async (): Promise<Answer> => {
        const state = await parts.ready();
        return { status: statusOf(state), body: state };
      },
    }),
    route({
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      access: 'nobody',
      answers: { 200: answer('The OpenAPI 3.1 description of all routes.', record()) },
      handle: () => ok(document()),
    }),
    route({
      method: 'GET',
      path: '/docs',
      summary: 'The same for people: a page with every route',
      access: 'nobody',
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
    summary: 'Counters and timings in the text format of Prometheus',
    access: 'nobody',
    answers: { 200: { description: 'The metrics.', contentType: 'text/plain' } },
    handle: async (): Promise<Answer> => ({
      status: 200,
      body: await registry.metrics(),
      headers: { 'Content-Type': registry.contentType },
    }),
  });
  // Everybody can reach the API's own port: in production metrics are served on METRICS_PORT or not at all.
  const { metricsPort, production } = parts.settings;
  return routes('Operations', metricsPort === undefined && !production ? [...probes, metrics] : probes);
}
