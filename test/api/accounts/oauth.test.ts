import { expect } from 'chai';
import { person, tokenTo } from '../../support/accounts.ts';
import { type ApiAnswer, startTestApi, type TestApi } from '../../support/api.ts';
import { type OAuthStandIn, startOAuthProvider } from '../../support/oauth-provider.ts';
import { storedUsers } from '../../support/rows/accounts.ts';

const env = {
  OAUTH_GITHUB_ID: 'our-id',
  OAUTH_GITHUB_SECRET: 'our-secret',
  OAUTH_GOOGLE_ID: 'our-id',
  OAUTH_GOOGLE_SECRET: 'our-secret',
};
let accounts = 0;

describe('OAuth sign-in', () => {
  let provider: OAuthStandIn;
  let api: TestApi;

  before(async () => {
    provider = await startOAuthProvider('our-secret');
    api = await startTestApi({ env, oauthAt: provider.at });
  });
  after(async () => {
    await api.stop();
    await provider.close();
  });
  beforeEach(() => {
    const id = ++accounts;
    provider.account = { id, email: `Ann${id}@provider.example`, verified: true };
    provider.fault = undefined;
  });

  const get = async (path: string, cookie = ''): Promise<ApiAnswer> => {
    const response = await fetch(api.url + path, { redirect: 'manual', headers: { cookie } });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
  const cookiesOf = ({ headers }: ApiAnswer) => headers.getSetCookie().map((line) => line.split(';')[0] ?? '');

  /** Runs the whole sign-in; `change` modifies the callback as an attacker would. */
  async function signIn(name: string, change: (back: URL) => void = () => {}, cookie?: string): Promise<ApiAnswer> {
    const begun = await get(`/auth/oauth/${name}`);
    expect(begun).to.have.status(302);
    const back = await provider.consent(begun.headers.get('location') ?? '');
    change(back);
    return get(back.pathname + back.search, cookie ?? cookiesOf(begun)[0]);
  }

  const sessionOf = (answer: ApiAnswer) => cookiesOf(answer).find((pair) => /^everpost_session=./.test(pair)) ?? '';

  it('keeps its state in a __Host- cookie on https and ignores the plain name', async () => {
    const secure = await startTestApi({
      env: { ...env, BASE_URL: 'https://app.test' },
      oauthAt: provider.at,
      database: { db: api.db, url: api.databaseUrl, close: async () => {} },
    });
    const go = (path: string, cookie = '') => fetch(secure.url + path, { redirect: 'manual', headers: { cookie } });
    const begun = await go('/auth/oauth/github');
    const [header = ''] = begun.headers.getSetCookie();
    expect(header).to.match(/^__Host-everpost_oauth=[^;]+; Path=\/; .*; Secure$/);
    const back = await provider.consent(begun.headers.get('location') ?? '');
    const [cookie = ''] = header.split(';');
    const planted = await go(back.pathname + back.search, cookie.replace('__Host-', ''));
    const answer = await go(back.pathname + back.search, cookie);
    await secure.stop();
    expect(planted.status).to.equal(400);
    expect(answer.status).to.equal(302);
    expect(answer.headers.getSetCookie()[0]).to.match(/^__Host-everpost_session=\w{48};/);
  });

  for (const name of ['github', 'google'] as const)
    describe(name, () => {
      it('opens an account with a verified address and starts a session', async () => {
        const answer = await signIn(name);
        expect(answer).to.have.status(302);
        expect(answer.headers.get('location')).to.equal('http://app.test/');
        const me = await get('/users/@me', sessionOf(answer));
        expect(me.body).to.include({ email: provider.account.email.toLowerCase(), emailVerified: true });
      });

      it("finds the same user after the provider's address has changed", async () => {
        const first = await get('/users/@me', sessionOf(await signIn(name)));
        provider.account.email = `changed-${provider.account.email}`;
        const second = await get('/users/@me', sessionOf(await signIn(name)));
        expect(second.body).to.deep.equal(first.body);
      });

      it('signs in to the existing account with the address', async () => {
        const someone = await person(api);
        provider.account.email = someone.email;
        const me = await get('/users/@me', sessionOf(await signIn(name)));
        expect(me.body).to.include({ id: someone.id });
        expect(await someone.get('/users/@me'), 'their other sessions stay').to.have.status(200);
      });

      it('secures an account that was opened by a stranger to the address', async () => {
        const squatter = await person(api, undefined, { emailVerified: false });
        provider.account.email = squatter.email;
        const session = sessionOf(await signIn(name));
        const me = await get('/users/@me', session);
        expect(me.body).to.include({ id: squatter.id, emailVerified: true });
        const log = (await get('/users/@me/audit', session)).body.data.map(({ action }: { action: string }) => action);
        expect(log).to.deep.equal(['user.logged_in', 'user.provider_linked', 'user.password_cleared']);
        expect(await squatter.get('/users/@me')).to.have.status(401);
        const login = await api.post('/auth/login', { email: squatter.email, password: squatter.password });
        expect(login).to.have.status(401);
      });

      it('counts opened accounts as sign-ups of the IP', async () => {
        const counted = await startTestApi({
          database: { db: api.db, url: api.databaseUrl, close: async () => {} },
          env: { ...env, SIGNUPS_PER_IP_PER_HOUR: '1', TRUST_PROXY: 'true' },
          oauthAt: provider.at,
        });
        const statuses = [];
        for (let n = 0; n < 3; n++) {
          const ip = { 'x-forwarded-for': name === 'github' ? '192.0.2.10' : '192.0.2.11' };
          // The third is the first user again, who has an account now.
          provider.account = { id: 9_000 + (n % 2), email: `${name}-${n % 2}@provider.example`, verified: true };
          const begun = await fetch(`${counted.url}/auth/oauth/${name}`, { redirect: 'manual' });
          const back = await provider.consent(begun.headers.get('location') ?? '');
          const [cookie = ''] = begun.headers.getSetCookie();
          const url = counted.url + back.pathname + back.search;
          const headers = { cookie: cookie.split(';')[0] ?? '', ...ip };
          statuses.push((await fetch(url, { redirect: 'manual', headers })).status);
        }
        await counted.stop();
        expect(statuses).to.deep.equal([302, 429, 302]);
      });

      it('leaves no password to a stranger who signs up with the address concurrently', async () => {
        const email = provider.account.email.toLowerCase();
        const [answer, signup] = await Promise.all([
          signIn(name),
          api.post('/auth/signup', { email, password: 'of a stranger' }),
        ]);
        const late = { cookie: signup.headers.get('set-cookie')?.split(';')[0] ?? '' };
        const login = await api.post('/auth/login', { email, password: 'of a stranger' });
        expect(signup.status).to.be.oneOf([201, 401, 409]);
        expect(login).to.have.status(401);
        expect(await api.get('/users/@me', late)).to.have.status(401);
        expect((await get('/users/@me', sessionOf(answer))).body).to.include({ email, emailVerified: true });
      });

      it('revokes the links of a secured account except its invitations', async () => {
        const squatter = await person(api, undefined, { emailVerified: false });
        const project = await api.project();
        await project.owner.post(`/projects/${project.id}/members`, { email: squatter.email, role: 'MEMBER' });
        const token = await tokenTo(api.db, squatter.email);
        provider.account.email = squatter.email;
        const cookie = sessionOf(await signIn(name));
        expect(await squatter.post('/auth/accept-invitation', { token })).to.be.envelope(401, 'UNAUTHORIZED');
        expect(await api.post('/auth/accept-invitation', { token }, { cookie })).to.have.status(200);
      });

      it('rejects an address that the provider has not verified with 403', async () => {
        provider.account.verified = false;
        expect(await signIn(name)).to.be.envelope(403, 'FORBIDDEN');
        expect(await storedUsers(api.db, { email: provider.account.email.toLowerCase() })).to.have.length(0);
      });

      it('sends state and a PKCE challenge', async () => {
        const begun = await get(`/auth/oauth/${name}`);
        const asked = new URL(begun.headers.get('location') ?? '').searchParams;
        expect(asked.get('state')).to.have.length.greaterThan(30);
        expect(asked.get('code_challenge_method')).to.equal('S256');
        expect(asked.get('redirect_uri')).to.equal(`http://app.test/auth/oauth/${name}/callback`);
        const [cookie = ''] = begun.headers.getSetCookie();
        expect(cookie).to.match(/^everpost_oauth=v1\..+; Path=\/auth\/oauth; Max-Age=600; HttpOnly; SameSite=Lax$/);
        expect(cookie, 'it is sealed').not.to.contain(asked.get('state') ?? '');
      });

      it('rejects another state, code or browser, a forged cookie and a refusal with 400', async () => {
        const begun = await get(`/auth/oauth/${name}`);
        for (const answer of [
          await signIn(name, (back) => back.searchParams.set('state', 'forged')),
          await signIn(name, (back) => back.searchParams.delete('state')),
          await signIn(name, (back) => back.searchParams.set('code', 'made up')),
          await signIn(name, () => {}, ''),
          await signIn(name, () => {}, cookiesOf(begun)[0]),
          await signIn(name, () => {}, 'everpost_oauth=v1.aaaa.bbbb'),
        ])
          expect(answer).to.be.envelope(400, 'BAD_REQUEST');
        provider.fault = 'denied';
        expect(await signIn(name)).to.be.envelope(400, 'BAD_REQUEST');
      });

      it('answers 502 EXTERNAL_SERVICE_ERROR when the provider is down', async () => {
        provider.fault = 'down';
        expect(await signIn(name)).to.be.envelope(502, 'EXTERNAL_SERVICE_ERROR');
      });
    });

  it('rejects an ID token with another nonce or audience with 400', async () => {
    for (const fault of ['wrong nonce', 'wrong audience'] as const) {
      provider.fault = fault;
      expect(await signIn('google'), fault).to.be.envelope(400, 'BAD_REQUEST');
    }
  });

  it('answers 404 for a provider that is unknown or not set up', async () => {
    const bare = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
    for (const path of ['/auth/oauth/github', '/auth/oauth/google/callback?code=x', '/auth/oauth/evil'])
      expect(await bare.get(path), path).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect((await bare.get('/auth/oauth/evil')).body.error.message).to.equal('Provider not found.');
    await bare.stop();
    expect((await api.get('/auth/oauth-config')).body.data).to.deep.equal({
      providers: ['github', 'google'],
      github: true,
      google: true,
      oidc: false,
    });
  });

  it('opens no account when sign-up is off', async () => {
    const closed = await startTestApi({
      database: { db: api.db, url: api.databaseUrl, close: async () => {} },
      env: { ...env, SIGNUP_ENABLED: 'false' },
      oauthAt: provider.at,
    });
    const begun = await fetch(`${closed.url}/auth/oauth/github`, { redirect: 'manual' });
    const back = await provider.consent(begun.headers.get('location') ?? '');
    const [cookie = ''] = begun.headers.getSetCookie();
    const answer = await closed.get(back.pathname + back.search, { cookie: cookie.split(';')[0] ?? '' });
    expect(answer).to.be.envelope(403, 'FORBIDDEN');
    await closed.stop();
  });
});
