import { expect } from 'chai';
import { cookieOf, person } from '../../support/accounts.ts';
import { type ApiAnswer, client, startTestApi, type TestApi } from '../../support/api.ts';
import { type OidcFault, type OidcStandIn, startOidcProvider } from '../../support/oidc-provider.ts';
import { clearAttempts, setSessions, storedUsers } from '../../support/rows/accounts.ts';
import { enableTwoFactor } from '../../support/two-factor.ts';

const credentials = { id: 'our id', secret: 'our:secret/1' };
let accounts = 0;

describe('sign-in with OpenID Connect', () => {
  let provider: OidcStandIn;
  let api: TestApi;

  const envOf = ({ issuer }: OidcStandIn) => ({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: credentials.id,
    OIDC_CLIENT_SECRET: credentials.secret,
  });

  before(async () => {
    provider = await startOidcProvider(credentials);
    api = await startTestApi({ env: envOf(provider) });
  });
  after(async () => {
    await api.stop();
    await provider.close();
  });
  beforeEach(async () => {
    const id = ++accounts;
    provider.account = { id, email: `Ann${id}@company.example`, verified: true };
    Object.assign(provider, { fault: undefined, addressIn: 'id token', authMethods: undefined });
    await clearAttempts(api.db);
  });

  const browser = { accept: 'text/html,application/xhtml+xml' };

  async function get(path: string, headers: Record<string, string> = {}, url = api.url): Promise<ApiAnswer> {
    const response = await fetch(url + path, { redirect: 'manual', headers });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }
  const cookiesOf = ({ headers }: ApiAnswer) => headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  const sessionOf = (answer: ApiAnswer) => cookiesOf(answer).find((pair) => /^everpost_session=./.test(pair)) ?? '';

  async function signIn(headers: Record<string, string> = {}, url = api.url): Promise<ApiAnswer> {
    const begun = await get('/auth/oauth/oidc', {}, url);
    expect(begun, JSON.stringify(begun.body)).to.have.status(302);
    const back = await provider.consent(begun.headers.get('location') ?? '');
    return get(back.pathname + back.search, { cookie: cookiesOf(begun)[0] ?? '', ...headers }, url);
  }

  const withOtherApi = async (env: Record<string, string>, work: (other: TestApi) => Promise<void>) => {
    const database = { db: api.db, url: api.databaseUrl, close: async () => {} };
    const other = await startTestApi({ database, env });
    try {
      await work(other);
    } finally {
      await other.stop();
    }
  };

  it('is listed by GET /auth/oauth-config and GET /config', async () => {
    expect((await api.get('/auth/oauth-config')).body.data).to.deep.include({ providers: ['oidc'], oidc: true });
    expect((await api.get('/config')).body.oauth).to.deep.equal({ github: false, google: false, oidc: true });
  });

  it('sends state, nonce and a PKCE challenge to the endpoint of the discovery document', async () => {
    const begun = await get('/auth/oauth/oidc');
    const url = new URL(begun.headers.get('location') ?? '');
    expect(`${url.origin}${url.pathname}`).to.equal(`${provider.issuer}/authorize`);
    expect(Object.fromEntries(url.searchParams)).to.include({
      response_type: 'code',
      client_id: credentials.id,
      scope: 'openid email',
      code_challenge_method: 'S256',
      redirect_uri: 'http://app.test/auth/oauth/oidc/callback',
    });
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(url.searchParams.get(name), name).to.have.length.greaterThan(30);
  });

  for (const place of ['id token', 'userinfo'] as const)
    it(`opens an account with a verified address from the ${place} and finds it again by the subject`, async () => {
      provider.addressIn = place;
      const answer = await signIn();
      expect(answer, JSON.stringify(answer.body)).to.have.status(302);
      expect(answer.headers.get('location')).to.equal('http://app.test/');
      const me = await get('/users/@me', { cookie: sessionOf(answer) });
      expect(me.body).to.include({ email: provider.account.email.toLowerCase(), emailVerified: true });
      provider.account.email = `changed-${provider.account.email}`;
      const again = await get('/users/@me', { cookie: sessionOf(await signIn()) });
      expect(again.body).to.deep.equal(me.body);
    });

  it('signs in to the existing account with the address, and secures one that never proved it', async () => {
    const owner = await person(api);
    const squatter = await person(api, undefined, { emailVerified: false });
    await enableTwoFactor(squatter);
    for (const { id, email } of [owner, squatter]) {
      provider.account = { id: ++accounts, email, verified: true };
      const answer = await signIn();
      expect((await get('/users/@me', { cookie: sessionOf(answer) })).body).to.include({ id, emailVerified: true });
    }
    expect(await squatter.get('/users/@me')).to.have.status(401);
  });

  it('keeps the subjects of two issuers apart', async () => {
    const first = await get('/users/@me', { cookie: sessionOf(await signIn()) });
    const { id } = provider.account;
    const original = provider;
    provider = await startOidcProvider(credentials);
    try {
      await withOtherApi(envOf(provider), async (other) => {
        provider.account = { id, email: 'somebody-else@company.example', verified: true };
        const second = await get('/users/@me', { cookie: sessionOf(await signIn({}, other.url)) });
        expect(second.body.id).not.to.equal(first.body.id);
      });
    } finally {
      await provider.close();
      provider = original;
    }
  });

  it('rejects an address that the provider has not verified with 403', async () => {
    provider.account.verified = false;
    expect(await signIn()).to.be.envelope(403, 'FORBIDDEN');
    expect(await storedUsers(api.db, { email: provider.account.email.toLowerCase() })).to.have.length(0);
  });

  const refused: OidcFault[] = [
    'denied',
    'wrong nonce',
    'wrong audience',
    'wrong issuer',
    'expired',
    'another key',
    'no signature',
    'symmetric signature',
  ];
  for (const fault of refused)
    it(`rejects a sign-in with 400: ${fault}`, async () => {
      provider.fault = fault;
      expect(await signIn()).to.be.envelope(400, 'BAD_REQUEST');
      expect(await storedUsers(api.db, { email: provider.account.email.toLowerCase() })).to.have.length(0);
      provider.fault = undefined;
      expect(await signIn(), 'without the fault').to.have.status(302);
    });

  it('rejects a code that was used before with 400', async () => {
    const begun = await get('/auth/oauth/oidc');
    const back = await provider.consent(begun.headers.get('location') ?? '');
    const cookie = cookiesOf(begun)[0] ?? '';
    expect(await get(back.pathname + back.search, { cookie })).to.have.status(302);
    expect(await get(back.pathname + back.search, { cookie })).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('discovers once, again after a failure, and answers 502 meanwhile', async () => {
    provider.fault = 'down';
    await withOtherApi(envOf(provider), async (other) => {
      expect(await get('/auth/oauth/oidc', {}, other.url)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
      provider.fault = 'discovery of another issuer';
      expect(await get('/auth/oauth/oidc', {}, other.url)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
      provider.fault = undefined;
      provider.requests = [];
      for (let n = 0; n < 3; n++) expect(await get('/auth/oauth/oidc', {}, other.url)).to.have.status(302);
      expect(provider.requests).to.deep.equal(['/.well-known/openid-configuration']);
    });
  });

  it('sends the secret as the provider supports it', async () => {
    for (const authMethods of [undefined, ['client_secret_post'], ['client_secret_basic', 'private_key_jwt']]) {
      provider.authMethods = authMethods;
      provider.account = { id: ++accounts, email: `ann${accounts}@company.example`, verified: true };
      await withOtherApi(envOf(provider), async (other) => {
        expect(await signIn({}, other.url), String(authMethods)).to.have.status(302);
      });
    }
  });

  it('answers 404 where it is not set up', async () => {
    await withOtherApi({}, async (other) => {
      expect(await get('/auth/oauth/oidc', {}, other.url)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('of an account with two-factor authentication', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };

    async function protectedAccount() {
      const someone = await person(api);
      const app = await enableTwoFactor(someone);
      provider.account.email = someone.email;
      return { someone, app };
    }

    it('asks for a code on a page, and starts the session with it', async () => {
      const { someone, app } = await protectedAccount();
      const asked = await signIn(browser);
      expect(asked).to.have.status(401);
      expect(sessionOf(asked)).to.equal('');
      expect(asked.body).to.contain('name="code"').and.contain('action="code"');
      const pending = { cookie: cookiesOf(asked)[0] ?? '', ...browser, ...form };
      const send = (code: string) =>
        fetch(`${api.url}/auth/oauth/oidc/code`, {
          method: 'POST',
          redirect: 'manual',
          headers: pending,
          body: `code=${code}`,
        });
      const wrong = await send('000000');
      expect(wrong.status).to.equal(401);
      expect(await wrong.text())
        .to.contain('The code is wrong')
        .and.contain('name="code"');
      const code = app.code(1);
      const passed = await send(code);
      expect(passed.status).to.equal(302);
      const cookie = passed.headers.getSetCookie()[0]?.split(';')[0] ?? '';
      expect((await get('/users/@me', { cookie })).body).to.include({ id: someone.id });
      expect((await send(code)).status, 'each code once').to.equal(401);
    });

    it('tells other clients that a code is missing', async () => {
      await protectedAccount();
      const asked = await signIn();
      expect(asked).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(asked.body.error.details).to.deep.equal({ totpRequired: true });
      expect(sessionOf(asked)).to.equal('');
    });

    it('throttles wrong codes like failed log-ins', async () => {
      const { app } = await protectedAccount();
      const cookie = cookiesOf(await signIn(browser))[0] ?? '';
      const send = (code: string) => api.post('/auth/oauth/oidc/code', `code=${code}`, { cookie, ...form });
      for (let n = 0; n < 5; n++) expect(await send('000000')).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await send(app.code(1))).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    });

    it('accepts no code in a browser that did not sign in, and no other cookie', async () => {
      const { app } = await protectedAccount();
      const begun = await get('/auth/oauth/oidc');
      for (const cookie of ['', cookiesOf(begun)[0] ?? '', 'everpost_oauth=v1.aaaa.bbbb'])
        expect(await api.post('/auth/oauth/oidc/code', `code=${app.code(1)}`, { cookie, ...form })).to.be.envelope(
          400,
          'BAD_REQUEST',
        );
    });
  });

  it('counts as a new confirmation for acts that need one', async () => {
    const someone = await person(api);
    const { body: project } = await someone.post('/users/@me/projects', { name: 'Shop' });
    await setSessions(api.db, someone.id, { provenAt: new Date(0) });
    const path = `/users/@me/projects/${project.id}/regenerate-keys`;
    expect(await someone.post(path)).to.be.envelope(403, 'FORBIDDEN');
    provider.account.email = someone.email;
    const signedIn = client(api.url, { cookie: sessionOf(await signIn()) });
    expect(await signedIn.post(path)).to.have.status(200);
    expect(cookieOf(await signIn())).not.to.equal('');
  });
});
