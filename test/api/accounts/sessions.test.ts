import { expect } from 'chai';
import { readSettings } from '../../../platform/settings.ts';
import { sendRequestedMails } from '../../../services/users/requests.ts';
import { cookieOf, person, systemMails, tokenTo } from '../../support/accounts.ts';
import { client, startTestApi, type TestApi } from '../../support/api.ts';
import {
  ageAttempts,
  clearAccountRequests,
  clearAttempts,
  clearAttemptsBelow,
  expireTokens,
  removePassword,
  setAttempts,
  setSessions,
  setUser,
  storedAccountRequests,
  storedSessions,
  storedUsers,
  userByEmail,
} from '../../support/rows/accounts.ts';
import { storedContacts } from '../../support/rows/contacts.ts';

const settings = readSettings({ BASE_URL: 'http://app.test' });
let addresses = 0;
const newAddress = () => `new${++addresses}@signup.example`;

describe('accounts', () => {
  let api: TestApi;

  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());
  beforeEach(() => clearAttempts(api.db));

  const answerAll = () => sendRequestedMails(api.db, settings);

  describe('POST /auth/signup', () => {
    it('answers 201 with the user and a session cookie, HttpOnly and SameSite=Lax for seven days', async () => {
      const email = newAddress();
      const answer = await api.post('/auth/signup', { email: ` ${email.toUpperCase()} `, password: 'correct horse' });
      expect(answer).to.have.status(201);
      expect(answer.body.success).to.equal(true);
      expect(answer.body.data).to.have.all.keys('id', 'email').and.include({ email });
      const cookie = answer.headers.get('set-cookie');
      expect(cookie).to.match(/^everpost_session=\w{48}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
      const me = await api.get('/users/@me', { cookie: cookieOf(answer) });
      expect(me.body).to.include({ id: answer.body.data.id, email, emailVerified: false });
    });

    it('stores the password as argon2id and the session hashed', async () => {
      const email = newAddress();
      const answer = await api.post('/auth/signup', { email, password: 'correct horse' });
      const user = await userByEmail(api.db, email);
      expect(user.passwordHash).to.match(/^\$argon2id\$/);
      const [, token = ''] = cookieOf(answer).split('=');
      const sessions = await storedSessions(api.db, user.id);
      expect(sessions).to.have.length(1);
      expect(sessions[0].tokenHash.toString('latin1')).not.to.contain(token);
    });

    it('mails a link that verifies the address once', async () => {
      const email = newAddress();
      await api.post('/auth/signup', { email, password: 'correct horse' });
      expect(await systemMails(api.db, email)).to.have.length(1);
      const token = await tokenTo(api.db, email);
      const answer = await api.post('/auth/verify-email', { token });
      expect(answer).to.have.status(200);
      expect(answer.body.data).to.include({ email, passwordCleared: true });
      expect(await userByEmail(api.db, email)).to.include({ emailVerified: true });
      expect(await api.post('/auth/verify-email', { token })).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('rejects a taken address in any letter case with 409', async () => {
      const { email } = await person(api);
      const answer = await api.post('/auth/signup', { email: email.toUpperCase(), password: 'another one' });
      expect(answer).to.be.envelope(409, 'CONFLICT');
      expect(answer.headers.get('set-cookie')).to.equal(null);
    });

    it('opens one account per address when requests run concurrently', async () => {
      const email = newAddress();
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => api.post('/auth/signup', { email, password: 'correct horse' })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409]);
      expect(await storedUsers(api.db, { email })).to.have.length(1);
    });

    it('rejects a malformed address and a short password, which is not echoed, with 422', async () => {
      const short = await api.post('/auth/signup', { email: newAddress(), password: 'hunter2' });
      expect(short).to.have.validationError('password', 'too_small');
      expect(JSON.stringify(short.body)).not.to.contain('hunter2');
      expect(await api.post('/auth/signup', { email: 'nobody', password: 'long enough' })).to.have.validationError(
        'email',
        'invalid_string',
      );
    });

    it('rejects an address with invisible or look-alike characters with 422', async () => {
      for (const email of ['ad\u200bmin@example.com', 'аdmin@example.com', 'admin@exаmple.com']) {
        const answer = await api.post('/auth/signup', { email, password: 'long enough' });
        expect(answer, email).to.have.validationError('email', 'invalid_string');
      }
    });

    it('answers 429 after five attempts at a taken address and does not count opened accounts', async () => {
      const { email } = await person(api);
      for (let n = 0; n < 5; n++)
        expect(await api.post('/auth/signup', { email, password: 'long enough' })).to.have.status(409);
      const answer = await api.post('/auth/signup', { email, password: 'long enough' });
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 900);
      // One more from this IP, which may fail fifty times.
      await setAttempts(api.db, 49, { count: 6 });
      for (let n = 0; n < 2; n++)
        expect(await api.post('/auth/signup', { email: newAddress(), password: 'long enough' })).to.have.status(201);
      await setAttempts(api.db, 50, { count: 49 });
      const fresh = newAddress();
      expect(await api.post('/auth/signup', { email: fresh, password: 'long enough' })).to.have.status(429);
      expect(await storedUsers(api.db, { email: fresh })).to.have.length(0);
    });

    it('answers 403 when sign-up is off', async () => {
      const closed = await startTestApi({
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
        env: { SIGNUP_ENABLED: 'false' },
      });
      const email = newAddress();
      expect(await closed.post('/auth/signup', { email, password: 'long enough' })).to.be.envelope(403, 'FORBIDDEN');
      expect(await storedUsers(api.db, { email })).to.have.length(0);
      await closed.stop();
    });
  });

  describe('POST /auth/login', () => {
    it('answers 200 with the user and a new session', async () => {
      const { email, password, id } = await person(api);
      const answer = await api.post('/auth/login', { email: email.toUpperCase(), password });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ success: true, data: { id, email } });
      expect(await api.get('/users/@me', { cookie: cookieOf(answer) })).to.have.status(200);
    });

    it('answers the same 401 for a wrong password, an unknown address and an account without password', async () => {
      const { email } = await person(api);
      const { email: bare, id } = await person(api);
      await removePassword(api.db, id);
      const answers = [];
      for (const address of [email, newAddress(), bare])
        answers.push(await api.post('/auth/login', { email: address, password: 'wrong' }));
      for (const answer of answers) {
        expect(answer).to.be.envelope(401, 'INVALID_CREDENTIALS');
        expect(answer.body.error.message).to.equal(answers[0]?.body.error.message);
        expect(answer.headers.get('set-cookie')).to.equal(null);
      }
    });

    it('answers 429 after five failures for an address within 15 minutes, also for the right password', async () => {
      const { email, password } = await person(api);
      for (let n = 0; n < 5; n++)
        expect(await api.post('/auth/login', { email, password: 'wrong' })).to.have.status(401);
      const answer = await api.post('/auth/login', { email, password });
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 900);
      const { email: other, password: theirs } = await person(api);
      expect(await api.post('/auth/login', { email: other, password: theirs }), 'others').to.have.status(200);
      await ageAttempts(api.db, 16);
      expect(await api.post('/auth/login', { email, password }), 'later').to.have.status(200);
    });

    it('throttles an unknown address in the same way', async () => {
      const email = newAddress();
      const statuses = [];
      for (let n = 0; n < 6; n++) statuses.push((await api.post('/auth/login', { email, password: 'x' })).status);
      expect(statuses).to.deep.equal([401, 401, 401, 401, 401, 429]);
    });

    it('checks at most five concurrent guesses over all processes', async () => {
      const second = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
      const { email } = await person(api);
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 ? api : second).post('/auth/login', { email, password: `guess ${n}` }),
        ),
      );
      expect(answers.filter(({ status }) => status === 401)).to.have.length(5);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(7);
      await second.stop();
    });

    it('accepts ten concurrent log-ins with the right password', async () => {
      const { email, password } = await person(api);
      const answers = await Promise.all(Array.from({ length: 10 }, () => api.post('/auth/login', { email, password })));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(10);
    });

    it('clears the failures of an address on success', async () => {
      const { email, password } = await person(api);
      for (let round = 0; round < 2; round++) {
        for (let n = 0; n < 4; n++) await api.post('/auth/login', { email, password: 'wrong' });
        expect(await api.post('/auth/login', { email, password })).to.have.status(200);
      }
    });

    it('answers 429 after fifty failures from one IP at different addresses', async () => {
      const proxied = await startTestApi({
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
        env: { TRUST_PROXY: 'true' },
      });
      const { email, password } = await person(api);
      // Addresses that the client sent precede the one that the proxy added, and are ignored.
      const from = (ip: string) => ({ 'x-forwarded-for': `1.2.3.4, ${ip}` });
      await proxied.post('/auth/login', { email: newAddress(), password: 'x' }, from('192.0.2.1'));
      await setAttempts(api.db, 50, { count: 1 });
      expect(await proxied.post('/auth/login', { email, password }, from('192.0.2.1'))).to.be.envelope(
        429,
        'RATE_LIMIT_EXCEEDED',
      );
      await clearAttemptsBelow(api.db, 50);
      expect(await proxied.post('/auth/login', { email, password }, from('192.0.2.2'))).to.have.status(200);
      await proxied.stop();
    });

    it('rejects a request of another origin with a cookie with 403', async () => {
      const { email, password, cookie } = await person(api);
      const origin = { origin: 'https://evil.example' };
      expect(await api.post('/auth/login', { email, password }, { ...origin, cookie })).to.be.envelope(
        403,
        'FORBIDDEN',
      );
      expect(await api.post('/auth/login', { email, password }, { origin: 'http://app.test', cookie })).to.have.status(
        200,
      );
    });
  });

  describe('a session', () => {
    it('ends with GET /auth/logout, which clears the cookie', async () => {
      const someone = await person(api);
      const answer = await someone.get('/auth/logout');
      expect(answer).to.have.status(200);
      expect(answer.headers.get('set-cookie')).to.match(/^everpost_session=; Path=\/; Max-Age=0/);
      expect(await someone.get('/users/@me')).to.be.envelope(401, 'UNAUTHORIZED');
    });

    it('is not found by another cookie name, another token or the stored hash', async () => {
      const { id, cookie } = await person(api);
      const { tokenHash } = await storedSessions(api.db, id).first();
      for (const forged of [
        `${cookie}x`,
        cookie.slice(0, -1),
        `everpost_session=${id}`,
        `everpost_session=${tokenHash.toString('hex')}`,
        `everpost_session=${tokenHash.toString('base64url')}`,
        cookie.replace('everpost_session', 'session'),
        "everpost_session=' or 1=1 --",
      ])
        expect(await api.get('/users/@me', { cookie: forged })).to.be.envelope(401, 'UNAUTHORIZED');
    });

    for (const method of ['GET', 'POST'])
      it(`does not end with ${method} /auth/logout from another origin`, async () => {
        const someone = await person(api);
        const answer = await someone.request(method, '/auth/logout', undefined, { origin: 'https://evil.example' });
        expect(answer).to.be.envelope(403, 'FORBIDDEN');
        expect(await someone.get('/users/@me')).to.have.status(200);
      });

    it('does not end with a link or an image of another site', async () => {
      const someone = await person(api);
      const answer = await someone.get('/auth/logout', { 'sec-fetch-site': 'cross-site' });
      expect(answer).to.be.envelope(403, 'FORBIDDEN');
      expect(await someone.get('/users/@me')).to.have.status(200);
      expect(await someone.get('/auth/logout', { 'sec-fetch-site': 'none' })).to.have.status(200);
      expect(await someone.get('/users/@me')).to.have.status(401);
    });

    it('ends with POST /auth/logout, which clears the cookie and returns empty data', async () => {
      const someone = await person(api);
      const answer = await someone.post('/auth/logout');
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ success: true, data: {} });
      expect(answer.headers.get('set-cookie')).to.match(/^everpost_session=; Path=\/; Max-Age=0/);
      expect(await someone.get('/users/@me')).to.be.envelope(401, 'UNAUTHORIZED');
      expect(await api.post('/auth/logout'), 'without a session').to.have.status(200);
    });
  });

  describe('a session on https', () => {
    let secure: TestApi;
    before(async () => {
      secure = await startTestApi({
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
        env: { BASE_URL: 'https://app.test' },
      });
    });
    after(() => secure.stop());

    const logIn = async () => {
      const { email, password } = await person(api);
      return secure.post('/auth/login', { email, password });
    };

    it('has a __Host- cookie with Secure and Path=/ and without Domain', async () => {
      const answer = await logIn();
      expect(answer.headers.get('set-cookie')).to.match(
        /^__Host-everpost_session=\w{48}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/,
      );
      const me = await secure.get('/users/@me', { cookie: cookieOf(answer) });
      expect(me.body).to.include({ id: answer.body.data.id });
    });

    it('is not accepted under the old name, which a subdomain could set', async () => {
      const cookie = cookieOf(await logIn());
      const [, token = ''] = cookie.split('=');
      for (const planted of [
        `everpost_session=${token}`,
        `everpost_session=${cookie}`,
        `everpost_session=__Host-${token}`,
        `everpost_session=__Host-everpost_session%3D${token}`,
      ])
        expect(await secure.get('/users/@me', { cookie: planted })).to.be.envelope(401, 'UNAUTHORIZED');
    });

    it('is accepted under the old name when it is from before the switch', async () => {
      const { id, cookie } = await person(api);
      expect((await secure.get('/users/@me', { cookie })).body).to.include({ id });
      await setSessions(api.db, id, { expiresAt: new Date() });
      expect(await secure.get('/users/@me', { cookie })).to.be.envelope(401, 'UNAUTHORIZED');
    });

    it('takes precedence over a cookie of the old name, and both end with a logout', async () => {
      const { cookie: old } = await person(api);
      const answer = await logIn();
      const cookie = `${old}; ${cookieOf(answer)}`;
      expect((await secure.get('/users/@me', { cookie })).body).to.include({ id: answer.body.data.id });
      const logout = await secure.post('/auth/logout', undefined, { cookie });
      expect(logout.headers.getSetCookie().map((header) => header.replace(/;.*/, ''))).to.deep.equal([
        '__Host-everpost_session=',
        'everpost_session=',
      ]);
      for (const ended of [old, cookieOf(answer)])
        expect(await secure.get('/users/@me', { cookie: ended })).to.be.envelope(401, 'UNAUTHORIZED');
    });
  });

  describe('POST /auth/request-password-reset', () => {
    it('answers and works the same for existing and unknown addresses', async () => {
      const { email } = await person(api);
      const known = await api.post('/auth/request-password-reset', { email });
      const unknown = await api.post('/auth/request-password-reset', { email: newAddress() });
      expect(known).to.have.status(200);
      expect(unknown.body).to.deep.equal(known.body);
      expect((await storedAccountRequests(api.db)).map(({ purpose }) => purpose)).to.deep.equal([
        'RESET_PASSWORD',
        'RESET_PASSWORD',
      ]);
      expect(await systemMails(api.db, email), 'that is found out later').to.have.length(0);
      await answerAll();
      expect(await systemMails(api.db, email)).to.have.length(1);
    });

    it('sends at most five mails of all kinds in 15 minutes', async () => {
      const { email } = await person(api, undefined, { emailVerified: false });
      for (const what of ['password-reset', 'verification'])
        for (let n = 0; n < 4; n++)
          expect(await api.post(`/auth/request-${what}`, { email }), what).to.have.status(200);
      await answerAll();
      expect(await systemMails(api.db, email)).to.have.length(5);
    });

    for (const what of ['password-reset', 'verification'])
      it(`answers 429 from the sixth request-${what} on, for existing and unknown addresses`, async () => {
        const ask = (email: string) => api.post(`/auth/request-${what}`, { email });
        const { email, password } = await person(api, undefined, { emailVerified: false });
        const refusals = [];
        for (const address of [email, newAddress()]) {
          for (let n = 0; n < 5; n++) expect(await ask(address)).to.have.status(200);
          const answer = await ask(address);
          expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
          expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 900);
          refusals.push(answer.body.error.message);
        }
        expect(refusals[0]).to.equal(refusals[1]);
        expect(await api.post('/auth/login', { email, password }), 'logging in is another matter').to.have.status(200);
        await setAttempts(api.db, 50, { count: 12 });
        expect(await ask(newAddress()), 'fifty from one IP').to.have.status(429);
        await clearAccountRequests(api.db);
      });
  });

  describe('POST /auth/reset-password', () => {
    const askFor = async (email: string): Promise<string> => {
      await api.post('/auth/request-password-reset', { email });
      await answerAll();
      return tokenTo(api.db, email);
    };

    for (const field of ['newPassword', 'password'])
      it(`sets the password in "${field}", ends all sessions and revokes other reset links`, async () => {
        const someone = await person(api, undefined, { emailVerified: false });
        const first = await askFor(someone.email);
        const token = await askFor(someone.email);
        const answer = await api.post('/auth/reset-password', { token, [field]: 'battery staple' });
        expect(answer).to.have.status(200);
        expect(answer.body.data).to.deep.equal({ id: someone.id, email: someone.email });
        expect(await someone.get('/users/@me')).to.have.status(401);
        const old = await api.post('/auth/login', { email: someone.email, password: someone.password });
        expect(old).to.have.status(401);
        const fresh = await api.post('/auth/login', { email: someone.email, password: 'battery staple' });
        expect(fresh).to.have.status(200);
        expect(await api.post('/auth/reset-password', { token: first, [field]: 'again and again' })).to.have.status(
          400,
        );
      });

    it('rejects a used, expired, unknown or other-purpose token with 400', async () => {
      const someone = await person(api, undefined, { emailVerified: false });
      const used = await askFor(someone.email);
      await api.post('/auth/reset-password', { token: used, newPassword: 'battery staple' });
      const expired = await askFor(someone.email);
      await expireTokens(api.db, { userId: someone.id });
      await setUser(api.db, someone.id, { emailVerified: false });
      await api.post('/auth/request-verification', { email: someone.email });
      await answerAll();
      const other = await tokenTo(api.db, someone.email);
      for (const token of [used, expired, other, 'made up', `${expired}'--`])
        expect(await api.post('/auth/reset-password', { token, newPassword: 'gotcha gotcha' })).to.be.envelope(
          400,
          'BAD_REQUEST',
        );
      expect(await api.post('/auth/verify-email', { token: other }), 'it is good for its own').to.have.status(200);
    });

    it('accepts a token once when requests run concurrently', async () => {
      const { email } = await person(api);
      const token = await askFor(email);
      const answers = await Promise.all(
        [1, 2, 3].map((n) => api.post('/auth/reset-password', { token, newPassword: `password ${n}` })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400]);
    });

    it('rejects a missing password with 422 and keeps the token valid', async () => {
      const { email } = await person(api);
      const token = await askFor(email);
      expect(await api.post('/auth/reset-password', { token })).to.have.validationError('newPassword', 'required');
      expect(await api.post('/auth/reset-password', { token, newPassword: 'long enough' })).to.have.status(200);
    });
  });

  for (const path of ['/auth/request-verification', '/auth/request-password-reset'])
    it(`POST ${path} rejects a body without address with 422, unless a session has one`, async () => {
      const answer = await api.post(path, {});
      expect(answer).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(answer.body.error.errors).to.have.length(1);
      expect(answer.body.error.errors[0]).to.include({ field: 'email', code: 'required' });
      expect(await (await person(api)).post(path, {})).to.have.status(200);
      await answerAll();
    });

  describe('POST /auth/request-verification', () => {
    it('sends the mail again by address or session, and none to a verified user', async () => {
      const someone = await person(api, undefined, { emailVerified: false });
      const verified = await person(api);
      expect(await api.post('/auth/request-verification', { email: someone.email })).to.have.status(200);
      expect(await someone.post('/auth/request-verification', {})).to.have.status(200);
      expect(await api.post('/auth/request-verification', { email: verified.email })).to.have.status(200);
      await answerAll();
      expect(await systemMails(api.db, someone.email)).to.have.length(2);
      expect(await systemMails(api.db, verified.email)).to.have.length(0);
    });
  });

  describe('POST /users/@me/password', () => {
    it('ends every session except the new one in the response', async () => {
      const someone = await person(api);
      const body = { currentPassword: someone.password, newPassword: 'battery staple' };
      const answer = await someone.post('/users/@me/password', body);
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ id: someone.id, email: someone.email });
      expect(await someone.get('/users/@me')).to.have.status(401);
      expect(await api.get('/users/@me', { cookie: cookieOf(answer) })).to.have.status(200);
      expect((await systemMails(api.db, someone.email)).map(({ subject }) => subject)).to.deep.equal([
        'Your password was changed',
      ]);
    });

    it('rejects a wrong current password with 401 and counts a failed attempt', async () => {
      const someone = await person(api);
      const body = { currentPassword: 'wrong', newPassword: 'battery staple' };
      for (let n = 0; n < 5; n++)
        expect(await someone.post('/users/@me/password', body)).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await someone.post('/users/@me/password', body)).to.have.status(429);
      expect(await someone.get('/users/@me')).to.have.status(200);
    });
  });

  describe('DELETE /users/@me', () => {
    it('erases the account and its address everywhere', async () => {
      const email = newAddress();
      const cookie = cookieOf(await api.post('/auth/signup', { email, password: 'correct horse' }));
      expect(await systemMails(api.db, email)).to.have.length(1);
      expect(await api.delete('/users/@me', undefined, { cookie })).to.have.status(204);
      expect(await api.get('/users/@me', { cookie })).to.have.status(401);
      expect(await storedUsers(api.db, { email })).to.have.length(0);
      expect(await systemMails(api.db, email)).to.have.length(0);
      expect(await storedContacts(api.db, { email })).to.have.length(0);
    });

    it('rejects the last OWNER of a project with 409', async () => {
      const project = await api.project();
      expect(await project.owner.delete('/users/@me')).to.be.envelope(409, 'CONFLICT');
      expect(await project.owner.get('/users/@me')).to.have.status(200);
    });
  });

  describe('EMAIL_VERIFICATION_REQUIRED', () => {
    it('limits unverified users to their own account', async () => {
      const strict = await startTestApi({
        database: { db: api.db, url: api.databaseUrl, close: async () => {} },
        env: { EMAIL_VERIFICATION_REQUIRED: 'true' },
      });
      const { cookie, id } = await person(api, undefined, { emailVerified: false });
      const someone = client(strict.url, { cookie });
      expect(await someone.get('/users/@me')).to.have.status(200);
      expect(await someone.get('/users/@me/projects')).to.be.envelope(403, 'EMAIL_VERIFICATION_REQUIRED');
      expect(await someone.post('/users/@me/projects', { name: 'x' })).to.be.envelope(
        403,
        'EMAIL_VERIFICATION_REQUIRED',
      );
      await setUser(api.db, id, { emailVerified: true });
      expect(await someone.get('/users/@me/projects')).to.have.status(200);
      await strict.stop();
    });
  });

  it('GET /auth/oauth-config lists the configured providers', async () => {
    const answer = await api.get('/auth/oauth-config');
    expect(answer).to.have.status(200);
    expect(answer.body).to.deep.equal({
      success: true,
      data: { providers: [], github: false, google: false, oidc: false },
    });
  });
});
