// A stand-in for OAuth providers: Google (OpenID Connect) and GitHub (OAuth 2 and an API).
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FixedProvider, OAuthServer } from '../../platform/integrations/oauth.ts';

export interface Account {
  id: number;
  email: string;
  verified: boolean;
}

export interface OAuthStandIn {
  /** Endpoints, for the app's settings. */
  at: Record<FixedProvider, OAuthServer>;
  /** The account that consents next. */
  account: Account;
  /** How the provider fails. */
  fault: 'down' | 'wrong nonce' | 'wrong audience' | 'denied' | undefined;
  /** Acts as the browser at the provider and returns the redirect back to the app. */
  consent(authorizeUrl: string): Promise<URL>;
  close(): Promise<void>;
}

interface Grant {
  challenge: string;
  nonce: string | null;
  clientId: string;
  account: Account;
}

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

function jwt(claims: object): string {
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

export async function startOAuthProvider(secret: string): Promise<OAuthStandIn> {
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, Account>();

  const tokenAnswer = async (request: IncomingMessage): Promise<[number, object]> => {
    const form = await formOf(request);
    const code = form.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || challenge !== grant.challenge || form.get('client_secret') !== secret)
      return [400, { error: 'invalid_grant' }];
    const token = randomUUID();
    tokens.set(token, grant.account);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: base,
      sub: String(grant.account.id),
      aud: standIn.fault === 'wrong audience' ? 'another client' : grant.clientId,
      iat: now,
      exp: now + 300,
      nonce: standIn.fault === 'wrong nonce' ? 'another' : grant.nonce,
    };
    const idToken = grant.nonce ? { id_token: jwt(claims) } : {};
    return [200, { access_token: token, token_type: 'bearer', ...idToken }];
  };

  const answers: Record<string, (account: Account) => object> = {
    '/userinfo': ({ id, email, verified }) => ({ sub: String(id), email, email_verified: verified }),
    '/user': ({ id }) => ({ id, login: `user${id}` }),
    '/user/emails': ({ email, verified }) => [
      { email: 'other@provider.example', primary: false, verified: true },
      { email, primary: true, verified },
    ],
  };

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', base);
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (standIn.fault === 'down') return send(503, { error: 'down' });
    if (pathname === '/token') return send(...(await tokenAnswer(request)));
    const account = tokens.get(request.headers.authorization?.replace(/^bearer /i, '') ?? '');
    const answer = answers[pathname];
    if (!account || !answer) return send(401, { error: 'invalid_token' });
    return send(200, answer(account));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const shared = { issuer: base, authorize: `${base}/authorize`, token: `${base}/token` };

  const standIn: OAuthStandIn = {
    at: {
      google: { ...shared, userinfo: `${base}/userinfo` },
      github: { ...shared, userinfo: `${base}/user`, emails: `${base}/user/emails` },
    },
    account: { id: 1, email: 'ann@provider.example', verified: true },
    fault: undefined,
    async consent(authorizeUrl) {
      const params = new URL(authorizeUrl).searchParams;
      const redirect = new URL(params.get('redirect_uri') ?? '');
      redirect.searchParams.set('state', params.get('state') ?? '');
      if (standIn.fault === 'denied') redirect.searchParams.set('error', 'access_denied');
      else {
        const code = randomUUID();
        const codeChallenge = params.get('code_challenge') ?? '';
        const clientId = params.get('client_id') ?? '';
        codes.set(code, {
          challenge: codeChallenge,
          nonce: params.get('nonce'),
          clientId,
          account: { ...standIn.account },
        });
        redirect.searchParams.set('code', code);
      }
      return redirect;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  return standIn;
}
