import { seal, unseal } from '../../platform/crypto/seal.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { OAuthClient, OAuthRefusal, type OAuthState, oauthServers } from '../../platform/integrations/oauth.ts';
import { signInWith } from '../../services/users/identities.ts';
import { type Answer, answer, failure, missing } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { oneOf, optional, text } from '../http/schemas.ts';
import { cookieHeader, cookieValue, startSession } from '../http/session-cookie.ts';

const STATE_COOKIE = 'everpost_oauth';
const STATE_SECONDS = 600;
const PATH = '/auth/oauth';

const params = { provider: oneOf('github', 'google') };
const noProvider = missing('provider');
const query = {
  code: optional(text({ max: 4_000 })),
  state: optional(text({ max: 1_000 })),
  iss: optional(text({ max: 1_000 })),
  error: optional(text({ max: 1_000 })),
  error_description: optional(text({ max: 4_000 })),
};

/** Sign-in with OAuth providers. The OAuth state is kept in a sealed cookie, so nothing is stored. */
export function oauth({ settings, oauthAt = oauthServers }: AppParts): RouteGroup {
  const { secretKeys, baseUrl } = settings;
  const clientOf = (provider: 'github' | 'google'): OAuthClient => {
    const credentials = settings.oauth[provider];
    if (!credentials)
      throw new ApiError(404, 'RESOURCE_NOT_FOUND', `Signing in with ${provider} is not set up here.`, {
        suggestion: 'GET /auth/oauth-config says what is.',
      });
    return new OAuthClient(provider, oauthAt[provider], { ...credentials, baseUrl });
  };
  // With the __Host- prefix no subdomain can set it, and so complete its own sign-in in another user's browser.
  const [cookieName, path] = baseUrl.startsWith('https:') ? [`__Host-${STATE_COOKIE}`, '/'] : [STATE_COOKIE, PATH];
  const cookie = (value: string, seconds: number) => cookieHeader(cookieName, value, { seconds, path, baseUrl });

  return routes('Authentication', [
    route({
      method: 'GET',
      path: `${PATH}/:provider`,
      summary: 'Redirect to an OAuth provider to sign in',
      access: 'public',
      params,
      answers: { 302: answer('To the provider.'), 404: noProvider },
      handle: async ({ params }): Promise<Answer> => {
        const { url, journey: state } = await clientOf(params.provider).begin();
        const sealed = seal(
          secretKeys,
          [STATE_COOKIE],
          JSON.stringify({ ...state, until: Date.now() + STATE_SECONDS * 1_000 }),
        );
        return { status: 302, headers: { Location: url, 'Set-Cookie': [cookie(sealed, STATE_SECONDS)] } };
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/:provider/callback`,
      summary: 'Complete the sign-in of an OAuth provider and start a session',
      access: 'public',
      params,
      query,
      answers: {
        302: answer('Signed in: to the start page.'),
        400: failure('The sign-in was not started in this browser, or the provider refused.', 'BAD_REQUEST'),
        403: failure('The provider has no verified address, or sign-up is off.', 'FORBIDDEN'),
        404: noProvider,
        429: failure('Too many accounts were opened from this IP.', 'RATE_LIMIT_EXCEEDED'),
        502: failure('The provider cannot be reached.', 'EXTERNAL_SERVICE_ERROR'),
      },
      handle: async ({ db, params: { provider }, query, request, actor, log }): Promise<Answer> => {
        const client = clientOf(provider);
        const state = openState(secretKeys, cookieValue(request.headers, cookieName));
        if (state?.provider !== provider) throw badRequest('This sign-in was not begun in this browser.');
        const identity = await client.finish(state, query as Record<string, string>).catch((error: Error) => {
          if (error instanceof OAuthRefusal) throw badRequest(`The sign-in did not succeed: ${error.message}.`);
          log.warn({ err: error, provider }, 'OAuth provider is unavailable');
          throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', `${provider} cannot be reached just now.`);
        });
        const user = await signInWith(db, settings, identity, request.ip);
        const { headers: started } = await startSession(db, user, settings, actor);
        const session = started['Set-Cookie'];
        return { status: 302, headers: { Location: `${baseUrl}/`, 'Set-Cookie': [session, cookie('', 0)] } };
      },
    }),
  ]);
}

function openState(keys: AppParts['settings']['secretKeys'], sealed: string | undefined): OAuthState | undefined {
  if (!sealed) return undefined;
  try {
    const state = JSON.parse(unseal(keys, [STATE_COOKIE], sealed)) as OAuthState & { until: number };
    return state.until > Date.now() ? state : undefined;
  } catch {
    return undefined;
  }
}
