import * as client from 'openid-client';

/** `oidc` is the OpenID Connect provider of the installation. */
export const oauthProviders = ['github', 'google', 'oidc'] as const;
export type OAuthProvider = (typeof oauthProviders)[number];
/** Providers whose endpoints are fixed; those of `oidc` are discovered. */
export type FixedProvider = Exclude<OAuthProvider, 'oidc'>;

/** The endpoints of a provider. GitHub has OAuth 2 without OpenID Connect: its API returns the user. */
export interface OAuthServer {
  issuer: string;
  authorize: string;
  token: string;
  userinfo: string;
  /** GitHub only: the user's addresses and whether they are verified. */
  emails?: string;
}

export const oauthServers: Record<FixedProvider, OAuthServer> = {
  github: {
    issuer: 'https://github.com/login/oauth',
    authorize: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    userinfo: 'https://api.github.com/user',
    emails: 'https://api.github.com/user/emails',
  },
  google: {
    issuer: 'https://accounts.google.com',
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    userinfo: 'https://openidconnect.googleapis.com/v1/userinfo',
  },
};

const scopes: Record<OAuthProvider, string> = {
  github: 'read:user user:email',
  google: 'openid email',
  oidc: 'openid email',
};

/** The OAuth state of one sign-in, kept in a sealed cookie between redirect and callback. */
export interface OAuthState {
  provider: OAuthProvider;
  state: string;
  verifier: string;
  nonce?: string | undefined;
}

export interface OAuthIdentity {
  provider: OAuthProvider;
  subject: string;
  email: string;
  /** As stated by the provider. */
  emailVerified: boolean;
}

/** The provider refused the sign-in or sent an invalid response. The user must start again. */
export class OAuthRefusal extends Error {}

const TIMEOUT_SECONDS = 10;

/** What the provider knows us by, and the address of this installation. */
export interface ClientCredentials {
  id: string;
  secret: string;
  baseUrl: string;
}

/** Returns the client of a provider with fixed endpoints. */
export function fixedClient(
  provider: FixedProvider,
  server: OAuthServer,
  { id, secret, baseUrl }: ClientCredentials,
): OAuthClient {
  const metadata = {
    issuer: server.issuer,
    authorization_endpoint: server.authorize,
    token_endpoint: server.token,
    userinfo_endpoint: server.userinfo,
  };
  const config = new client.Configuration(metadata, id, {}, client.ClientSecretPost(secret));
  config.timeout = TIMEOUT_SECONDS;
  // Only test servers use http.
  if (server.token.startsWith('http:')) client.allowInsecureRequests(config);
  return new OAuthClient(provider, config, baseUrl, server.emails === undefined ? undefined : server);
}

/**
 * Returns the client of an OpenID Connect provider from its discovery document. ID tokens are verified against the keys
 * that it publishes.
 */
export async function discoveredClient(
  issuer: string,
  { id, secret, baseUrl }: ClientCredentials,
): Promise<OAuthClient> {
  const config = await client.discovery(new URL(issuer), id, {}, secretInHeaderOrBody(secret), {
    timeout: TIMEOUT_SECONDS,
    execute: [client.enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : [])],
  });
  return new OAuthClient('oidc', config, baseUrl);
}

/** Sends the secret as the provider supports it; its default is HTTP Basic (OpenID Connect Discovery 1.0, section 3). */
const secretInHeaderOrBody =
  (secret: string): client.ClientAuth =>
  (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const inHeader = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
    return (inHeader ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret))(server, ...rest);
  };

export class OAuthClient {
  private readonly provider: OAuthProvider;
  private readonly config: client.Configuration;
  private readonly redirectUri: string;
  /** The API that returns the user of a provider without OpenID Connect. */
  private readonly userApi: OAuthServer | undefined;

  constructor(provider: OAuthProvider, config: client.Configuration, baseUrl: string, userApi?: OAuthServer) {
    this.provider = provider;
    this.config = config;
    this.redirectUri = `${baseUrl}/auth/oauth/${provider}/callback`;
    this.userApi = userApi;
  }

  async begin(): Promise<{ url: string; journey: OAuthState }> {
    const journey: OAuthState = {
      provider: this.provider,
      state: client.randomState(),
      verifier: client.randomPKCECodeVerifier(),
      ...(!this.userApi && { nonce: client.randomNonce() }),
    };
    const url = client.buildAuthorizationUrl(this.config, {
      redirect_uri: this.redirectUri,
      scope: scopes[this.provider],
      state: journey.state,
      code_challenge: await client.calculatePKCECodeChallenge(journey.verifier),
      code_challenge_method: 'S256',
      ...(journey.nonce && { nonce: journey.nonce }),
    });
    return { url: url.href, journey };
  }

  /** Returns the identity of the user. `query` is the query of the provider's redirect. */
  async finish({ state, verifier, nonce }: OAuthState, query: Record<string, string>): Promise<OAuthIdentity> {
    const callbackUrl = new URL(this.redirectUri);
    callbackUrl.search = new URLSearchParams(query).toString();
    try {
      const tokens = await client.authorizationCodeGrant(this.config, callbackUrl, {
        expectedState: state,
        pkceCodeVerifier: verifier,
        ...(nonce && { expectedNonce: nonce, idTokenExpected: true }),
      });
      return this.userApi ? await this.githubUser(this.userApi, tokens.access_token) : await this.openIdUser(tokens);
    } catch (error) {
      throw isRefusal(error) ? new OAuthRefusal((error as Error).message) : error;
    }
  }

  private async openIdUser(tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>): Promise<OAuthIdentity> {
    const claims = tokens.claims();
    const { sub = '', iss = '' } = claims ?? {};
    // The address may be in the ID token already; the provider of an installation may have no other place for it.
    const { email = '', email_verified: verified } =
      typeof claims?.email === 'string' && claims.email_verified !== undefined && this.provider === 'oidc'
        ? (claims as Partial<client.UserInfoResponse>)
        : await client.fetchUserInfo(this.config, tokens.access_token, sub);
    // A subject is unique for its issuer only, and OIDC_ISSUER may change.
    const subject = this.provider === 'oidc' ? `${iss} ${sub}` : sub;
    return { provider: this.provider, subject, email, emailVerified: String(verified) === 'true' };
  }

  private async githubUser({ userinfo, emails: list = '' }: OAuthServer, token: string): Promise<OAuthIdentity> {
    const user = (await this.fetchJson(token, userinfo)) as { id?: number };
    const emails = (await this.fetchJson(token, list)) as {
      email: string;
      primary: boolean;
      verified: boolean;
    }[];
    const primary = emails.find(({ primary }) => primary);
    if (!user.id || !primary) throw new OAuthRefusal('the account at the provider has no primary email address');
    return {
      provider: this.provider,
      subject: String(user.id),
      email: primary.email,
      emailVerified: primary.verified === true,
    };
  }

  private async fetchJson(token: string, url: string): Promise<unknown> {
    const headers = new Headers({ accept: 'application/json', 'user-agent': 'everpost' });
    const response = await client.fetchProtectedResource(this.config, token, new URL(url), 'GET', null, headers);
    if (!response.ok) throw new Error(`the provider answered ${response.status}`);
    return response.json();
  }
}

/** Returns whether the provider sent a wrong response, as opposed to none. */
function isRefusal(error: unknown): boolean {
  if (error instanceof client.AuthorizationResponseError) return true;
  if (error instanceof client.ResponseBodyError) return error.status < 500;
  const { code = '' } = error as { code?: string };
  return [
    'OAUTH_INVALID_RESPONSE',
    'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
    'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
    'OAUTH_KEY_SELECTION_FAILED',
    'OAUTH_MISSING_SERVER_METADATA',
  ].includes(code);
}
