// A stand-in for an OpenID Connect provider: discovery document, keys, authorization, token and userinfo endpoints.
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Account } from './oauth-provider.ts';

export type OidcFault =
  | 'down'
  | 'discovery of another issuer'
  | 'denied'
  | 'wrong nonce'
  | 'wrong audience'
  | 'wrong issuer'
  | 'expired'
  | 'another key'
  | 'no signature'
  | 'symmetric signature';

export interface OidcStandIn {
  issuer: string;
  /** The account that consents next. */
  account: Account;
  /** Where the address is: in the ID token, or at the userinfo endpoint only. */
  addressIn: 'id token' | 'userinfo';
  fault: OidcFault | undefined;
  /** The ways in which clients may send their secret. */
  authMethods: string[] | undefined;
  /** The requests so far, by path. */
  requests: string[];
  /** Acts as the browser at the provider and returns the redirect back to the app. */
  consent(authorizeUrl: string): Promise<URL>;
  close(): Promise<void>;
}

interface Grant {
  challenge: string;
  nonce: string | null;
  clientId: string;
  redirectUri: string;
  account: Account;
}

interface SigningKey {
  id: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const newKey = (): SigningKey => ({ id: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

export async function startOidcProvider({ id, secret }: { id: string; secret: string }): Promise<OidcStandIn> {
  const codes = new Map<string, Grant>();
  const tokens = new Map<string, Account>();
  const key = newKey();

  function signed(claims: object): string {
    const { fault } = standIn;
    if (fault === 'no signature') return `${part({ alg: 'none' })}.${part(claims)}.`;
    const alg = fault === 'symmetric signature' ? 'HS256' : 'RS256';
    const text = `${part({ alg, typ: 'JWT', kid: key.id })}.${part(claims)}`;
    const { privateKey } = fault === 'another key' ? newKey() : key;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }

  /** Checks the client's secret where the client sent it. */
  function isOurClient(request: IncomingMessage, form: URLSearchParams): boolean {
    const [scheme, text = ''] = (request.headers.authorization ?? '').split(' ');
    // Both are form-encoded (RFC 6749, section 2.3.1).
    const decode = (value: string) => decodeURIComponent(value.replaceAll('+', ' '));
    const [user = '', password = ''] = Buffer.from(text, 'base64').toString().split(':');
    const inHeader = decode(user) === id && decode(password) === secret;
    const inBody = form.get('client_id') === id && form.get('client_secret') === secret;
    const methods = standIn.authMethods ?? ['client_secret_basic'];
    return scheme === 'Basic'
      ? inHeader && methods.includes('client_secret_basic')
      : inBody && methods.includes('client_secret_post');
  }

  const tokenAnswer = async (request: IncomingMessage): Promise<[number, object]> => {
    const form = await formOf(request);
    const grant = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    if (!isOurClient(request, form)) return [400, { error: 'invalid_client' }];
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!grant || challenge !== grant.challenge || form.get('redirect_uri') !== grant.redirectUri)
      return [400, { error: 'invalid_grant' }];
    const { fault, addressIn } = standIn;
    const token = randomUUID();
    tokens.set(token, grant.account);
    const now = Math.floor(Date.now() / 1000);
    const { id: subject, email, verified } = grant.account;
    const claims = {
      iss: fault === 'wrong issuer' ? 'https://evil.example' : base,
      sub: String(subject),
      aud: fault === 'wrong audience' ? 'another client' : grant.clientId,
      iat: fault === 'expired' ? now - 7_200 : now,
      exp: fault === 'expired' ? now - 3_600 : now + 300,
      nonce: fault === 'wrong nonce' ? 'another' : grant.nonce,
      ...(addressIn === 'id token' && { email, email_verified: verified }),
    };
    return [200, { access_token: token, token_type: 'bearer', expires_in: 300, id_token: signed(claims) }];
  };

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', base);
    standIn.requests.push(pathname);
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (standIn.fault === 'down') return send(503, { error: 'down' });
    if (pathname === '/.well-known/openid-configuration')
      return send(200, {
        issuer: standIn.fault === 'discovery of another issuer' ? 'https://evil.example' : base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        userinfo_endpoint: `${base}/userinfo`,
        jwks_uri: `${base}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...(standIn.authMethods && { token_endpoint_auth_methods_supported: standIn.authMethods }),
      });
    if (pathname === '/keys')
      return send(200, {
        keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.id, use: 'sig', alg: 'RS256' }],
      });
    if (pathname === '/token') return send(...(await tokenAnswer(request)));
    const account = tokens.get(request.headers.authorization?.replace(/^bearer /i, '') ?? '');
    if (pathname !== '/userinfo' || !account) return send(401, { error: 'invalid_token' });
    return send(200, { sub: String(account.id), email: account.email, email_verified: account.verified });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const standIn: OidcStandIn = {
    issuer: base,
    account: { id: 1, email: 'ann@company.example', verified: true },
    addressIn: 'id token',
    fault: undefined,
    authMethods: undefined,
    requests: [],
    async consent(authorizeUrl) {
      const url = new URL(authorizeUrl);
      const params = url.searchParams;
      if (url.origin !== base || params.get('client_id') !== id) throw new Error(`not our provider: ${authorizeUrl}`);
      const redirectUri = params.get('redirect_uri') ?? '';
      const redirect = new URL(redirectUri);
      redirect.searchParams.set('state', params.get('state') ?? '');
      if (standIn.fault === 'denied') {
        redirect.searchParams.set('error', 'access_denied');
        return redirect;
      }
      const code = randomUUID();
      codes.set(code, {
        challenge: params.get('code_challenge') ?? '',
        nonce: params.get('nonce'),
        clientId: id,
        redirectUri,
        account: { ...standIn.account },
      });
      redirect.searchParams.set('code', code);
      return redirect;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
}
