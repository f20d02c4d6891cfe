import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { cookieOf } from '../support/accounts.ts';
import { client, startTestApi, type TestApi } from '../support/api.ts';
import { expireTokens } from '../support/rows/accounts.ts';
import { insertUser } from '../support/users.ts';

const EMAIL = 'owner@demo.localhost';

describe('the login link', () => {
  let api: TestApi;

  before(async () => {
    const port = await freePort();
    api = await startTestApi({ env: { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` } });
    await insertUser(api.db, { email: EMAIL, emailVerified: true });
    await insertUser(api.db, { email: 'real@example.com', emailVerified: true });
  });
  after(() => api.stop());

  const link = async (body: object = {}) => {
    const answer = await api.post('/auth/login-link', body);
    expect(answer).to.have.status(200);
    return answer.body.data.url as string;
  };
  const follow = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { redirect: 'manual', headers });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };

  it('signs the demo user in once and leads to the dashboard', async () => {
    const url = await link();
    expect(url.replace(api.url, '')).to.match(/^\/auth\/login-link\/\w{48}$/);
    const answer = await follow(url);
    expect(answer.status).to.equal(302);
    expect(answer.headers.get('location')).to.equal('/app/');
    const me = await client(api.url, { cookie: cookieOf(answer) }).get('/users/@me');
    expect(me.body).to.include({ email: EMAIL });
    expect((await follow(url)).status).to.equal(400);
  });

  it('ends after 10 minutes, and with a newer one', async () => {
    const first = await link();
    const second = await link({ email: EMAIL });
    expect((await follow(first)).status).to.equal(400);
    const { rows } = await api.db.raw(
      `select extract(epoch from expires_at - created_at)::float8 as seconds from user_tokens where purpose = 'LOGIN_LINK'`,
    );
    expect(rows).to.have.lengthOf(1);
    expect(Math.round(rows[0].seconds)).to.equal(600);
    await expireTokens(api.db, { purpose: 'LOGIN_LINK' });
    expect((await follow(second)).status).to.equal(400);
  });

  it('opens no other account', async () => {
    for (const email of ['real@example.com', 'nobody@demo.localhost', 'real@example.com@demo.localhost.evil.com'])
      expect((await api.post('/auth/login-link', { email })).status, email).to.be.oneOf([404, 422]);
    expect((await follow(`${api.url}/auth/login-link/${'A'.repeat(48)}`)).status).to.equal(400);
  });

  it('works under the host of BASE_URL only', async () => {
    const url = await link();
    const elsewhere = (text: string) => text.replace('127.0.0.1', 'localhost');
    const issued = await client(elsewhere(api.url)).post('/auth/login-link', {});
    expect(issued).to.be.envelope(403, 'FORBIDDEN');
    const answer = await follow(elsewhere(url));
    expect([answer.status, answer.headers.get('set-cookie')]).to.deep.equal([403, null]);
    expect((await follow(url)).status).to.equal(302);
  });

  it('shows browsers a page with "Sign in" once it is used or has expired', async () => {
    const url = await link();
    expect((await follow(url)).status).to.equal(302);
    const page = await follow(url, { accept: 'text/html,*/*' });
    expect(page.status).to.equal(400);
    expect(page.headers.get('content-type')).to.include('text/html');
    expect(page.body).to.include('<a href="/app/">Sign in</a>');
    const other = await follow(url, { accept: '*/*' });
    expect(JSON.parse(other.body).error).to.include({ code: 'BAD_REQUEST', statusCode: 400 });
  });

  it('does not exist in production', async () => {
    const env = {
      NODE_ENV: 'production',
      BASE_URL: 'https://app.example',
      SECRET_KEY: 'a-secret-key-of-production',
      SMTP_URL: 'smtps://relay.example',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
    const production = await startTestApi({
      env,
      database: { db: api.db, url: api.databaseUrl, close: async () => {} },
    });
    try {
      expect(await production.post('/auth/login-link', {})).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    } finally {
      await production.stop();
    }
  });
});
