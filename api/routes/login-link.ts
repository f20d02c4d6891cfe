import { issueLoginLink, useLoginLink } from '../../services/users/login-link.ts';
import { givenToken } from '../http/account-schemas.ts';
import { type Answer, answer, failure, missing, success } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { email, flag, object, optional, text } from '../http/schemas.ts';
import { startedSession } from '../http/session-cookie.ts';

/** Signs the demo user of `npm start` in without a password. These routes do not exist in production. */
export const loginLink = ({ settings: { production } }: Pick<AppParts, 'settings'>): RouteGroup =>
  routes(
    'Authentication',
    production
      ? []
      : [
          route({
            method: 'POST',
            path: '/auth/login-link',
            summary: 'Get a link that signs the demo user in once, within 10 minutes; in development only',
            access: 'public',
            body: { email: optional(email()) },
            answers: {
              200: answer('The link.', object({ success: flag(), data: object({ url: text() }) })),
              404: missing('demo user'),
            },
            handle: async ({ db, settings, body }) =>
              success({ url: `${settings.baseUrl}/auth/login-link/${await issueLoginLink(db, body.email)}` }),
          }),
          route({
            method: 'GET',
            path: '/auth/login-link/:token',
            summary: 'Sign the demo user in and show the dashboard',
            access: 'public',
            params: { token: givenToken() },
            answers: {
              302: answer('Signed in.'),
              400: failure('The link is used, expired or invalid.', 'BAD_REQUEST'),
              404: missing('link'),
            },
            handle: async (call): Promise<Answer> => {
              const headers = await startedSession(call, await useLoginLink(call.db, call.params.token));
              return { status: 302, headers: { ...headers, Location: '/app/', 'Cache-Control': 'no-store' } };
            },
          }),
        ],
  );
