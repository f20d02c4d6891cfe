import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, badRequest } from '../../platform/errors.ts';
import type { ProjectAccess } from '../../services/access/keys.ts';
import { isOpenProject } from '../../services/access/open-project.ts';
import { hasScope } from '../../services/access/scopes.ts';
import { webhookSecret } from '../../services/projects/webhook-secret.ts';
import { closeListener, openListener, readListener, touchListener } from '../../services/webhooks/listen.ts';
import { isTypePattern } from '../../services/webhooks/types.ts';
import { answer } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { optional, text } from '../http/schemas.ts';
import { eventStream, mayStillRead, sseComment, sseMessage } from '../http/server-sent-events.ts';
import { documented } from '../http/violations.ts';

const MAX_TYPES = 50;
const STREAMS_PER_PROJECT = 5;

const everything = ['*', 'event.*'];

function readTypes(types: string | undefined): string[] {
  if (types === undefined) return everything;
  const patterns = [...new Set(types.split(',').map((pattern) => pattern.trim()))];
  const unknown = patterns.find((pattern) => !isTypePattern(pattern));
  if (unknown !== undefined || patterns.length > MAX_TYPES)
    throw badRequest(`"types" must be 1 to ${MAX_TYPES} webhook types, separated by commas.`, {
      suggestion: 'GET /webhook-endpoints/types lists them.',
    });
  return patterns;
}

export const webhookListen = ({ isClosing, settings }: Pick<AppParts, 'isClosing' | 'settings'>): RouteGroup => {
  const { listenPoll, listenHeartbeat } = settings.timings.webhooks;
  const streams = new Map<string, number>();
  const count = (projectId: string, change: number) => {
    const open = (streams.get(projectId) ?? 0) + change;
    if (open > 0) streams.set(projectId, open);
    else streams.delete(projectId);
  };

  /** Yields what happens until the client leaves, the process stops, or the caller may no longer read. */
  async function* messages(
    db: AppParts['db'],
    project: ProjectAccess,
    types: string[],
    secret: string,
    authenticate: () => Promise<unknown>,
    left: AbortSignal,
  ) {
    const { projectId } = project;
    let listenerId: string | undefined;
    count(projectId, 1);
    try {
      listenerId = await openListener(db, projectId, types);
      yield sseComment('listening');
      for (let beatAt = performance.now(); !isClosing() && !left.aborted; ) {
        const { deliveries, hasMore } = await readListener(db, projectId, listenerId, secret);
        for (const delivery of deliveries) yield sseMessage(delivery.headers['webhook-id'] ?? '', delivery);
        if (!hasMore) await sleep(listenPoll, undefined, { signal: left }).catch(() => {});
        if (performance.now() - beatAt < listenHeartbeat) continue;
        if (!(await mayStillRead(authenticate)) || !(await isOpenProject(db, project))) return;
        await touchListener(db, projectId, listenerId);
        beatAt = performance.now();
        yield sseComment('heartbeat');
      }
    } finally {
      count(projectId, -1);
      if (listenerId) await closeListener(db, projectId, listenerId);
    }
  }

  return routes('Webhooks', [
    route({
      method: 'GET',
      scope: 'webhooks:read',
      path: '/webhook-endpoints/listen',
      summary: 'Stream webhooks as server-sent events, for local development',
      access: 'secretKey',
      role: 'ADMIN',
      // An address has room for this many with any escapes; a longer list without them is accepted.
      query: {
        types: optional(documented(text({ max: 10_000 }), { maxLength: 1_000 }))
          .description('Webhook types to receive, at most 50, separated by commas; all by default.')
          .example('email.*,event.*'),
      },
      answers: {
        200: {
          ...answer(
            'Each event is `{ type, timestamp, data, headers, body }`. `X-Webhook-Secret` has the signing secret, for keys with `webhooks:write`.',
          ),
          contentType: 'text/event-stream',
        },
      },
      handle: async ({ db, project, settings, query, request }) => {
        const types = readTypes(query.types);
        const { projectId } = project;
        const secret = await webhookSecret(db, settings.secretKeys, projectId);
        if (request.method === 'HEAD') return eventStream(async function* () {});
        if ((streams.get(projectId) ?? 0) >= STREAMS_PER_PROJECT)
          throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `This project has ${STREAMS_PER_PROJECT} streams open.`, {
            headers: { 'Retry-After': '15' },
            suggestion: 'Close one first.',
          });
        return eventStream((left) => messages(db, project, types, secret, request.authenticate, left), {
          ...(hasScope(project, 'webhooks:write') && { 'X-Webhook-Secret': secret }),
        });
      },
    }),
  ]);
};
