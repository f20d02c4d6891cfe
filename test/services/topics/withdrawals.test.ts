// A withdrawal that was answered is obeyed by every email that begins afterwards, on any number of senders.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import type { ProjectAccess } from '../../../services/access/keys.ts';
import { updateContact } from '../../../services/contacts/save.ts';
import { sendEmails } from '../../../services/emails/send.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { changeContactTopics } from '../../../services/topics/choices.ts';
import { createTopic } from '../../../services/topics/save.ts';
import { addContacts } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { type TestSender, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';

const CONTACTS = 60;
const ROUNDS = 5;

describe('withdrawals while senders work', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let senders: TestSender[];
  let project: TestProject;
  let access: ProjectAccess;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    smtp = await startSmtp();
    senders = [1, 2].map(() => testSender(database.url, { url: smtp.url, connections: 4 }));
  });
  after(async () => {
    for (const sender of senders) await sender.close();
    await smtp.close();
    await database.close();
  });
  beforeEach(async () => {
    project = await makeProject(db);
    access = project.access;
    await addContacts(db, project, CONTACTS);
  });

  const databaseTime = async (): Promise<Date> => (await db.raw('select clock_timestamp() as at')).rows[0].at;

  /** Sends several emails to each contact while each withdraws at a time of its own; returns when that was answered. */
  async function race(send: (to: string[]) => Promise<unknown>, withdraw: (contactId: string) => Promise<unknown>) {
    const contacts: { id: string; email: string }[] = await db('contacts')
      .where({ projectId: project.id })
      .select('id', 'email');
    const answered = new Map<string, Date>();
    let isSending = true;
    for (let n = 0; n < ROUNDS; n++) await send(contacts.map(({ email }) => email));
    smtp.mails.length = 0;
    const leaving = contacts.map(async ({ id }, n) => {
      // Spread over the time that sending takes: each waits for a share of the emails.
      while (isSending && smtp.mails.length < n * ROUNDS * 0.5) await sleep(1);
      await withdraw(id);
      answered.set(id, await databaseTime());
    });
    await Promise.all(senders.map((sender) => sender.send()));
    isSending = false;
    await Promise.all(leaving);
    return answered;
  }

  async function expectObeyed(answered: Map<string, Date>, reason: string): Promise<void> {
    const rows = await db('emails')
      .where({ projectId: project.id })
      .select('contactId', 'status', 'reason', 'attemptLog');
    expect(rows).to.have.length(CONTACTS * ROUNDS);
    const late = rows.filter(({ contactId, attemptLog }) =>
      (attemptLog ?? []).some(
        ({ startedAt }: { startedAt: string }) => new Date(startedAt) > (answered.get(contactId) ?? 0),
      ),
    );
    expect(late).to.deep.equal([]);
    const skipped = rows.filter(({ status }) => status === 'SKIPPED');
    expect(skipped.length, 'some emails must meet a withdrawal').to.be.above(0);
    expect(new Set(skipped.map((row) => row.reason))).to.deep.equal(new Set([reason]));
    expect(rows.filter(({ status }) => status === 'SENT').length + skipped.length).to.equal(rows.length);
  }

  it('begins no email of a topic that the contact has left', async () => {
    const { topic } = await createTopic(db, access, { name: 'Orders', kind: 'NOTIFICATION' });
    const content = { from: { email: `shop@${project.senderDomain}` }, subject: 's', body: 'b', topic: topic.key };
    const answered = await race(
      (to) => sendEmails(db, access, { to: to.map((email) => ({ email })), ...content }),
      (id) => changeContactTopics(db, access, id, { topics: { orders: 'UNSUBSCRIBED' } }),
    );
    await expectObeyed(answered, 'topic unsubscribed');
  });

  it('begins no MARKETING email to a contact that has unsubscribed', async () => {
    const template = await createTemplate(db, access, {
      name: 't',
      subject: 's',
      body: 'b',
      type: 'MARKETING',
      from: { email: `news@${project.senderDomain}` },
    });
    const answered = await race(
      (to) => sendEmails(db, access, { to: to.map((email) => ({ email })), template: template.id }),
      (id) => updateContact(db, access, id, { subscribed: false }),
    );
    await expectObeyed(answered, 'unsubscribed');
  });
});
