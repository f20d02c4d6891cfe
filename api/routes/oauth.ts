import { ApiError, badRequest } from '../../platform/errors.ts';
import { OAuthClient, OAuthRefusal, type OAuthState, oauthServers } from '../../platform/oauth.ts';
import { seal, unseal } from '../../platform/seal.ts';
import { signInWith } from '../../services/users/identities.ts';
import { type Answer, answer, failure, missing } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { oneOf, optional, text } from '../http/schemas.ts';
import { cookieHeader, cookieValue, startSession } from '../http/session-cookie.ts';

const JOURNEY = 'everpost_oauth';
const JOURNEY_SECONDS = 600;
const PATH = '/auth/oauth';

const params = { provider: oneOf('github', 'google') };
const notHere = missing('provider');
const query = {
  code: optional(text({ max: 4_000 })),
  state: optional(text({ max: 1_000 })),
  iss: optional(text({ max: 1_000 })),
  error: optional(text({ max: 1_000 })),
  error_description: optional(text({ max: 4_000 })),
};

/** Signing in with an account elsewhere. Where the journey stands is in a sealed cookie: nothing to store, nothing to steal. */
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
  // On https no subdomain can set it, and so finish a sign-in of its own in somebody else's browser.
  const [cookieName, path] = baseUrl.startsWith('https:') ? [`__Host-${JOURNEY}`, '/'] : [JOURNEY, PATH];
  const cookie = (value: string, seconds: number) => cookieHeader(cookieName, value, { seconds, path, baseUrl });

  return routes('Authentication', [
    route({
      method: 'GET',
      path: `${PATH}/:provider`,
      summary: 'Sign in with an account elsewhere: leads to the provider',
      access: 'nobody',
      params,
      answers: { 302: answer('To the provider.'), 404: notHere },
      handle: async ({ params }): Promise<Answer> => {
        const { url, journey } = await clientOf(params.provider).begin();
        const sealed = seal(
          secretKeys,
          [JOURNEY],
          JSON.stringify({ ...journey, until: Date.now() + JOURNEY_SECONDS * 1_000 }),
        );
        return { status: 302, headers: { Location: url, 'Set-Cookie': [cookie(sealed, JOURNEY_SECONDS)] } };
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/:provider/callback`,
      summary: 'Where the provider leads back to; the answer carries a session',
      access: 'nobody',
      params,
      query,
      answers: {
        302: answer('Signed in: to the start page.'),
        400: failure('It was not begun here, or the provider refused.', 'BAD_REQUEST'),
        403: failure('The address is not verified there, or signing up is turned off.', 'FORBIDDEN'),
        404: notHere,
        429: failure('Too many accounts were opened from this IP.', 'RATE_LIMIT_EXCEEDED'),
        502: failure('The provider cannot be reached.', 'EXTERNAL_SERVICE_ERROR'),
      },
      handle: async ({ db, params: { provider }, query, request, log }): Promise<Answer> => {
        const client = clientOf(provider);
        const journey = openJourney(secretKeys, cookieValue(request.headers, cookieName));
        if (journey?.provider !== provider) throw badRequest('This sign-in was not begun in this browser.');
        const identity = await client.finish(journey, query as Record<string, string>).catch((error: Error) => {
          if (error instanceof OAuthRefusal) throw badRequest(`The sign-in did not succeed: ${error.message}.`);
          log.warn({ err: error, provider }, 'an OAuth provider could not be asked');
          throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', `${provider} cannot be reached just now.`);
        });
        const user = await signInWith(db, settings, identity, request.ip);
        const { headers: started } = await startSession(db, user, settings);
        const session = started['Set-Cookie'];
        return { status: 302, headers: { Location: `${baseUrl}/`, 'Set-Cookie': [session, cookie('', 0)] } };
      },
    }),
  ]);
}

function openJourney(keys: AppParts['settings']['secretKeys'], sealed: string | undefined): OAuthState | undefined {
  if (!sealed) return undefined;
  try {
    const journey = JSON.parse(unseal(keys, [JOURNEY], sealed)) as OAuthState & { until: number };
    return journey.until > Date.now() ? journey : undefined;
  } catch {
    return undefined;
  }
}
