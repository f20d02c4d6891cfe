import { expect } from 'chai';
import { unseal } from '../../../platform/crypto/seal.ts';
import { totpCode } from '../../../platform/crypto/totp.ts';
import { readSettings } from '../../../platform/settings.ts';
import { SYSTEM } from '../../../services/audit/record.ts';
import { resealSecrets } from '../../../services/sealing/reseal.ts';
import { sendRequestedMails } from '../../../services/users/requests.ts';
import { startSession } from '../../../services/users/sign-in.ts';
import { CodeRequired, totpContext } from '../../../services/users/two-factor.ts';
import { cookieOf, type Person, person, tokenTo } from '../../support/accounts.ts';
import { client, describeApi } from '../../support/api.ts';
import { clearAttempts, storedRecoveryCodes, storedSessions, userById } from '../../support/rows/accounts.ts';
import { type Authenticator, enableTwoFactor } from '../../support/two-factor.ts';

const { secretKeys } = readSettings({});

describeApi('two-factor authentication', (api) => {
  beforeEach(() => clearAttempts(api.db));

  const logIn = ({ email, password }: Person, code?: string) => api.post('/auth/login', { email, password, code });

  async function protectedPerson(): Promise<{ someone: Person; app: Authenticator }> {
    const someone = await person(api);
    return { someone, app: await enableTwoFactor(someone) };
  }

  describe('set-up', () => {
    it('answers with a secret and its otpauth address, and asks for no code until it is confirmed', async () => {
      const someone = await person(api);
      const begun = await someone.post('/users/@me/totp');
      expect(begun).to.have.status(200);
      expect(begun.body).to.have.all.keys('secret', 'uri');
      expect(begun.body.secret).to.match(/^[A-Z2-7]{32}$/);
      expect(begun.body.uri)
        .to.match(/^otpauth:\/\/totp\/Everpost/)
        .and.contain(begun.body.secret);
      expect(await logIn(someone)).to.have.status(200);
      expect((await someone.get('/users/@me')).body).to.include({ totpEnabled: false });
    });

    it('is on after a code is confirmed, with ten recovery codes and an entry in the audit log', async () => {
      const { someone, app } = await protectedPerson();
      expect(app.recoveryCodes).to.have.length(10);
      expect(new Set(app.recoveryCodes)).to.have.property('size', 10);
      for (const code of app.recoveryCodes) expect(code).to.match(/^([a-z2-9]{4}-){3}[a-z2-9]{4}$/);
      expect((await someone.get('/users/@me')).body).to.include({ totpEnabled: true });
      expect(await actionsOf(someone)).to.deep.equal(['user.totp_enabled']);
    });

    it('keeps the secret from before until another one is confirmed', async () => {
      const someone = await person(api);
      const first = (await someone.post('/users/@me/totp')).body.secret;
      const second = (await someone.post('/users/@me/totp')).body.secret;
      const confirm = (secret: string) =>
        someone.post('/users/@me/totp/confirm', { code: totpCode(secret, Date.now()) });
      expect(await confirm(first), 'it was replaced').to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await confirm(second)).to.have.status(200);
      expect(await confirm(second), 'nothing is left to confirm').to.be.envelope(400, 'BAD_REQUEST');
      expect(await someone.post('/users/@me/totp')).to.be.envelope(409, 'CONFLICT');
    });

    it('rejects a missing code with 422 and a confirmation without set-up with 400', async () => {
      const someone = await person(api);
      expect(await someone.post('/users/@me/totp/confirm', {})).to.have.validationError('code', 'required');
      expect(await someone.post('/users/@me/totp/confirm', { code: 'x'.repeat(51) })).to.have.validationError(
        'code',
        'too_big',
      );
      expect(await someone.post('/users/@me/totp/confirm', { code: '123456' })).to.be.envelope(400, 'BAD_REQUEST');
      expect(await someone.delete('/users/@me/totp', { code: '123456' })).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('answers 429 to a confirmation after five wrong codes', async () => {
      const someone = await person(api);
      const { secret } = (await someone.post('/users/@me/totp')).body;
      const confirm = (code: string) => someone.post('/users/@me/totp/confirm', { code });
      for (let n = 0; n < 5; n++) expect(await confirm('wrong')).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await confirm(totpCode(secret, Date.now()))).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    });

    it('ends all other sessions, so that those that remain have passed it', async () => {
      const someone = await person(api);
      const cookie = cookieOf(await logIn(someone));
      await enableTwoFactor(someone);
      expect(await api.get('/users/@me', { cookie })).to.have.status(401);
      expect(await someone.get('/users/@me')).to.have.status(200);
    });

    it('stores the secret sealed, the recovery codes hashed, and seals the secret anew after a key rotation', async () => {
      const { someone, app } = await protectedPerson();
      const row = await userById(api.db, someone.id);
      expect(row.totpSecret).not.to.contain(app.secret);
      expect(unseal(secretKeys, totpContext(someone.id), row.totpSecret)).to.equal(app.secret);
      const codes = await storedRecoveryCodes(api.db, someone.id);
      expect(codes).to.have.length(10);
      expect(codes[0].codeHash).to.have.length(32);
      const rotated = ['a new key in front of the others', ...secretKeys] as const;
      expect(await resealSecrets(api.db, rotated)).to.be.greaterThan(0);
      const resealed = await userById(api.db, someone.id);
      expect(unseal([rotated[0]], totpContext(someone.id), resealed.totpSecret)).to.equal(app.secret);
      await resealSecrets(api.db, [secretKeys[0], rotated[0]]);
    });
  });

  describe('log-in', () => {
    it('answers 401 with totpRequired until a code is sent too', async () => {
      const { someone, app } = await protectedPerson();
      const answer = await logIn(someone);
      expect(answer).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(answer.body.error.details).to.deep.equal({ totpRequired: true });
      expect(answer.headers.get('set-cookie')).to.equal(null);
      const wrong = await logIn({ ...someone, password: 'wrong' }, app.code());
      expect(wrong.body.error.details, 'nothing is told without the password').to.equal(undefined);
      const passed = await logIn(someone, app.code());
      expect(passed).to.have.status(200);
      expect(await api.get('/users/@me', { cookie: cookieOf(passed) })).to.have.status(200);
    });

    it('accepts codes of neighbouring steps, with spaces, and none further away', async () => {
      const { someone, app } = await protectedPerson();
      for (const steps of [-3, 3]) expect(await logIn(someone, app.code(steps))).to.have.status(401);
      const next = app.code(1);
      expect(await logIn(someone, `${next.slice(0, 3)} ${next.slice(3)}`)).to.have.status(200);
    });

    it('accepts each code once, also of concurrent log-ins', async () => {
      const { someone, app } = await protectedPerson();
      const earlier = app.code(0);
      const code = app.code(1);
      const answers = await Promise.all([1, 2, 3].map(() => logIn(someone, code)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
      expect(await logIn(someone, earlier), 'an earlier step is over').to.have.status(401);
    });

    it('accepts each recovery code once, in any spelling, also of concurrent log-ins', async () => {
      const { someone, app } = await protectedPerson();
      const [first = '', second = ''] = app.recoveryCodes;
      const answers = await Promise.all([1, 2, 3].map(() => logIn(someone, first)));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401]);
      await clearAttempts(api.db);
      expect(await logIn(someone, first)).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await logIn(someone, second.toUpperCase().replaceAll('-', ' '))).to.have.status(200);
      expect(await storedRecoveryCodes(api.db, someone.id)).to.have.length(8);
      const other = await protectedPerson();
      expect(await logIn(other.someone, app.recoveryCodes[2]), 'of another account').to.have.status(401);
    });

    it('counts a wrong code as a failed attempt and a missing one not', async () => {
      const { someone, app } = await protectedPerson();
      for (let n = 0; n < 8; n++) expect(await logIn(someone)).to.have.status(401);
      for (let n = 0; n < 5; n++) expect(await logIn(someone, '000000')).to.have.status(401);
      const answer = await logIn(someone, app.code(1));
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 900);
    });

    it('clears no wrong codes when a code is required, so that they cannot be guessed endlessly', async () => {
      const { someone } = await protectedPerson();
      for (let n = 0; n < 5; n++) {
        expect(await logIn(someone, '000000')).to.have.status(401);
        expect(await logIn(someone)).to.have.status(n < 4 ? 401 : 429);
      }
    });

    it('answers 429 after thirty wrong codes in a day, whatever the window of failed attempts says', async () => {
      const { someone, app } = await protectedPerson();
      for (let n = 0; n < 30; n++) {
        expect(await logIn(someone, '000000')).to.have.status(401);
        // The quarter of an hour passes; the day does not.
        await clearAttempts(api.db, { windowMinutes: 15 });
      }
      const answer = await logIn(someone, app.code(1));
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).to.be.greaterThan(80_000);
      expect(await someone.get('/users/@me'), 'sessions go on').to.have.status(200);
    });

    it('starts no session for a log-in that compared the password before it was turned on', async () => {
      const someone = await person(api);
      const compared = await userById(api.db, someone.id);
      await enableTwoFactor(someone);
      const client = { ip: '192.0.2.1', actor: SYSTEM };
      const late = await startSession(api.db, secretKeys, compared, {}, client).catch((error: unknown) => error);
      expect(late).to.be.instanceOf(CodeRequired);
      expect(await storedSessions(api.db, someone.id)).to.have.length(1);
    });

    it('records log-ins and failed ones', async () => {
      const { someone, app } = await protectedPerson();
      await logIn({ ...someone, password: 'wrong' });
      await logIn(someone);
      await logIn(someone, '000000');
      await logIn(someone, app.code(1));
      expect(await actionsOf(someone)).to.deep.equal([
        'user.totp_enabled',
        'user.login_failed',
        'user.login_failed',
        'user.logged_in',
      ]);
    });
  });

  describe('the end', () => {
    it('comes with a code, after which log-ins need none', async () => {
      const { someone, app } = await protectedPerson();
      expect(await someone.delete('/users/@me/totp', { code: '000000' })).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await someone.delete('/users/@me/totp', { code: app.code() })).to.have.status(204);
      expect(await logIn(someone)).to.have.status(200);
      expect(await storedRecoveryCodes(api.db, someone.id)).to.have.length(0);
      expect(await actionsOf(someone)).to.include('user.totp_disabled');
    });

    it('comes with a recovery code too', async () => {
      const { someone, app } = await protectedPerson();
      expect(await someone.delete('/users/@me/totp', { code: app.recoveryCodes[9] })).to.have.status(204);
      expect((await someone.get('/users/@me')).body).to.include({ totpEnabled: false });
    });

    it('is throttled', async () => {
      const { someone, app } = await protectedPerson();
      for (let n = 0; n < 5; n++) await someone.delete('/users/@me/totp', { code: '000000' });
      expect(await someone.delete('/users/@me/totp', { code: app.code() })).to.have.status(429);
    });

    it('does not come with a password reset', async () => {
      const { someone } = await protectedPerson();
      const token = await resetToken(someone.email);
      expect(await api.post('/auth/reset-password', { token, password: 'battery staple' })).to.have.status(200);
      expect((await logIn({ ...someone, password: 'battery staple' })).body.error.details).to.deep.equal({
        totpRequired: true,
      });
    });

    it('comes when the owner of the mailbox takes over an account that a stranger opened', async () => {
      for (const takeOver of [
        async ({ email }: Person) =>
          api.post('/auth/reset-password', { token: await resetToken(email), password: 'battery staple' }),
        async ({ email }: Person) =>
          api.post('/auth/verify-email', { token: await verificationToken(email), newPassword: 'battery staple' }),
      ]) {
        const stranger = await person(api, undefined, { emailVerified: false });
        await enableTwoFactor(stranger);
        expect(await takeOver(stranger)).to.have.status(200);
        expect(await logIn({ ...stranger, password: 'battery staple' })).to.have.status(200);
      }
    });
  });

  describe('a code of the authenticator', () => {
    const uses = {
      'log-in': (someone: Person, code: string) => logIn(someone, code),
      confirmation: (someone: Person, code: string) => someone.post('/auth/confirm', { code }),
      'turning off': (someone: Person, code: string) => someone.delete('/users/@me/totp', { code }),
    };

    it('that set two-factor up counts for nothing else', async () => {
      for (const [name, use] of Object.entries(uses)) {
        const someone = await person(api);
        const { secret } = (await someone.post('/users/@me/totp')).body;
        const code = totpCode(secret, Date.now());
        expect(await someone.post('/users/@me/totp/confirm', { code })).to.have.status(200);
        expect(await use(someone, code), name).to.be.envelope(401, 'INVALID_CREDENTIALS');
      }
    });

    it('counts once, whatever it was used for first', async () => {
      for (const first of ['log-in', 'confirmation'] as const)
        for (const [name, second] of Object.entries(uses)) {
          const { someone, app } = await protectedPerson();
          const code = app.code();
          expect(await uses[first](someone, code)).to.have.status(200);
          expect(await second(someone, code), `${first}, ${name}`).to.be.envelope(401, 'INVALID_CREDENTIALS');
          const byRecovery = await second(someone, app.recoveryCodes[0] ?? '');
          expect(byRecovery.status, name).to.be.oneOf([200, 204]);
        }
    });

    it('counts once of concurrent requests for different things', async () => {
      const { someone, app } = await protectedPerson();
      const code = app.code();
      const answers = await Promise.all([uses['log-in'](someone, code), uses.confirmation(someone, code)]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
    });
  });

  it('asks for no code when a session changes the password', async () => {
    const { someone } = await protectedPerson();
    const body = { currentPassword: someone.password, newPassword: 'battery staple' };
    const answer = await someone.post('/users/@me/password', body);
    expect(answer).to.have.status(200);
    expect(await api.get('/users/@me', { cookie: cookieOf(answer) })).to.have.status(200);
  });

  describe('the page of an invitation', () => {
    it('asks for password and code of an account that has it', async () => {
      const { someone, app } = await protectedPerson();
      const project = await api.project();
      await project.owner.post(`/projects/${project.id}/members`, { email: someone.email, role: 'VIEWER' });
      const path = `/invitations/${await tokenTo(api.db, someone.email)}`;
      const page = await api.get(path);
      expect(page.body).to.contain('name="password"').and.contain('name="code"');
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const without = await api.post(path, `password=${encodeURIComponent(someone.password)}`, form);
      expect(without).to.have.status(401);
      expect(without.body).to.contain('a code is required').and.contain('name="code"');
      const body = `password=${encodeURIComponent(someone.password)}&code=${app.code(1)}`;
      const joined = await api.post(path, body, form);
      expect(joined).to.have.status(200);
      const member = client(api.url, { cookie: cookieOf(joined) });
      expect((await member.get(`/projects/${project.id}`)).body).to.include({ role: 'VIEWER' });
    });

    it('shows no code field for an account without it', async () => {
      const someone = await person(api);
      const project = await api.project();
      await project.owner.post(`/projects/${project.id}/members`, { email: someone.email, role: 'MEMBER' });
      const page = await api.get(`/invitations/${await tokenTo(api.db, someone.email)}`);
      expect(page.body).to.contain('name="password"').and.not.contain('name="code"');
    });
  });

  describe('required by a project', () => {
    it('is decided by an OWNER who has it', async () => {
      const project = await api.project();
      const path = `/users/@me/projects/${project.id}`;
      const refused = await project.owner.patch(path, { requireTwoFactor: true });
      expect(refused).to.be.envelope(403, 'FORBIDDEN');
      expect(refused.body.error.suggestion).to.contain('POST /users/@me/totp');
      const admin = await person(api, { project: project.id, role: 'ADMIN' });
      await enableTwoFactor(admin);
      expect(await admin.patch(path, { requireTwoFactor: true })).to.be.envelope(403, 'FORBIDDEN');
      expect(await admin.patch(path, { name: 'Shop' }), 'other settings stay theirs').to.have.status(200);
      expect((await project.owner.get(`/projects/${project.id}`)).body).to.include({ requireTwoFactor: false });
      await enableTwoFactor(project.owner);
      const answer = await project.owner.patch(path, { requireTwoFactor: true });
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ requireTwoFactor: true });
      const log = await project.owner.get(`/projects/${project.id}/audit?action=project.updated`);
      expect(log.body.data[0].changes).to.deep.equal({ requireTwoFactor: { from: false, to: true } });
    });

    it('shuts members without it out until they have it; keys go on working', async () => {
      const project = await api.project();
      await enableTwoFactor(project.owner);
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      await project.owner.patch(`/users/@me/projects/${project.id}`, { requireTwoFactor: true });
      const headers = { 'x-project-id': project.id };
      for (const answer of [await member.get(`/projects/${project.id}`), await member.get('/contacts', headers)]) {
        expect(answer).to.be.envelope(403, 'FORBIDDEN');
        expect(answer.body.error.suggestion).to.contain('POST /users/@me/totp');
      }
      expect((await member.get('/users/@me/projects')).body.map(({ id }: { id: string }) => id)).to.include(project.id);
      expect(await project.server.get('/contacts')).to.have.status(200);
      await enableTwoFactor(member);
      expect(await member.get('/contacts', headers)).to.have.status(200);
    });
  });

  /** The user's own audit log, oldest first. */
  async function actionsOf(someone: Person): Promise<string[]> {
    const { body } = await someone.get('/users/@me/audit');
    return body.data.map(({ action }: { action: string }) => action).reverse();
  }

  const resetToken = (email: string) => mailedToken(email, '/auth/request-password-reset');
  const verificationToken = (email: string) => mailedToken(email, '/auth/request-verification');

  async function mailedToken(email: string, path: string): Promise<string> {
    expect(await api.post(path, { email })).to.have.status(200);
    await sendRequestedMails(api.db, readSettings({ BASE_URL: 'http://app.test' }));
    return tokenTo(api.db, email);
  }
});
