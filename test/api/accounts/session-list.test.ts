import { expect } from 'chai';
import { cookieOf, type Person, person, tokenTo } from '../../support/accounts.ts';
import { client, describeApi } from '../../support/api.ts';
import { readAudit, readMembers, readOwnerEmail } from '../../support/reading.ts';
import { clearAttempts, expireSessionsWithIp, setSessions, storedSessions } from '../../support/rows/accounts.ts';
import { enableTwoFactor } from '../../support/two-factor.ts';

describeApi('sessions of a user', (api) => {
  beforeEach(() => clearAttempts(api.db));

  const logIn = ({ email, password }: Person, headers = {}) => api.post('/auth/login', { email, password }, headers);

  describe('GET /users/@me/sessions', () => {
    it('lists id, times, IP, user agent and whether it is the current one', async () => {
      const someone = await person(api);
      const before = Date.now();
      const cookie = cookieOf(await logIn(someone, { 'user-agent': 'Firefox of Ann' }));
      const { status, body } = await api.get('/users/@me/sessions', { cookie });
      expect(status).to.equal(200);
      expect(body).to.have.length(2);
      const [first, second] = body;
      expect(first).to.have.all.keys('id', 'createdAt', 'lastSeenAt', 'ip', 'userAgent', 'current');
      expect(first).to.include({ current: true, ip: '127.0.0.1', userAgent: 'Firefox of Ann' });
      expect(first.id, 'a UUIDv7').to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      expect(new Date(first.createdAt).getTime()).to.be.within(before, Date.now());
      expect(second).to.include({ current: false });
      expect(JSON.stringify(body), 'no token').not.to.contain(cookie.split('=')[1]);
    });

    it('records a use at most once a minute, with its IP and user agent', async () => {
      const someone = await person(api);
      const own = async () => (await storedSessions(api.db, someone.id))[0];
      const before = await own();
      await someone.get('/users/@me', { 'user-agent': 'first' });
      expect((await own()).lastSeenAt).to.deep.equal(before.lastSeenAt);
      const earlier = new Date(Date.now() - 61_000);
      await setSessions(api.db, someone.id, { lastSeenAt: earlier });
      await someone.get('/users/@me', { 'user-agent': 'x'.repeat(2_000) });
      const after = await own();
      expect(after.lastSeenAt.getTime()).to.be.greaterThan(earlier.getTime() + 60_000);
      expect(after).to.include({ ip: '127.0.0.1', userAgent: 'x'.repeat(500) });
    });

    it('lists no session that has expired, and none of others', async () => {
      const someone = await person(api);
      await person(api);
      await logIn(someone);
      await expireSessionsWithIp(api.db, someone.id);
      expect((await someone.get('/users/@me/sessions')).body).to.have.length(1);
    });
  });

  describe('DELETE /users/@me/sessions/:id', () => {
    it('ends a session at once and records it', async () => {
      const someone = await person(api);
      const other = client(api.url, { cookie: cookieOf(await logIn(someone)) });
      const listed = (await someone.get('/users/@me/sessions')).body;
      const { id } = listed.find(({ current }: { current: boolean }) => !current);
      expect(await someone.delete(`/users/@me/sessions/${id}`)).to.have.status(204);
      expect(await other.get('/users/@me')).to.have.status(401);
      expect(await someone.get('/users/@me')).to.have.status(200);
      const [act] = (await someone.get('/users/@me/audit')).body.data;
      expect(act).to.deep.include({ action: 'user.session_revoked' });
      expect(act.target).to.include({ type: 'session', id });
      expect(await someone.delete(`/users/@me/sessions/${id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });

    it('answers 404 for a session of another user and for a malformed id', async () => {
      const someone = await person(api);
      const other = await person(api);
      const [{ id }] = (await other.get('/users/@me/sessions')).body;
      for (const given of [id, 'x']) {
        const answer = await someone.delete(`/users/@me/sessions/${given}`);
        expect(answer).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
        expect(answer.body.error.message).to.equal('Session not found.');
      }
      expect(await other.get('/users/@me')).to.have.status(200);
    });
  });

  describe('re-authentication', () => {
    const age = (userId: string, minutes: number) =>
      setSessions(api.db, userId, { provenAt: new Date(Date.now() - minutes * 60_000) });

    const needsConfirmation = async (send: () => ReturnType<Person['post']>) => {
      const answer = await send();
      expect(answer).to.be.envelope(403, 'FORBIDDEN');
      expect(answer.body.error.details).to.deep.equal({ confirmationRequired: true });
    };

    it('is needed for key rotation, project deletion and role changes after 15 minutes', async () => {
      const project = await api.project();
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      const acts = [
        () => project.owner.post(`/users/@me/projects/${project.id}/regenerate-keys`),
        () => project.owner.patch(`/projects/${project.id}/members/${member.id}`, { role: 'ADMIN' }),
        () => project.owner.delete(`/users/@me/projects/${project.id}`),
      ];
      await age(project.userId, 15);
      for (const act of acts) await needsConfirmation(act);
      expect(await project.owner.patch(`/users/@me/projects/${project.id}`, { name: 'other acts' })).to.have.status(
        200,
      );
      const email = await readOwnerEmail(project);
      expect((await readMembers(project)).filter(({ role }) => role === 'ADMIN')).to.have.length(0);
      for (const act of acts) {
        await age(project.userId, 14);
        expect((await act()).status, email).to.be.oneOf([200, 204]);
      }
    });

    it('is needed for powerful invitations and keys, webhook secrets, a reset and less security', async () => {
      const project = await api.project();
      const { owner, id } = project;
      const inProject = { 'x-project-id': id };
      const endpoint = { url: 'https://hooks.example.com/', types: ['*'] };
      const made = await owner.post('/webhook-endpoints', endpoint, inProject);
      expect(made).to.have.status(201);
      const invite = (role: string) => () =>
        owner.post(`/projects/${id}/members`, { email: `${role}-${id}@example.com`.toLowerCase(), role });
      const createKey = (scope: string) => () => owner.post(`/projects/${id}/keys`, { name: 'Key', scopes: [scope] });
      await enableTwoFactor(owner);
      await owner.patch(`/users/@me/projects/${id}`, { requireTwoFactor: true });
      const acts = [
        invite('OWNER'),
        invite('ADMIN'),
        createKey('all'),
        () => owner.get(`/projects/${id}/webhook-secret`),
        () => owner.post(`/projects/${id}/webhook-secret/rotate`),
        () => owner.get(`/webhook-endpoints/${made.body.id}/secret`, inProject),
        () => owner.post(`/webhook-endpoints/${made.body.id}/rotate-secret`, {}, inProject),
        () => owner.patch(`/users/@me/projects/${id}`, { requireTwoFactor: false }),
        () => owner.post(`/users/@me/projects/${id}/reset`),
      ];
      await age(project.userId, 15);
      for (const act of acts) await needsConfirmation(act);
      for (const act of [invite('MEMBER'), createKey('send:write')]) expect(await act()).to.have.status(201);
      expect(await owner.patch(`/users/@me/projects/${id}`, { requireTwoFactor: true })).to.have.status(200);
      expect(await project.server.get(`/projects/${id}/webhook-secret`), 'keys are not asked').to.have.status(200);
      for (const act of acts) {
        await age(project.userId, 14);
        expect(await act())
          .to.have.property('status')
          .within(200, 201);
      }
    });

    it('is needed to delete the account, and not where the request has the password or a code', async () => {
      const someone = await person(api);
      await age(someone.id, 60);
      await needsConfirmation(() => someone.delete('/users/@me'));
      await age(someone.id, 0);
      const app = await enableTwoFactor(someone);
      await age(someone.id, 60);
      expect(await someone.delete('/users/@me/totp', { code: app.code() })).to.have.status(204);
      const passwords = { currentPassword: someone.password, newPassword: 'battery staple' };
      const changed = await someone.post('/users/@me/password', passwords);
      expect(changed).to.have.status(200);
      const proven = client(api.url, { cookie: cookieOf(changed) });
      expect(await proven.delete('/users/@me')).to.have.status(204);
    });

    it('is not asked of somebody who may not act at all', async () => {
      const project = await api.project();
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      const stranger = await person(api);
      for (const { id } of [member, stranger]) await age(id, 60);
      const path = `/users/@me/projects/${project.id}/regenerate-keys`;
      expect((await member.post(path)).body.error.details).to.equal(undefined);
      expect(await stranger.post(path)).to.have.status(404);
    });

    it('is done with the password, for this session only', async () => {
      const someone = await person(api);
      const { body: project } = await someone.post('/users/@me/projects', { name: 'Shop' });
      const other = client(api.url, { cookie: cookieOf(await logIn(someone)) });
      await age(someone.id, 60);
      const before = Date.now();
      const answer = await someone.post('/auth/confirm', { password: someone.password });
      expect(answer).to.have.status(200);
      expect(answer.body.success).to.equal(true);
      const confirmedAt = new Date(answer.body.data.confirmedUntil).getTime() - 15 * 60_000;
      expect(confirmedAt).to.be.within(before, Date.now());
      const path = `/users/@me/projects/${project.id}/regenerate-keys`;
      await needsConfirmation(() => other.post(path));
      expect(await someone.post(path)).to.have.status(200);
    });

    it('is done with a code, once with each', async () => {
      const someone = await person(api);
      const app = await enableTwoFactor(someone);
      await age(someone.id, 60);
      const code = app.code(1);
      expect(await someone.post('/auth/confirm', { code })).to.have.status(200);
      expect(await someone.post('/auth/confirm', { code })).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await someone.post('/auth/confirm', { code: app.recoveryCodes[0] })).to.have.status(200);
      expect(await someone.post('/auth/confirm', { code: app.recoveryCodes[0] })).to.have.status(401);
    });

    it('rejects wrong credentials with 401, none with 422, and too many with 429', async () => {
      const someone = await person(api);
      await age(someone.id, 60);
      expect(await someone.post('/auth/confirm', {})).to.have.validationError('password', 'required');
      expect(await someone.post('/auth/confirm', { code: '123456' })).to.be.envelope(400, 'BAD_REQUEST');
      for (let n = 0; n < 5; n++)
        expect(await someone.post('/auth/confirm', { password: 'wrong' })).to.be.envelope(401, 'INVALID_CREDENTIALS');
      expect(await someone.post('/auth/confirm', { password: someone.password })).to.have.status(429);
      expect(await api.post('/auth/confirm', { password: 'x' })).to.be.envelope(401, 'UNAUTHORIZED');
      const { provenAt } = await storedSessions(api.db, someone.id).first();
      expect(Date.now() - provenAt.getTime()).to.be.greaterThan(59 * 60_000);
    });

    it('is needed to set up two-factor authentication', async () => {
      const someone = await person(api);
      await age(someone.id, 60);
      await needsConfirmation(() => someone.post('/users/@me/totp'));
    });

    it('is not replaced by accepting an invitation with an old session', async () => {
      const someone = await person(api);
      const { body: mine } = await someone.post('/users/@me/projects', { name: 'Shop' });
      const project = await api.project();
      await project.owner.post(`/projects/${project.id}/members`, { email: someone.email, role: 'VIEWER' });
      const token = await tokenTo(api.db, someone.email);
      await age(someone.id, 60);
      const accepted = await someone.post('/auth/accept-invitation', { token });
      expect(accepted).to.have.status(200);
      const fresh = client(api.url, { cookie: cookieOf(accepted) });
      expect(await fresh.get('/users/@me')).to.have.status(200);
      await needsConfirmation(() => fresh.post(`/users/@me/projects/${mine.id}/regenerate-keys`));
    });
  });

  it('records role changes with actor, target and change', async () => {
    const project = await api.project();
    const member = await person(api, { project: project.id, role: 'MEMBER' });
    expect(
      await project.owner.patch(`/projects/${project.id}/members/${member.id}`, { role: 'VIEWER' }),
    ).to.have.status(200);
    const [act] = await readAudit(project, 'member.role_changed');
    expect(act.actor).to.include({ type: 'USER', id: project.userId });
    expect(act.target).to.include({ type: 'user', id: member.id });
    expect(act).to.deep.include({ changes: { role: { from: 'MEMBER', to: 'VIEWER' } } });
  });
});
