import { expect } from 'chai';
import { ApiError } from '../../platform/errors.ts';
import { type SendInput, sendEmails } from '../../services/emails/send.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { storedContacts } from '../support/rows/contacts.ts';
import { storedContents, storedMails } from '../support/rows/mails.ts';

describe('accepting mail', () => {
  let database: ConnectedDatabase;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  const mail = ({ senderDomain }: TestProject, input: Partial<SendInput> = {}): SendInput => ({
    to: [{ email: 'ann@example.com' }],
    from: { email: `hello@${senderDomain}` },
    subject: 'Hello',
    body: '<p>Hello</p>',
    ...input,
  });

  it('writes an unsubscribed contact, the content and a due ledger row', async () => {
    const project = await makeProject(database.db);
    const { access, id } = project;
    const { emails } = await sendEmails(database.db, access, mail(project, { reply: 'help@example.com' }));
    const [row] = await storedMails(database.db, { projectId: id });
    expect(emails).to.deep.equal([{ contact: { id: row.contactId, email: 'ann@example.com' }, email: row.id }]);
    expect(row).to.include({ status: 'PENDING', sourceType: 'TRANSACTIONAL', attempts: 0 });
    expect(row.dueAt.getTime()).to.be.at.most(Date.now() + 1000);
    const [content] = await storedContents(database.db, { emailId: row.id });
    expect(content).to.include({ toEmail: 'ann@example.com', subject: 'Hello', replyTo: 'help@example.com' });
    expect((await storedContacts(database.db, { projectId: id }))[0]).to.include({ subscribed: false });
  });

  it('writes one row per recipient and one contact per address', async () => {
    const project = await makeProject(database.db);
    const { access, id } = project;
    const to = [{ email: 'a@example.com', name: 'Ann' }, { email: 'b@example.com' }, { email: 'a@example.com' }];
    const { emails } = await sendEmails(database.db, access, mail(project, { to }));
    expect(emails.map(({ contact }) => contact.email)).to.deep.equal(to.map(({ email }) => email));
    expect(new Set(emails.map(({ email }) => email))).to.have.property('size', 3);
    const contacts = await storedContacts(database.db, { projectId: id });
    expect(contacts.map(({ email, data }) => ({ email, data }))).to.deep.equal([
      { email: 'a@example.com', data: { name: 'Ann' } },
      { email: 'b@example.com', data: {} },
    ]);
  });

  it('sets the name only when the contact has none', async () => {
    const project = await makeProject(database.db);
    const { access, id } = project;
    for (const name of ['Ann', 'Other'])
      await sendEmails(database.db, access, mail(project, { to: [{ email: 'a@example.com', name }] }));
    expect((await storedContacts(database.db, { projectId: id }))[0].data).to.deep.equal({ name: 'Ann' });
  });

  it('rejects an unverified sender domain with 403 and writes nothing', async () => {
    const { access, id } = await makeProject(database.db);
    const other = await makeProject(database.db);
    const refused = await sendEmails(database.db, access, mail(other)).catch((error) => error);
    expect(refused).to.be.instanceOf(ApiError).and.include({ status: 403, code: 'INTERNAL_SERVER_ERROR' });
    expect(refused.extras.suggestion).to.include(other.senderDomain);
    expect(await storedContacts(database.db, { projectId: id })).to.deep.equal([]);
    expect(await storedMails(database.db, { projectId: id })).to.deep.equal([]);
  });

  it('accepts 30 concurrent requests to the same new contacts without deadlocks', async () => {
    const project = await makeProject(database.db);
    const { access, id } = project;
    const to = Array.from({ length: 10 }, (_, n) => ({ email: `c${n}@example.com` }));
    const requests = Array.from({ length: 30 }, (_, n) => mail(project, { to: n % 2 ? to : [...to].reverse() }));
    const answers = await Promise.all(requests.map((request) => sendEmails(database.db, access, request)));
    expect(answers.flatMap(({ emails }) => emails)).to.have.lengthOf(300);
    expect(await storedMails(database.db, { projectId: id })).to.have.lengthOf(300);
    expect(await storedContacts(database.db, { projectId: id })).to.have.lengthOf(10);
  });
});
