import joi from 'joi';
import { type Answer, failure, missing } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import { isTopic, requireTopics, topicScopes } from '../live/topics.ts';

const MAX_TOPICS = 20;

const ONE_TOPIC = '(activity|(campaign|job|domain|workflow):[0-9A-Fa-f-]{36})';

const topics = (): Typed<string[]> =>
  documented(
    joi
      .string()
      .max(1_000)
      .custom((value: string, helpers) => {
        const named = [...new Set(value.split(',').map((topic) => topic.trim().toLowerCase()))];
        if (named.length > MAX_TOPICS)
          return refuse(helpers, 'too_big', `must not have more than ${MAX_TOPICS} topics`);
        return named.every(isTopic)
          ? named
          : refuse(
              helpers,
              'invalid_string',
              'must be a comma-separated list of "activity", "campaign:<id>", "job:<id>", "domain:<id>" and "workflow:<id>"',
            );
      })
      .required(),
    { pattern: `^${ONE_TOPIC}(, *${ONE_TOPIC}){0,${MAX_TOPICS - 1}}$` },
  ).example('activity');

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  // Asks proxies not to buffer.
  'X-Accel-Buffering': 'no',
};

export const live = ({ liveHub }: Pick<AppParts, 'liveHub'>): RouteGroup =>
  routes('Live', [
    route({
      method: 'GET',
      path: '/live',
      summary: 'Stream changes of resources as server-sent events',
      access: 'secretKey',
      scope: topicScopes,
      projectInQuery: true,
      query: {
        topics: topics().description(
          'What to follow, at most 20 topics separated by commas: `activity`, `campaign:<id>`, `job:<id>`, `domain:<id>`, `workflow:<id>`.',
        ),
      },
      answers: {
        200: {
          description: '`{ topic, data }` whenever a resource changes, at most once per second.',
          contentType: 'text/event-stream',
        },
        404: missing('resource'),
        429: failure('The project has 20 streams open, or made too many requests.', 'RATE_LIMIT_EXCEEDED'),
      },
      handle: async ({ db, settings, project, query, request }): Promise<Answer> => {
        await requireTopics({ db, settings }, project, query.topics);
        const { projectId } = project;
        const recheck = () => request.authenticate();
        return { status: 200, headers, body: await liveHub.open({ projectId, topics: query.topics, recheck }) };
      },
    }),
  ]);
