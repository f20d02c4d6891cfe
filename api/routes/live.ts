import joi from 'joi';
import { type Answer, failure, missing } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import { channelScopes, isChannel, requireChannels } from '../live/channels.ts';

const MAX_CHANNELS = 20;

const ONE_CHANNEL = '(activity|(campaign|job|domain|workflow|form):[0-9A-Fa-f-]{36})';

const channels = (): Typed<string[]> =>
  documented(
    joi
      .string()
      .max(1_000)
      .custom((value: string, helpers) => {
        const named = [...new Set(value.split(',').map((channel) => channel.trim().toLowerCase()))];
        if (named.length > MAX_CHANNELS)
          return refuse(helpers, 'too_big', `must not have more than ${MAX_CHANNELS} channels`);
        return named.every(isChannel)
          ? named
          : refuse(
              helpers,
              'invalid_string',
              'must be a comma-separated list of "activity", "campaign:<id>", "job:<id>", "domain:<id>", "workflow:<id>" and "form:<id>"',
            );
      })
      .required(),
    { pattern: `^${ONE_CHANNEL}(, *${ONE_CHANNEL}){0,${MAX_CHANNELS - 1}}$` },
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
      scope: channelScopes,
      projectInQuery: true,
      query: {
        topics: channels().description(
          'Channels to follow, at most 20 separated by commas: `activity`, `campaign:<id>`, `job:<id>`, `domain:<id>`, `workflow:<id>`, `form:<id>`.',
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
        await requireChannels({ db, settings }, project, query.topics);
        const { projectId } = project;
        const recheck = () => request.authenticate();
        return { status: 200, headers, body: await liveHub.open({ projectId, channels: query.topics, recheck }) };
      },
    }),
  ]);
