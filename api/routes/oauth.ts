import { seal, unseal } from '../../platform/crypto/seal.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import {
  discoveredClient,
  fixedClient,
  type OAuthClient,
  type OAuthProvider,
  OAuthRefusal,
  type OAuthState,
  oauthProviders,
  oauthServers,
} from '../../platform/integrations/oauth.ts';
import { signInWith } from '../../services/users/identities.ts';
import { completeSignIn } from '../../services/users/sign-in.ts';
import { CodeRequired } from '../../services/users/two-factor.ts';
import { type Answer, answer, failure, missing, page } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type HandlerContext, type RouteGroup, route, routes } from '../http/route.ts';
import { oneOf, optional, request, text } from '../http/schemas.ts';
import { cookieHeader, cookieValue, sessionCookie, signInClient, startedSession } from '../http/session-cookie.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';
import { presentPageForm } from '../presenters/account-page.ts';

const STATE_COOKIE = 'everpost_oauth';
const STATE_SECONDS = 600;
const PATH = '/auth/oauth';

const params = { provider: oneOf(...oauthProviders).description('OAuth provider.') };
const noProvider = missing('provider');
const unavailable = failure('The provider cannot be reached.', 'EXTERNAL_SERVICE_ERROR');

/**
 * ASCII, as in RFC 6749. The document has lengths that fit into an address together, which Node limits to 16 KB with the
 * headers; a longer value alone is accepted.
 */
const fromProvider = (maxLength: number, max: number): Typed<string | undefined> =>
  optional(documented(text({ max }), { maxLength, pattern: '^[ -~]+$' }));

const query = {
  code: fromProvider(2_000, 4_000).description('Authorization code.').example('SplxlOBeZQQYbYS6WxSbIA'),
  state: fromProvider(500, 1_000).description('State of the authorization request.').example('af0ifjsldkj'),
  iss: fromProvider(500, 1_000)
    .description('Issuer of the response (RFC 9207).')
    .example('https://accounts.google.com'),
  error: fromProvider(200, 1_000).description('Error code, if the sign-in failed.').example('access_denied'),
  error_description: fromProvider(1_000, 4_000)
    .description('Error message, if the sign-in failed.')
    .example('The user denied the request.'),
};

/** The user whom the provider has named and whose code is still missing. */
interface PendingSignIn {
  provider: OAuthProvider;
  userId: string;
}

/** Sign-in with OAuth providers. Its state is kept in a sealed cookie, so nothing is stored. */
export function oauth({ settings, oauthAt = oauthServers }: AppParts): RouteGroup {
  const { secretKeys, baseUrl } = settings;
  const discovered = discoverOnce(settings);
  const clientOf = async (provider: OAuthProvider, log: HandlerContext['log']): Promise<OAuthClient> => {
    if (provider === 'oidc' && settings.oauth.oidc)
      return discovered().catch((error: unknown) => {
        throw cannotReach(provider, error, log);
      });
    const credentials = provider === 'oidc' ? undefined : settings.oauth[provider];
    if (!credentials || provider === 'oidc')
      throw new ApiError(404, 'RESOURCE_NOT_FOUND', `Sign-in with ${provider} is not configured here.`, {
        suggestion: 'GET /auth/oauth-config lists the configured providers.',
      });
    return fixedClient(provider, oauthAt[provider], { ...credentials, baseUrl });
  };
  // With the __Host- prefix no subdomain can set it, and so complete its own sign-in in another user's browser.
  const [cookieName, path] = baseUrl.startsWith('https:') ? [`__Host-${STATE_COOKIE}`, '/'] : [STATE_COOKIE, PATH];
  const cookie = (value: string, seconds: number) => cookieHeader(cookieName, value, { seconds, path, baseUrl });
  /** `kind` keeps the two uses of the cookie apart. */
  const sealed = (kind: 'state' | 'pending', content: object): string => {
    const until = Date.now() + STATE_SECONDS * 1_000;
    return cookie(seal(secretKeys, [STATE_COOKIE, kind], JSON.stringify({ ...content, until })), STATE_SECONDS);
  };
  const opened = <T>(kind: 'state' | 'pending', { headers }: HandlerContext['request']): T | undefined => {
    const value = cookieValue(headers, cookieName);
    if (!value) return undefined;
    try {
      const content = JSON.parse(unseal(secretKeys, [STATE_COOKIE, kind], value)) as T & { until: number };
      return content.until > Date.now() ? content : undefined;
    } catch {
      return undefined;
    }
  };
  const signedIn = (session: string): Answer => ({
    status: 302,
    headers: { Location: `${baseUrl}/`, 'Set-Cookie': [session, cookie('', 0)] },
  });

  return routes('Authentication', [
    route({
      method: 'GET',
      path: `${PATH}/:provider`,
      summary: 'Redirect to an OAuth provider to sign in',
      access: 'public',
      worksWithoutDatabase: true,
      params,
      answers: { 302: answer('Redirects to the provider.'), 404: noProvider, 502: unavailable },
      handle: async ({ params, log }): Promise<Answer> => {
        const { url, journey } = await (await clientOf(params.provider, log)).begin();
        return { status: 302, headers: { Location: url, 'Set-Cookie': [sealed('state', journey)] } };
      },
    }),
    route({
      method: 'GET',
      path: `${PATH}/:provider/callback`,
      summary: 'Complete the sign-in with an OAuth provider, or ask for a two-factor code',
      access: 'public',
      params,
      query,
      answers: {
        302: answer('Signed in; redirects to the start page.'),
        400: failure('The sign-in was not started in this browser, or the provider refused it.', 'BAD_REQUEST'),
        401: {
          ...page('The account has two-factor authentication. The page asks for the code.'),
          orError: 'INVALID_CREDENTIALS',
        },
        403: failure('The provider has no verified address of the user, or sign-up is turned off.', 'FORBIDDEN'),
        404: noProvider,
        429: failure('Too many accounts were created from this IP address.', 'RATE_LIMIT_EXCEEDED'),
        502: unavailable,
      },
      handle: async (call): Promise<Answer> => {
        const { db, params, query, request, log } = call;
        const { provider } = params;
        const client = await clientOf(provider, log);
        const state = opened<OAuthState>('state', request);
        if (state?.provider !== provider) throw badRequest('This sign-in was not started in this browser.');
        const identity = await client.finish(state, query as Record<string, string>).catch((error: Error) => {
          if (error instanceof OAuthRefusal) throw badRequest(`Sign-in failed: ${error.message}.`);
          throw cannotReach(provider, error, log);
        });
        const user = await signInWith(db, settings, identity, call.actor);
        try {
          return signedIn((await startedSession(call, user))['Set-Cookie']);
        } catch (error) {
          if (!(error instanceof CodeRequired)) throw error;
          const pending: PendingSignIn = { provider, userId: user.id };
          return askForCode(call, error, { 'Set-Cookie': sealed('pending', pending) });
        }
      },
    }),
    route({
      method: 'POST',
      path: `${PATH}/:provider/code`,
      summary: 'Complete the sign-in with an OAuth provider by a two-factor code',
      access: 'public',
      params,
      bodyKind: 'form',
      body: request('CompleteSignInRequest', 'The two-factor code.', {
        code: optional(text({ min: 0, max: 50 })).description('Code of the authenticator app, or a recovery code.'),
      }),
      answers: {
        302: answer('Signed in; redirects to the start page.'),
        400: failure('No sign-in is waiting for a code in this browser.', 'BAD_REQUEST'),
        401: { ...page('The code is wrong. The page says so.'), orError: 'INVALID_CREDENTIALS' },
        404: noProvider,
        429: { ...page('Too many failed attempts.'), orError: 'RATE_LIMIT_EXCEEDED' },
      },
      handle: async (call): Promise<Answer> => {
        const { db, params, body, request } = call;
        const pending = opened<PendingSignIn>('pending', request);
        if (pending?.provider !== params.provider)
          throw badRequest('No sign-in is waiting for a code in this browser.', {
            suggestion: `Start again with GET ${PATH}/${params.provider}.`,
          });
        try {
          const { code = '' } = body;
          const token = await completeSignIn(db, secretKeys, pending.userId, code, signInClient(call));
          return signedIn(sessionCookie(settings, token));
        } catch (error) {
          if (!(error instanceof ApiError) || ![401, 429].includes(error.status)) throw error;
          return askForCode(call, error);
        }
      },
    }),
  ]);
}

/** Shows browsers a form, and returns to other clients an error that says what is missing. */
function askForCode({ request }: HandlerContext, error: ApiError, headers: Record<string, string> = {}): Answer {
  if (!request.headers.accept?.includes('text/html'))
    throw new ApiError(error.status, error.code, error.message, {
      ...error.extras,
      headers: { ...error.extras.headers, ...headers },
    });
  const form = presentPageForm(
    {
      title: 'Two-factor authentication',
      text: 'Enter the code from your authenticator app, or one of your recovery codes.',
      forms: [{ button: 'Log in', action: 'code', fields: [{ name: 'code', label: 'Code' }] }],
      ...(!(error instanceof CodeRequired) && { formError: error.message }),
    },
    error.status,
  );
  return { ...form, headers: { ...form.headers, ...error.extras.headers, ...headers } };
}

function cannotReach(provider: OAuthProvider, error: unknown, log: HandlerContext['log']): ApiError {
  log.warn({ err: error, provider }, 'OAuth provider is unavailable');
  return new ApiError(502, 'EXTERNAL_SERVICE_ERROR', `${provider} is currently unreachable.`);
}

/** Discovery documents change rarely, but they do. */
const DISCOVERY_MS = 60 * 60_000;

/** Returns the client of the OpenID Connect provider, discovered at most once an hour. A failure is not remembered. */
function discoverOnce({ oauth: { oidc }, baseUrl }: AppParts['settings']): () => Promise<OAuthClient> {
  let client: Promise<OAuthClient> | undefined;
  let staleAt = 0;
  return () => {
    if (!oidc) return Promise.reject(new Error('no provider is set up'));
    if (!client || Date.now() >= staleAt) {
      staleAt = Date.now() + DISCOVERY_MS;
      client = discoveredClient(oidc.issuer, { id: oidc.id, secret: oidc.secret, baseUrl });
      client.catch(() => {
        client = undefined;
      });
    }
    return client;
  };
}
