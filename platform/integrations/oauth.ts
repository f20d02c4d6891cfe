import * as client from 'openid-client';

export type OAuthProvider = 'github' | 'google';

/** The endpoints of a provider. GitHub has OAuth 2 without OpenID Connect: its API returns the user. */
export interface OAuthServer {
  issuer: string;
  authorize: string;
  token: string;
  userinfo: string;
  /** GitHub only: the user's addresses and whether they are verified. */
  emails?: string;
}

export const oauthServers: Record<OAuthProvider, OAuthServer> = {
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

const scopes: Record<OAuthProvider, string> = { github: 'read:user user:email', google: 'openid email' };

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

export class OAuthClient {
  private readonly provider: OAuthProvider;
  private readonly server: OAuthServer;
  private readonly config: client.Configuration;
  private readonly redirectUri: string;

  constructor(
    provider: OAuthProvider,
    server: OAuthServer,
    { id, secret, baseUrl }: { id: string; secret: string; baseUrl: string },
  ) {
    this.provider = provider;
    this.server = server;
    this.redirectUri = `${baseUrl}/auth/oauth/${provider}/callback`;
    const metadata = {
      issuer: server.issuer,
      authorization_endpoint: server.authorize,
      token_endpoint: server.token,
      userinfo_endpoint: server.userinfo,
    };
    this.config = new client.Configuration(metadata, id, {}, client.ClientSecretPost(secret));
    this.config.timeout = TIMEOUT_SECONDS;
    // Only test servers use http.
    if (server.token.startsWith('http:')) client.allowInsecureRequests(this.config);
  }

  async begin(): Promise<{ url: string; journey: OAuthState }> {
    const journey: OAuthState = {
      provider: this.provider,
      state: client.randomState(),
      verifier: client.randomPKCECodeVerifier(),
      ...(this.isOpenId && { nonce: client.randomNonce() }),
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
      return this.isOpenId ? await this.openIdUser(tokens) : await this.githubUser(tokens.access_token);
    } catch (error) {
      throw isRefusal(error) ? new OAuthRefusal((error as Error).message) : error;
    }
  }

  private get isOpenId(): boolean {
    return this.server.emails === undefined;
  }

  private async openIdUser(tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>): Promise<OAuthIdentity> {
    const { sub = '' } = tokens.claims() ?? {};
    const user = await client.fetchUserInfo(this.config, tokens.access_token, sub);
    const { email = '', email_verified: verified } = user;
    return { provider: this.provider, subject: sub, email, emailVerified: verified === true };
  }

  private async githubUser(token: string): Promise<OAuthIdentity> {
    const user = (await this.fetchJson(token, this.server.userinfo)) as { id?: number };
    const emails = (await this.fetchJson(token, this.server.emails ?? '')) as {
      email: string;
      primary: boolean;
      verified: boolean;
    }[];
    const primary = emails.find(({ primary }) => primary);
    if (!user.id || !primary) throw new OAuthRefusal('The account there has no primary address.');
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
  const { code } = error as { code?: string };
  return code === 'OAUTH_INVALID_RESPONSE' || code === 'OAUTH_JWT_CLAIM_COMPARISON_FAILED';
}
