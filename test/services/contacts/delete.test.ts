import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { ApiError } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { saveContact } from '../../../services/contacts/save.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { deleteContact, deleteContacts } from '../../../services/removal/contact.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { storedContacts } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { setMails, storedContents, storedMails } from '../../support/rows/mails.ts';
import { setProject } from '../../support/rows/projects.ts';
import { countRows } from '../../support/rows/tables.ts';
import { statementsOf } from '../../support/sent-statements.ts';

describe('deleting contacts', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    ({ db } = database);
  });
  after(() => database.close());

  const send = (project: TestProject, email: string) =>
    sendEmails(db, project.access, {
      to: [{ email, name: 'Secret Name' }],
      from: { email: `hello@${project.senderDomain}` },
      subject: `for ${email}`,
      body: `<p>${email}</p>`,
      data: { secret: 'only hers' },
    });

  /** Returns all rows of the database as text. */
  async function everything(): Promise<string> {
    const { rows: tables } = await db.raw(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const parts = [];
    for (const { name } of tables) parts.push(JSON.stringify((await db.raw('select * from ??', [name])).rows));
    return parts.join('\n');
  }

  it('erases address and data everywhere, cancels pending mail, and keeps ids and counts', async () => {
    const project = await makeProject(db);
    const { id: projectId, access } = project;
    const email = 'very.personal@example.com';
    const { emails } = await send(project, email);
    const contactId = emails[0]?.contact.id ?? '';
    await trackEvent(db, access, { email, event: 'bought', data: { secret: 'only hers' } });
    const sent = await send(project, email);
    await setMails(db, { id: sent.emails[0]?.email }, { status: 'SENT', sentAt: new Date() });
    const events = await countRows(db, 'events', { projectId });

    expect(await deleteContacts(db, projectId, [contactId])).to.deep.equal([contactId]);

    expect(await storedContacts(db, { id: contactId })).to.deep.equal([]);
    const left = await everything();
    for (const secret of [email, 'very.personal', 'Secret Name', 'only hers']) expect(left).not.to.include(secret);
    const ledger = await storedMails(db, { projectId });
    expect(ledger.map(({ status, reason }) => [status, reason])).to.deep.equal([
      ['CANCELLED', 'contact deleted'],
      ['SENT', null],
    ]);
    expect(ledger.map((row) => row.contactId)).to.deep.equal([contactId, contactId]);
    expect(await countRows(db, 'events', { projectId })).to.equal(events);
  });

  it('does not change other contacts or other projects', async () => {
    const project = await makeProject(db);
    const elsewhere = await makeProject(db);
    const gone = (await send(project, 'gone@example.com')).emails[0];
    const stays = (await send(project, 'stays@example.com')).emails[0];
    const foreign = (await send(elsewhere, 'gone@example.com')).emails[0];
    await trackEvent(db, project.access, { email: 'stays@example.com', event: 'e', data: { a: 1 } });

    await deleteContacts(db, project.id, [gone?.contact.id ?? '', foreign?.contact.id ?? '', newId()]);

    for (const mail of [stays, foreign]) {
      expect(await storedContacts(db, { id: mail?.contact.id })).to.have.lengthOf(1);
      expect(await storedMails(db, { id: mail?.email }).first()).to.include({ status: 'PENDING', reason: null });
      expect(await storedContents(db, { emailId: mail?.email })).to.have.lengthOf(1);
    }
    expect((await storedEvents(db, { projectId: project.id, name: 'e' }).first()).data).to.deep.equal({ a: 1 });
  });

  it('deletes 1,000 contacts in at most 9 statements', async () => {
    const { id } = await makeProject(db);
    const writes = Array.from({ length: 1_000 }, (_, n) => ({
      email: `c${n}@example.com`,
      subscribedWhenNew: true,
      patch: { n },
      deletes: [],
    }));
    const { written } = await writeContacts(db, id, writes);
    const ids = written.map((contact) => contact.id);
    const statements = await statementsOf(async () => {
      expect(await deleteContacts(db, id, ids)).to.have.lengthOf(1_000);
    });
    expect(statements.length, statements.map(({ text }) => text).join('\n')).to.be.at.most(9);
    expect(await storedContacts(db, { projectId: id })).to.deep.equal([]);
  });

  it('cancels mail that is accepted concurrently, or assigns it to a new contact of that address', async () => {
    const project = await makeProject(db);
    const email = 'ann@example.com';
    for (let round = 0; round < 10; round++) {
      const { contact } = await saveContact(db, project.access, { email });
      await Promise.all([send(project, email), deleteContacts(db, project.id, [contact.id])]);
      const [mail] = await storedMails(db, { projectId: project.id, status: 'PENDING' });
      const [now] = await storedContacts(db, { projectId: project.id, email });
      if (mail) expect(mail.contactId).to.equal(now?.id);
      if (now) await deleteContacts(db, project.id, [now.id]);
    }
    expect(await storedMails(db, { projectId: project.id, status: 'PENDING' })).to.deep.equal([]);
    expect(await storedContents(db, { projectId: project.id })).to.deep.equal([]);
  });

  it('answers 404 for an unknown contact, and 403 when the project is disabled', async () => {
    const { access, id } = await makeProject(db);
    const { contact } = await saveContact(db, access, { email: 'ann@example.com' });
    const refusal = (work: Promise<void>) =>
      work.then(
        () => undefined,
        (error) => error,
      );
    expect(await refusal(deleteContact(db, access, newId())))
      .to.be.instanceOf(ApiError)
      .and.include({ status: 404, code: 'CONTACT_NOT_FOUND' });
    await setProject(db, id, { disabled: true });
    expect(await refusal(deleteContact(db, access, contact.id))).to.include({ status: 403, code: 'PROJECT_DISABLED' });
    expect(await storedContacts(db, { id: contact.id })).to.have.lengthOf(1);
    await setProject(db, id, { disabled: false });
    await deleteContact(db, access, contact.id);
    expect(await storedContacts(db, { id: contact.id })).to.deep.equal([]);
  });
});
