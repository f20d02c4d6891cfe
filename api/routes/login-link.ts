import { ApiError } from '../../platform/errors.ts';
import { issueLoginLink, useLoginLink } from '../../services/users/login-link.ts';
import { accountRequest, givenToken } from '../http/account-schemas.ts';
import { type Answer, answer, failure, missing, page, success } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type HandlerContext, type RouteGroup, route, routes } from '../http/route.ts';
import { flag, namedType, object, text } from '../http/schemas.ts';
import { startedSession } from '../http/session-cookie.ts';
import { presentNotice } from '../presenters/account-page.ts';

const elsewhere = failure('The request was not sent to the host of BASE_URL.', 'FORBIDDEN');

/** Refuses other names of this machine: a web page may have its own name lead here (DNS rebinding). */
function requireOwnHost({ settings: { baseUrl }, request }: HandlerContext): void {
  if (request.headers.host === new URL(baseUrl).host) return;
  throw new ApiError(403, 'FORBIDDEN', `Sign-in links work only on ${baseUrl}.`);
}

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
            summary: 'Create a sign-in link for a demo user, in development only',
            access: 'public',
            body: accountRequest,
            answers: {
              200: answer(
                'The link.',
                namedType('LoginLinkResponse', 'A sign-in link.', {
                  success: flag().description('Always true.'),
                  data: object({
                    url: text()
                      .description('URL that signs in the user. It works once, for 10 minutes.')
                      .example('http://localhost:3000/auth/login-link/...'),
                  }).description('The link.'),
                }),
              ),
              403: elsewhere,
              404: missing('demo user'),
            },
            handle: async (call) => {
              requireOwnHost(call);
              const token = await issueLoginLink(call.db, call.body.email);
              return success({ url: `${call.settings.baseUrl}/auth/login-link/${token}` });
            },
          }),
          route({
            method: 'GET',
            path: '/auth/login-link/:token',
            summary: 'Sign in a demo user and redirect to the dashboard',
            access: 'public',
            params: { token: givenToken().description('Token of the link.') },
            answers: {
              302: answer('Signed in; redirects to the dashboard.'),
              400: { ...page('The link was used before, has expired or is invalid.'), orError: 'BAD_REQUEST' },
              403: elsewhere,
              404: missing('link'),
            },
            handle: async (call): Promise<Answer> => {
              requireOwnHost(call);
              try {
                const headers = await startedSession(call, await useLoginLink(call.db, call.params.token));
                return { status: 302, headers: { ...headers, Location: '/app/', 'Cache-Control': 'no-store' } };
              } catch (error) {
                const isBrowser = call.request.headers.accept?.includes('text/html');
                if (!isBrowser || !(error instanceof ApiError) || error.status !== 400) throw error;
                return presentNotice(
                  'This link no longer works',
                  'Each sign-in link works once and expires after 10 minutes. Restart Everpost for a new one, or sign in with a password.',
                  400,
                  'Sign in',
                );
              }
            },
          }),
        ],
  );
