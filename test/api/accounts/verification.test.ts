import { expect } from 'chai';
import { readSettings } from '../../../platform/settings.ts';

import { SYSTEM } from '../../../services/audit/record.ts';
import { sendRequestedMails } from '../../../services/users/requests.ts';
import { startSession } from '../../../services/users/sign-in.ts';
import { cookieOf, person, systemMails, tokenTo } from '../../support/accounts.ts';
import { describeApi } from '../../support/api.ts';
import {
  clearAttempts,
  linkIdentity,
  storedIdentities,
  storedSessions,
  userById,
} from '../../support/rows/accounts.ts';

const settings = readSettings({ BASE_URL: 'http://app.test' });
let addresses = 0;

describeApi('POST /auth/verify-email', (api) => {
  beforeEach(() => clearAttempts(api.db));

  const password = 'correct horse';

  /** Signs up through the API and returns the token from the mailbox. */
  async function signedUp() {
    const email = `new${++addresses}@verify.example`;
    const answer = await api.post('/auth/signup', { email, password });
    expect(answer).to.have.status(201);
    return { email, id: answer.body.data.id as string, cookie: cookieOf(answer), token: await tokenTo(api.db, email) };
  }
  const verify = (body: object, cookie?: string) => api.post('/auth/verify-email', body, cookie ? { cookie } : {});
  const logIn = (email: string, given = password) => api.post('/auth/login', { email, password: given });
  const isVerified = async (id: string) => (await userById(api.db, id)).emailVerified;

  it('only verifies with a session of the account', async () => {
    const { email, id, cookie, token } = await signedUp();
    const answer = await verify({ token }, cookie);
    expect(answer).to.have.status(200);
    expect(answer.body).to.deep.equal({ success: true, data: { id, email } });
    expect((await api.get('/users/@me', { cookie })).body).to.include({ emailVerified: true });
    expect(await logIn(email)).to.have.status(200);
  });

  it('only verifies with the current password, and keeps the sessions', async () => {
    const { email, id, cookie, token } = await signedUp();
    const answer = await verify({ token, password });
    expect(answer).to.have.status(200);
    expect(answer.body.data).to.deep.equal({ id, email });
    expect(answer.headers.get('set-cookie'), 'it is no log-in').to.equal(null);
    expect(await api.get('/users/@me', { cookie })).to.have.status(200);
    expect(await logIn(email)).to.have.status(200);
  });

  it('clears the password and ends all sessions with the token alone', async () => {
    const { email, id, cookie, token } = await signedUp();
    const answer = await verify({ token });
    expect(answer.body).to.deep.equal({ success: true, data: { id, email, passwordCleared: true } });
    expect(await isVerified(id)).to.equal(true);
    expect(await api.get('/users/@me', { cookie })).to.be.envelope(401, 'UNAUTHORIZED');
    expect(await logIn(email)).to.be.envelope(401, 'INVALID_CREDENTIALS');
    const subjects = (await systemMails(api.db, email)).map(({ subject }) => subject);
    expect(subjects).to.deep.equal(['Verify your email address', 'Your password was removed']);
  });

  it('clears the password with the session of another account', async () => {
    const { email, cookie, token } = await signedUp();
    const other = await person(api);
    expect((await other.post('/auth/verify-email', { token })).body.data).to.include({ passwordCleared: true });
    expect(await api.get('/users/@me', { cookie })).to.have.status(401);
    expect(await logIn(email)).to.have.status(401);
    expect(await other.get('/users/@me'), 'the other account is untouched').to.have.status(200);
  });

  it('sets newPassword and ends all sessions', async () => {
    const { email, cookie, token } = await signedUp();
    const answer = await verify({ token, newPassword: 'battery staple' });
    expect(answer).to.have.status(200);
    expect(answer.body.data).not.to.have.property('passwordCleared');
    expect(await api.get('/users/@me', { cookie })).to.have.status(401);
    expect(await logIn(email)).to.have.status(401);
    expect(await logIn(email, 'battery staple')).to.have.status(200);
  });

  it('rejects a short newPassword with 422 and keeps the token valid', async () => {
    const { token } = await signedUp();
    expect(await verify({ token, newPassword: 'short' })).to.have.validationError('newPassword', 'too_small');
    expect(await verify({ token, password })).to.have.status(200);
  });

  it('rejects a wrong password with 401 INVALID_CREDENTIALS, throttled like logins, and keeps the token valid', async () => {
    const { email, id, token } = await signedUp();
    for (let n = 0; n < 5; n++)
      expect(await verify({ token, password: `guess ${n}`, newPassword: 'battery staple' })).to.be.envelope(
        401,
        'INVALID_CREDENTIALS',
      );
    expect(await verify({ token, password })).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    expect(await logIn(email), 'log-ins share the count').to.have.status(429);
    expect(await isVerified(id)).to.equal(false);
    await clearAttempts(api.db);
    expect(await verify({ token, password })).to.have.status(200);
  });

  it('accepts a token once when two requests run concurrently', async () => {
    const { email, token } = await signedUp();
    const answers = await Promise.all([
      verify({ token, newPassword: 'of the first' }),
      verify({ token }),
      verify({ token }),
    ]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400]);
    const isSet = answers[0]?.status === 200;
    expect(await logIn(email, 'of the first')).to.have.status(isSet ? 200 : 401);
  });

  it('revokes the other links of the account when the password is replaced', async () => {
    const { email, token } = await signedUp();
    await api.post('/auth/request-password-reset', { email });
    await sendRequestedMails(api.db, settings);
    const reset = await tokenTo(api.db, email);
    const project = await api.project();
    await project.owner.post(`/projects/${project.id}/members`, { email, role: 'ADMIN' });
    const invitation = await tokenTo(api.db, email);
    expect(await verify({ token })).to.have.status(200);
    expect(await api.post('/auth/reset-password', { token: reset, newPassword: 'battery staple' })).to.have.status(400);
    const accepted = await api.post('/auth/accept-invitation', { token: invitation, password: 'battery staple' });
    expect(accepted).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('leaves a stranger who signed up with the address no session, password, provider or invitation', async () => {
    const { email, id, cookie, token } = await signedUp();
    const made = await api.post('/users/@me/projects', { name: 'of a stranger' }, { cookie });
    await linkIdentity(api.db, id, { provider: 'github', subject: `stranger ${id}` });
    expect(await verify({ token })).to.have.status(200);
    expect(await storedSessions(api.db, id)).to.have.length(0);
    expect(await storedIdentities(api.db, id)).to.have.length(0);
    expect(await api.get(`/projects/${made.body.id}`, { cookie })).to.have.status(401);
    expect(await logIn(email)).to.have.status(401);
    const [, notice] = await systemMails(api.db, email);
    expect(notice?.paragraphs.join(' '), 'the mail warns about the keys').to.contain('API keys');
  });

  it('creates no session for a login that compared the old password', async () => {
    const { id, token } = await signedUp();
    const compared = await userById(api.db, id);
    expect(await verify({ token })).to.have.status(200);
    const late = await startSession(
      api.db,
      settings.secretKeys,
      compared,
      {},
      { ip: '192.0.2.1', actor: SYSTEM },
    ).catch((error: unknown) => error);
    expect(late).to.include({ status: 401 });
    expect(await storedSessions(api.db, id)).to.have.length(0);
  });

  it('leaves no session to a stranger who logs in concurrently', async () => {
    const { email, id, token } = await signedUp();
    const attempts = Array.from({ length: 4 }, () => logIn(email));
    await Promise.all([verify({ token }), ...attempts]);
    expect(await storedSessions(api.db, id)).to.have.length(0);
  });
});

describeApi('outstanding links of an account', (api) => {
  beforeEach(() => clearAttempts(api.db));

  /** Issues a link of each kind to one unverified account. */
  async function links() {
    const someone = await person(api, undefined, { emailVerified: false });
    const ask = async (what: string) => {
      await api.post(`/auth/request-${what}`, { email: someone.email });
      await sendRequestedMails(api.db, settings);
      return tokenTo(api.db, someone.email);
    };
    const verification = await ask('verification');
    const reset = await ask('password-reset');
    const project = await api.project();
    await project.owner.post(`/projects/${project.id}/members`, { email: someone.email, role: 'MEMBER' });
    return { someone, verification, reset, invitation: await tokenTo(api.db, someone.email) };
  }

  type Links = Awaited<ReturnType<typeof links>>;
  const refused = async ({ verification, reset, invitation }: Omit<Links, 'someone'>, cookie: string) => {
    const answers = [
      await api.post('/auth/verify-email', { token: verification }, { cookie }),
      await api.post('/auth/reset-password', { token: reset, newPassword: 'gotcha gotcha' }),
      await api.post('/auth/accept-invitation', { token: invitation }, { cookie }),
    ];
    for (const answer of answers) expect(answer).to.be.envelope(400, 'BAD_REQUEST');
  };

  it('are revoked by a password change', async () => {
    const { someone, ...tokens } = await links();
    const body = { currentPassword: someone.password, newPassword: 'battery staple' };
    const answer = await someone.post('/users/@me/password', body);
    expect(answer).to.have.status(200);
    await refused(tokens, cookieOf(answer));
  });

  it('are revoked by a password reset', async () => {
    const { someone, ...tokens } = await links();
    const body = { token: tokens.reset, newPassword: 'battery staple' };
    expect(await api.post('/auth/reset-password', body)).to.have.status(200);
    const login = await api.post('/auth/login', { email: someone.email, password: 'battery staple' });
    await refused(tokens, cookieOf(login));
  });

  it('are used or revoked without a deadlock when a reset and a change run concurrently', async () => {
    const { someone, reset, verification } = await links();
    const answers = await Promise.all([
      api.post('/auth/reset-password', { token: reset, newPassword: 'battery staple' }),
      api.post('/auth/verify-email', { token: verification, newPassword: 'staple battery' }),
      someone.post('/users/@me/password', { currentPassword: someone.password, newPassword: 'another one' }),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(
      statuses.filter((status) => status === 200),
      String(statuses),
    ).to.have.length(1);
    for (const status of statuses) expect(status).to.be.oneOf([200, 400, 401]);
  });
});
