import { expect } from 'chai';
import { cookieOf } from '../support/accounts.ts';
import { client } from '../support/api.ts';
import { addContactSeries, storedContacts } from '../support/rows/contacts.ts';
import { storedErasures, storedProject } from '../support/rows/projects.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('account and project lifecycle', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
    await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const email = 'ann@people.example';
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  /** Returns the path of the link in a mail to Ann with this subject. */
  async function linkIn(subject: RegExp): Promise<string> {
    const mail = await eventually(
      async () => {
        for (const received of stack.smtp.mailsTo(email)) {
          const parsed = await received.parsed();
          if (subject.test(parsed.subject ?? '')) return parsed;
        }
        return undefined;
      },
      { what: `a mail like ${subject}` },
    );
    const [, path = ''] = /href="https?:\/\/[^/"]+(\/[^"]+)"/.exec(mail.html || '') ?? [];
    return path;
  }

  it('verifies the address and resets the password by the links in the mails', async () => {
    const api = client(stack.api.url);
    const signup = await api.post('/auth/signup', { email, password: 'correct horse' });
    expect(signup).to.have.status(201);
    const verify = await linkIn(/^Verify your email address$/);
    expect(verify).to.match(/^\/verify-email\/\w{48}$/);
    expect(await api.post(verify, 'password=correct+horse', form)).to.have.status(200);
    expect(await api.get('/users/@me', { cookie: cookieOf(signup) }), 'the session stays').to.have.status(200);

    expect(await api.post('/auth/request-password-reset', { email })).to.have.status(200);
    const reset = await linkIn(/^Reset your password$/);
    expect(await api.post(reset, 'password=battery+staple', form)).to.have.status(200);
    expect(await api.get('/users/@me', { cookie: cookieOf(signup) })).to.have.status(401);
    const login = await api.post('/auth/login', { email, password: 'battery staple' });
    expect(login).to.have.status(200);
    const me = await api.get('/users/@me', { cookie: cookieOf(login) });
    expect(me.body).to.include({ email, emailVerified: true });
  });

  it('deletes a project at once and its rows in the background', async () => {
    const { db } = stack.database;
    const login = await client(stack.api.url).post('/auth/login', { email, password: 'battery staple' });
    const ann = client(stack.api.url, { cookie: cookieOf(login) });
    const { id, secretKey } = (await ann.post('/users/@me/projects', { name: 'Shop' })).body;
    await addContactSeries(db, id, 5000);
    expect(await ann.delete(`/users/@me/projects/${id}`)).to.have.status(204);
    const server = client(stack.api.url, { authorization: `Bearer ${secretKey}` });
    expect(await server.get('/contacts')).to.be.envelope(401, 'INVALID_API_KEY');
    await eventually(async () => (await storedProject(db, id)) === undefined, {
      what: 'the end of the project',
    });
    expect(await storedContacts(db, { projectId: id })).to.have.length(0);
    const { id: erasureId } = await storedErasures(db, { projectId: id }).first();
    const run = await eventually(async () => {
      const found = await temporal.client.workflow.getHandle(`erasure/${id}/${erasureId}`).describe();
      return found.status.name === 'COMPLETED' && found;
    });
    expect(run.type).to.equal('erasure');
  });
});
