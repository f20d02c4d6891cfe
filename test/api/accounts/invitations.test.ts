import { expect } from 'chai';
import type { Role } from '../../../db/models/membership.ts';
import { cookieOf, type Person, person, systemMails, tokenTo } from '../../support/accounts.ts';
import { type ApiProject, describeApi } from '../../support/api.ts';
import { changeProject, readMembers } from '../../support/reading.ts';
import {
  ageAttempts,
  clearAttempts,
  linkIdentity,
  removePassword,
  setAttempts,
  storedUsers,
} from '../../support/rows/accounts.ts';
import { setProject } from '../../support/rows/projects.ts';

let addresses = 0;
const newAddress = () => `guest${++addresses}@invitations.example`;

describeApi('invitations', (api) => {
  let project: ApiProject;
  let path: string;

  beforeEach(async () => {
    await clearAttempts(api.db);
    project = await api.project();
    path = `/projects/${project.id}/members`;
  });

  const invite = async (email: string, role: Role = 'MEMBER'): Promise<string> => {
    expect(await project.owner.post(path, { email, role })).to.have.status(201);
    return tokenTo(api.db, email);
  };
  const admin = (emailVerified = true): Promise<Person> =>
    person(api, { project: project.id, role: 'ADMIN' }, { emailVerified });
  const memberId = async (email: string): Promise<string> => {
    const member = (await readMembers(project)).find((one) => one.email === email);
    if (!member) throw new Error(`${email} is no member`);
    return member.userId;
  };
  const later = (minutes: number) => ageAttempts(api.db, minutes);

  describe('accepting with an existing account', () => {
    it('rejects with 401 without a session and keeps the token valid', async () => {
      const guest = await person(api);
      const token = await invite(guest.email);
      for (const body of [{ token }, { token, password: 'a new password' }])
        expect(await api.post('/auth/accept-invitation', body)).to.be.envelope(401, 'UNAUTHORIZED');
      expect(await guest.get(`/projects/${project.id}`)).to.have.status(404);
      const login = await api.post('/auth/login', { email: guest.email, password: guest.password });
      const answer = await api.post('/auth/accept-invitation', { token }, { cookie: cookieOf(login) });
      expect(answer).to.have.status(200);
      expect(answer.body.data).to.deep.equal({ id: guest.id, email: guest.email, projectId: project.id });
    });

    it('rejects with 401 with the session of another user', async () => {
      const guest = await person(api);
      const other = await person(api);
      const token = await invite(guest.email);
      expect(await other.post('/auth/accept-invitation', { token })).to.be.envelope(401, 'UNAUTHORIZED');
      expect(await project.owner.post('/auth/accept-invitation', { token })).to.be.envelope(401, 'UNAUTHORIZED');
      expect(await guest.post('/auth/accept-invitation', { token })).to.have.status(200);
    });

    it('rejects with 401 for an account with only an OAuth identity', async () => {
      const guest = await person(api);
      await removePassword(api.db, guest.id);
      await linkIdentity(api.db, guest.id, { provider: 'google', subject: guest.id });
      const token = await invite(guest.email);
      const answer = await api.post('/auth/accept-invitation', { token, password: 'long enough' });
      expect(answer).to.be.envelope(401, 'UNAUTHORIZED');
      expect(await guest.post('/auth/accept-invitation', { token })).to.have.status(200);
    });

    it('rejects with 401 for an account that a stranger opened and never verified', async () => {
      const email = newAddress();
      const token = await invite(email);
      const squatter = await api.post('/auth/signup', { email, password: 'of a stranger' });
      expect(squatter).to.have.status(201);
      const answer = await api.post('/auth/accept-invitation', { token, password: 'mine from now on' });
      expect(answer).to.be.envelope(401, 'UNAUTHORIZED');
      const projects = await api.get('/users/@me/projects', { cookie: cookieOf(squatter) });
      expect(projects.body, 'the stranger has no token').to.deep.equal([]);
    });
  });

  it('sets the first password of an account without one, verified or not', async () => {
    const guest = await person(api);
    await removePassword(api.db, guest.id);
    const token = await invite(guest.email);
    expect(await api.post('/auth/accept-invitation', { token })).to.have.validationError('password', 'required');
    expect(await api.post('/auth/accept-invitation', { token, password: 'long enough' })).to.have.status(200);
    expect(await guest.get('/users/@me'), 'older sessions end').to.have.status(401);
    expect(await api.post('/auth/login', { email: guest.email, password: 'long enough' })).to.have.status(200);
  });

  it('accepts an invitation once when two requests run concurrently', async () => {
    const email = newAddress();
    const token = await invite(email);
    const answers = await Promise.all(
      [1, 2, 3].map((n) => api.post('/auth/accept-invitation', { token, password: `password ${n}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([200, 400]);
    const winner = answers.findIndex(({ status }) => status === 200) + 1;
    expect(await api.post('/auth/login', { email, password: `password ${winner}` })).to.have.status(200);
  });

  it('sets one first password when invitations to two projects are accepted concurrently', async () => {
    const email = newAddress();
    const first = await invite(email);
    const other = await api.project();
    await other.owner.post(`/projects/${other.id}/members`, { email, role: 'MEMBER' });
    const second = await tokenTo(api.db, email);
    const answers = await Promise.all(
      [first, second].map((token, n) => api.post('/auth/accept-invitation', { token, password: `password ${n}` })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
    const winner = answers.find(({ status }) => status === 200);
    const left = winner === answers[0] ? second : first;
    const cookie = winner ? cookieOf(winner) : '';
    expect(await api.post('/auth/accept-invitation', { token: left }, { cookie })).to.have.status(200);
  });

  it('never leaves an active member with an unused token when accepting and withdrawing run concurrently', async () => {
    const email = newAddress();
    const token = await invite(email);
    const id = await memberId(email);
    const [accepted, withdrawn] = await Promise.all([
      api.post('/auth/accept-invitation', { token, password: 'long enough' }),
      project.owner.delete(`${path}/${id}`),
    ]);
    expect(withdrawn).to.have.status(204);
    expect(accepted.status).to.be.oneOf([200, 400]);
    expect((await readMembers(project)).filter(({ userId }) => userId === id)).to.have.length(0);
  });

  describe('limits', () => {
    it('rejects the 11th invitation a day of an unverified inviter with 429', async () => {
      const inviter = await admin(false);
      for (let n = 0; n < 10; n++)
        expect(await inviter.post(path, { email: newAddress(), role: 'MEMBER' })).to.have.status(201);
      const email = newAddress();
      const answer = await inviter.post(path, { email, role: 'MEMBER' });
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 86_400);
      expect(await storedUsers(api.db, { email }), 'nothing is written').to.have.length(0);
      const verified = await admin();
      expect(await verified.post(path, { email, role: 'MEMBER' }), 'others may').to.have.status(201);
      await later(24 * 60 + 1);
      expect(await inviter.post(path, { email: newAddress(), role: 'MEMBER' }), 'a day later').to.have.status(201);
    });

    it('accepts exactly ten of more concurrent invitations', async () => {
      const inviter = await admin(false);
      const answers = await Promise.all(
        Array.from({ length: 14 }, () => inviter.post(path, { email: newAddress(), role: 'MEMBER' })),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(10);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(4);
    });

    it('does not count failed invitations', async () => {
      const inviter = await admin(false);
      for (let n = 0; n < 12; n++)
        expect(await inviter.post(path, { email: inviter.email, role: 'MEMBER' })).to.have.status(409);
      expect(await inviter.post(path, { email: newAddress(), role: 'MEMBER' })).to.have.status(201);
    });

    for (const [what, max] of [
      ['inviter', 200],
      ['project', 200],
      ['ip', 500],
    ] as const)
      it(`rejects more than ${max} a day for one ${what} with 429`, async () => {
        const inviter = await admin();
        await inviter.post(path, { email: newAddress(), role: 'MEMBER' });
        await setAttempts(api.db, max - 1, { count: 1, windowMinutes: 1_440 });
        const other = await admin();
        const elsewhere = await api.project();
        const ask = {
          inviter: () => inviter.post(path, { email: newAddress(), role: 'MEMBER' }),
          project: () => other.post(path, { email: newAddress(), role: 'MEMBER' }),
          ip: () => elsewhere.owner.post(`/projects/${elsewhere.id}/members`, { email: newAddress(), role: 'MEMBER' }),
        }[what];
        expect(await ask()).to.have.status(201);
        expect(await ask()).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      });

    it('mails an address once an hour per project, answers 201 each time and keeps the first link valid', async () => {
      const email = newAddress();
      const token = await invite(email);
      for (const role of ['ADMIN', 'MEMBER', 'ADMIN'])
        expect((await project.owner.post(path, { email, role })).body).to.include({ role, status: 'PENDING' });
      expect(await systemMails(api.db, email)).to.have.length(1);
      const other = await api.project();
      await other.owner.post(`/projects/${other.id}/members`, { email, role: 'MEMBER' });
      expect(await systemMails(api.db, email), 'another project').to.have.length(2);
      await later(61);
      await project.owner.post(path, { email, role: 'MEMBER' });
      expect(await systemMails(api.db, email), 'an hour later').to.have.length(3);
      const old = await api.post('/auth/accept-invitation', { token, password: 'long enough' });
      expect(old, 'a new link ends the first').to.be.envelope(400, 'BAD_REQUEST');
    });

    it('mails an address once when invitations run concurrently or are withdrawn in between', async () => {
      const email = newAddress();
      await Promise.all([1, 2, 3, 4].map(() => project.owner.post(path, { email, role: 'MEMBER' })));
      expect(await systemMails(api.db, email)).to.have.length(1);
      const id = await memberId(email);
      expect(await project.owner.delete(`${path}/${id}`)).to.have.status(204);
      expect(await project.owner.post(path, { email, role: 'MEMBER' })).to.have.status(201);
      expect(await systemMails(api.db, email)).to.have.length(1);
    });

    it('mails an address at most 3 times a day for unverified inviters and 10 times in total, and still answers 201', async () => {
      const email = newAddress();
      const inviteFromNew = async (emailVerified: boolean) => {
        const { id } = await api.project();
        const inviter = await person(api, { project: id, role: 'ADMIN' }, { emailVerified });
        expect(await inviter.post(`/projects/${id}/members`, { email, role: 'MEMBER' })).to.have.status(201);
      };
      for (let n = 0; n < 5; n++) await inviteFromNew(false);
      expect(await systemMails(api.db, email)).to.have.length(3);
      for (let n = 0; n < 9; n++) await inviteFromNew(true);
      expect(await systemMails(api.db, email)).to.have.length(10);
    });
  });

  describe('invitation mail', () => {
    const shown = async (email: string) => JSON.stringify(await systemMails(api.db, email));

    it('shows project and inviter when the inviter is verified', async () => {
      await changeProject(project, { name: 'Flower Shop' });
      const inviter = await admin();
      const email = newAddress();
      await inviter.post(path, { email, role: 'ADMIN' });
      const [mail] = await systemMails(api.db, email);
      expect(mail?.subject).to.equal('Invitation to the project "Flower Shop"');
      expect(mail?.paragraphs).to.deep.equal([
        `${inviter.email} has invited you to work on the project "Flower Shop", with the role Admin.`,
      ]);
    });

    it('shows neither when the inviter is not verified', async () => {
      await changeProject(project, { name: 'Flower Shop' });
      const inviter = await admin(false);
      const email = newAddress();
      await inviter.post(path, { email, role: 'ADMIN' });
      expect(await shown(email))
        .to.contain('You have been invited to work on a project, with the role Admin.')
        .and.not.to.contain('Flower')
        .and.not.to.contain(inviter.email);
    });

    it('shows a project name that looks like a link as one line of plain text', async () => {
      const inviter = await admin();
      for (const name of [
        'Win http://evil.example/x',
        'www.evil.example',
        'a\r\nBcc: x@evil.example',
        'evil。example',
      ]) {
        await setProject(api.db, project.id, { name });
        const email = newAddress();
        await inviter.post(path, { email, role: 'MEMBER' });
        const [mail] = await systemMails(api.db, email);
        const text = [mail?.subject, ...(mail?.paragraphs ?? [])].join(' ').replace(inviter.email, '');
        expect(text).not.to.match(/https?:\/\/|www\.\S|[\p{L}\d][.。@][\p{L}\d]|[\r\n]/u);
      }
    });
  });
});
