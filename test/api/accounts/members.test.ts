import { expect } from 'chai';
import type { Role } from '../../../db/models/membership.ts';
import { newId } from '../../../platform/ids.ts';
import { cookieOf, type Person, person, systemMails, tokenTo } from '../../support/accounts.ts';
import { type ApiProject, describeApi } from '../../support/api.ts';
import { readMembers } from '../../support/reading.ts';
import {
  ageAttempts,
  clearAttempts,
  expireTokens,
  storedMemberships,
  userByEmail,
} from '../../support/rows/accounts.ts';

let addresses = 0;
const newAddress = () => `guest${++addresses}@members.example`;

describeApi('members', (api) => {
  let project: ApiProject;
  let path: string;

  beforeEach(async () => {
    await clearAttempts(api.db);
    project = await api.project();
    path = `/projects/${project.id}/members`;
  });

  const joined = (role: Role): Promise<Person> => person(api, { project: project.id, role });
  const roleOf = async (userId: string) =>
    (await readMembers(project)).find((member) => member.userId === userId)?.role;

  describe('POST /projects/:id/members', () => {
    it('answers 201 with a pending member, creates a user without password and mails a link', async () => {
      const email = newAddress();
      const answer = await project.owner.post(path, { email: email.toUpperCase(), role: 'ADMIN' });
      expect(answer).to.have.status(201);
      expect(answer.body).to.have.all.keys('userId', 'email', 'role', 'status', 'createdAt');
      expect(answer.body).to.include({ email, role: 'ADMIN', status: 'PENDING' });
      expect(await userByEmail(api.db, email)).to.include({ passwordHash: null, emailVerified: false });
      const [mail] = await systemMails(api.db, email);
      expect(mail?.link?.url).to.match(/^http:\/\/app\.test\/invitations\/\w{48}$/);
      expect((await project.owner.get(path)).body).to.have.length(2);
    });

    it('gives no access before the invitation is accepted', async () => {
      const guest = await person(api);
      await project.owner.post(path, { email: guest.email, role: 'ADMIN' });
      expect(await guest.get(`/projects/${project.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await guest.get('/contacts', { 'x-project-id': project.id })).to.be.envelope(403, 'FORBIDDEN');
      expect((await guest.get('/users/@me/projects')).body).to.deep.equal([]);
    });

    it('rejects an existing member with 409 and mails a pending one again after an hour', async () => {
      const member = await joined('MEMBER');
      expect(await project.owner.post(path, { email: member.email, role: 'ADMIN' })).to.be.envelope(409, 'CONFLICT');
      const email = newAddress();
      await project.owner.post(path, { email, role: 'MEMBER' });
      const old = await tokenTo(api.db, email);
      expect((await project.owner.post(path, { email, role: 'ADMIN' })).body).to.include({ role: 'ADMIN' });
      expect(await systemMails(api.db, email), 'within the hour').to.have.length(1);
      await ageAttempts(api.db, 61);
      await project.owner.post(path, { email, role: 'ADMIN' });
      expect(await systemMails(api.db, email)).to.have.length(2);
      const answer = await api.post('/auth/accept-invitation', { token: old, password: 'long enough' });
      expect(answer, 'the old link').to.be.envelope(400, 'BAD_REQUEST');
    });

    it('rejects an unknown role and a malformed address with 422', async () => {
      for (const role of ['GOD', 'owner', '', null, 7, ['OWNER']])
        expect(await project.owner.post(path, { email: newAddress(), role }), String(role)).to.have.status(422);
      expect(await project.owner.post(path, { email: 'x', role: 'MEMBER' })).to.have.validationError(
        'email',
        'invalid_string',
      );
      expect(await readMembers(project)).to.have.length(1);
    });
  });

  describe('POST /auth/accept-invitation', () => {
    const invite = async (email: string, role: Role = 'MEMBER'): Promise<string> => {
      expect(await project.owner.post(path, { email, role })).to.have.status(201);
      return tokenTo(api.db, email);
    };

    it('gives a new user a password, a session and the role, once', async () => {
      const email = newAddress();
      const token = await invite(email, 'ADMIN');
      expect(await api.post('/auth/accept-invitation', { token })).to.have.validationError('password', 'required');
      const answer = await api.post('/auth/accept-invitation', { token, password: 'long enough' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.include({ success: true });
      expect(answer.body.data).to.include({ email, projectId: project.id });
      const cookie = cookieOf(answer);
      expect((await api.get(`/projects/${project.id}`, { cookie })).body).to.include({ role: 'ADMIN' });
      expect((await api.get('/users/@me', { cookie })).body).to.include({ emailVerified: true });
      expect(await api.post('/auth/login', { email, password: 'long enough' })).to.have.status(200);
      const again = await api.post('/auth/accept-invitation', { token, password: 'long enough' });
      expect(again).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('leaves an existing account with a session unchanged', async () => {
      const guest = await person(api);
      const answer = await guest.post('/auth/accept-invitation', {
        token: await invite(guest.email),
        password: 'ignored!',
      });
      expect(answer).to.have.status(200);
      expect(await guest.get(`/projects/${project.id}`)).to.have.status(200);
      const login = await api.post('/auth/login', { email: guest.email, password: guest.password });
      expect(login).to.have.status(200);
    });

    it('keeps the session of the invited account', async () => {
      const guest = await person(api, undefined, { emailVerified: false });
      const token = await invite(guest.email);
      expect(await guest.post('/auth/accept-invitation', { token })).to.have.status(200);
      expect(await guest.get(`/projects/${project.id}`)).to.have.status(200);
      expect((await guest.get('/users/@me')).body).to.include({ emailVerified: true });
    });

    it('rejects an expired, unknown, withdrawn or other-purpose token with 400', async () => {
      const expired = newAddress();
      const withdrawn = newAddress();
      const first = await invite(expired);
      await expireTokens(api.db);
      const second = await invite(withdrawn);
      const { userId: id } = (await readMembers(project)).find(({ email }) => email === withdrawn);
      expect(await project.owner.delete(`${path}/${id}`)).to.have.status(204);
      const other = newAddress();
      await api.post('/auth/signup', { email: other, password: 'long enough' });
      for (const token of [first, second, await tokenTo(api.db, other), 'x', '../../etc/passwd'])
        expect(await api.post('/auth/accept-invitation', { token, password: 'long enough' })).to.be.envelope(
          400,
          'BAD_REQUEST',
        );
      expect((await readMembers(project)).filter(({ status }) => status === 'ACTIVE')).to.have.length(1);
    });
  });

  describe('role permissions', () => {
    /** The permissions of decisions.md: resource routes, project management, and OWNER only. */
    const acts: [string, Role, (who: Person, other: Person) => Promise<{ status: number }>][] = [
      ['list contacts', 'MEMBER', (who) => who.get('/contacts', { 'x-project-id': project.id })],
      ['see the project', 'MEMBER', (who) => who.get(`/projects/${project.id}`)],
      ['see the members', 'MEMBER', (who) => who.get(path)],
      ['change settings', 'ADMIN', (who) => who.patch(`/users/@me/projects/${project.id}`, { name: 'x' })],
      ['regenerate keys', 'ADMIN', (who) => who.post(`/users/@me/projects/${project.id}/regenerate-keys`)],
      ['reset', 'ADMIN', (who) => who.post(`/users/@me/projects/${project.id}/reset`)],
      ['invite a MEMBER', 'ADMIN', (who) => who.post(path, { email: newAddress(), role: 'MEMBER' })],
      ['invite an ADMIN', 'ADMIN', (who) => who.post(path, { email: newAddress(), role: 'ADMIN' })],
      ['change a role', 'ADMIN', (who, other) => who.patch(`${path}/${other.id}`, { role: 'ADMIN' })],
      ['take a member out', 'ADMIN', (who, other) => who.delete(`${path}/${other.id}`)],
      ['invite an OWNER', 'OWNER', (who) => who.post(path, { email: newAddress(), role: 'OWNER' })],
      ['make an OWNER', 'OWNER', (who, other) => who.patch(`${path}/${other.id}`, { role: 'OWNER' })],
      [
        'unmake an OWNER',
        'OWNER',
        async (who) => who.patch(`${path}/${(await joined('OWNER')).id}`, { role: 'ADMIN' }),
      ],
      ['take an OWNER out', 'OWNER', async (who) => who.delete(`${path}/${(await joined('OWNER')).id}`)],
      ['delete the project', 'OWNER', (who) => who.delete(`/users/@me/projects/${project.id}`)],
    ];
    const ranks: Role[] = ['MEMBER', 'ADMIN', 'OWNER'];

    for (const [what, needed, act] of acts)
      it(`${what}: ${needed}`, async () => {
        const other = await joined('MEMBER');
        for (const role of ranks) {
          const { status } = await act(await joined(role), other);
          if (ranks.indexOf(role) < ranks.indexOf(needed)) expect(status, role).to.equal(403);
          else {
            expect(status, role).to.be.oneOf([200, 201, 204]);
            break;
          }
        }
      });

    it('rejects a MEMBER with 403 FORBIDDEN and changes nothing', async () => {
      const member = await joined('MEMBER');
      const other = await joined('MEMBER');
      expect(await member.patch(`${path}/${other.id}`, { role: 'ADMIN' })).to.be.envelope(403, 'FORBIDDEN');
      expect(await member.patch(`${path}/${member.id}`, { role: 'OWNER' })).to.be.envelope(403, 'FORBIDDEN');
      expect(await member.delete(`${path}/${other.id}`)).to.be.envelope(403, 'FORBIDDEN');
      expect(await roleOf(other.id)).to.equal('MEMBER');
    });

    it('lets every member leave', async () => {
      const member = await joined('MEMBER');
      expect(await member.delete(`${path}/${member.id}`)).to.have.status(204);
      expect(await member.get(`/projects/${project.id}`)).to.have.status(404);
    });
  });

  describe('the last OWNER', () => {
    it('rejects leaving and stepping down with 409', async () => {
      const own = `${path}/${project.userId}`;
      expect(await project.owner.patch(own, { role: 'ADMIN' })).to.be.envelope(409, 'CONFLICT');
      expect(await project.owner.delete(own)).to.be.envelope(409, 'CONFLICT');
      expect(await project.owner.patch(own, { role: 'OWNER' }), 'nothing changes').to.have.status(200);
    });

    it('does not count an OWNER with a pending invitation', async () => {
      await project.owner.post(path, { email: newAddress(), role: 'OWNER' });
      expect(await project.owner.delete(`${path}/${project.userId}`)).to.be.envelope(409, 'CONFLICT');
    });

    it('keeps one OWNER when two leave concurrently', async () => {
      const second = await joined('OWNER');
      const answers = await Promise.all([
        project.owner.delete(`${path}/${project.userId}`),
        second.delete(`${path}/${second.id}`),
      ]);
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([204, 409]);
      expect(await storedMemberships(api.db, { projectId: project.id, role: 'OWNER' })).to.have.length(1);
    });
  });

  it("answers 404 for a non-member and for another user's project", async () => {
    const stranger = await person(api);
    for (const id of [stranger.id, newId(), 'me'])
      expect(await project.owner.patch(`${path}/${id}`, { role: 'ADMIN' }), id).to.be.envelope(
        404,
        'RESOURCE_NOT_FOUND',
      );
    expect(await stranger.get(path)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect(await stranger.post(path, { email: stranger.email, role: 'OWNER' })).to.be.envelope(
      404,
      'RESOURCE_NOT_FOUND',
    );
  });
});
