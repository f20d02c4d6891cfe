import { expect } from 'chai';
import { inTransaction } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { resendEmail } from '../../services/campaigns/resend-email.ts';
import { insertUnpublishedResults, publishResults } from '../../services/emails/publish-results.ts';
import { sendEmails } from '../../services/emails/send.ts';
import { deleteContacts } from '../../services/removal/contact.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { addUnpublishedResults } from '../support/ledger.ts';
import { setContacts, storedContacts } from '../support/rows/contacts.ts';
import { storedEvents } from '../support/rows/events.ts';
import { setMails } from '../support/rows/mails.ts';
import { emptyTables } from '../support/rows/tables.ts';

describe('publishing results', () => {
  let database: ConnectedDatabase;
  let project: TestProject;

  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    await emptyTables(database.db, 'emails', 'email_bodies', 'email_contents', 'events');
    project = await makeProject(database.db);
  });

  const accept = async (...to: string[]) => {
    const { emails } = await sendEmails(database.db, project.access, {
      to: to.map((email) => ({ email })),
      from: { email: `hello@${project.senderDomain}` },
      subject: 'Hello',
      body: '<p>Hello</p>',
    });
    return emails;
  };
  const setState = async (id: string, state: Partial<Email>) => {
    await setMails(database.db, { id }, state);
    await addUnpublishedResults(database.db);
  };
  const events = () => storedEvents(database.db, {});

  it('records email.sent and email.failed with the mail’s data, and nothing for unfinished mail', async () => {
    const [sent, failed, pending, unknown] = await accept(
      'a@example.com',
      'b@example.com',
      'c@example.com',
      'd@example.com',
    );
    const sentAt = new Date();
    await setState(sent?.email ?? '', { status: 'SENT', sentAt, providerMessageId: 'q1' });
    await setState(failed?.email ?? '', { status: 'FAILED', reason: '550 no', updatedAt: new Date(0) });
    await setState(unknown?.email ?? '', { status: 'UNKNOWN' });
    expect(await publishResults(database.db)).to.equal(2);
    expect(await publishResults(database.db)).to.equal(0);
    const shared = {
      subject: 'Hello',
      from: `hello@${project.senderDomain}`,
      templateId: null,
      campaignId: null,
      workflowId: null,
      sourceType: 'TRANSACTIONAL',
    };
    const recorded = await events();
    expect(
      recorded.map(({ name, emailId, contactId, projectId, data }) => ({ name, emailId, contactId, projectId, data })),
    ).to.deep.equal([
      {
        name: 'email.failed',
        emailId: failed?.email,
        contactId: failed?.contact.id,
        projectId: project.id,
        data: {
          ...shared,
          emailId: failed?.email,
          messageId: `<${failed?.email}@${project.senderDomain}>`,
          failedAt: new Date(0).toISOString(),
          reason: '550 no',
        },
      },
      {
        name: 'email.sent',
        emailId: sent?.email,
        contactId: sent?.contact.id,
        projectId: project.id,
        data: {
          ...shared,
          emailId: sent?.email,
          messageId: `<${sent?.email}@${project.senderDomain}>`,
          sentAt: sentAt.toISOString(),
          providerMessageId: 'q1',
        },
      },
    ]);
    expect(pending, 'not finished').to.be.an('object');
  });

  it('records each result once when 12 workers run', async () => {
    const emails = await accept(...Array.from({ length: 120 }, (_, n) => `c${n}@example.com`));
    await setMails(database.db, {}, { status: 'SENT', sentAt: new Date() });
    await addUnpublishedResults(database.db);
    const counts = await Promise.all(Array.from({ length: 12 }, () => publishResults(database.db, 20)));
    while ((await publishResults(database.db, 20)) > 0);
    expect(Math.max(...counts)).to.be.at.most(20);
    expect((await events()).map(({ emailId }) => emailId)).to.have.members(emails.map(({ email }) => email));
  });

  it('waits for a locked contact', async () => {
    const [first] = await accept('locked@example.com');
    await setState(first?.email ?? '', { status: 'SENT', sentAt: new Date() });
    let publishing: Promise<number> | undefined;
    await inTransaction(database.db, async (trx) => {
      await storedContacts(trx, { id: first?.contact.id }).forUpdate();
      publishing = publishResults(database.db);
      await setContacts(trx, { id: first?.contact.id }, { data: '{"a":1}' });
      expect(await events()).to.deep.equal([]);
    });
    expect(await publishing).to.equal(1);
    expect(await events()).to.have.length(1);
  });

  it('loses no result that is written while an earlier one is still queued', async () => {
    const [mail] = await accept('late@example.com');
    const id = mail?.email ?? '';
    await setState(id, { status: 'FAILED', reason: '550 no' });
    await inTransaction(database.db, async (trx) => {
      await trx.raw(
        `with sent as (update emails set status = 'SENT', sent_at = now() where id = ? returning *) ${insertUnpublishedResults('sent')}`,
        [id],
      );
      expect(await publishResults(database.db), 'the queued result is locked').to.equal(0);
    });
    expect(await publishResults(database.db)).to.equal(1);
    expect((await events()).map(({ name }) => name)).to.deep.equal(['email.sent']);
  });

  it('records the result of a deleted contact’s mail without personal data', async () => {
    const [mail] = await accept('gone@example.com');
    await setState(mail?.email ?? '', { status: 'SENT', sentAt: new Date() });
    await deleteContacts(database.db, project.id, [mail?.contact.id ?? '']);
    expect(await publishResults(database.db)).to.equal(1);
    const [event] = await events();
    expect(event.data).to.include({ emailId: mail?.email, subject: null, from: null, messageId: null });
  });

  it('records the result of a mail that is sent again', async () => {
    const [mail] = await accept('again@example.com');
    const id = mail?.email ?? '';
    await setState(id, { status: 'FAILED', reason: '550 no' });
    await publishResults(database.db);
    await resendEmail(database.db, project.access, id);
    expect(await publishResults(database.db)).to.equal(0);
    await setState(id, { status: 'SENT', sentAt: new Date() });
    expect(await publishResults(database.db)).to.equal(1);
    expect((await events()).map(({ name }) => name)).to.deep.equal(['email.failed', 'email.sent']);
  });
});
