import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { addManagedDomain } from '../../../services/domains/managed.ts';
import { addContacts, campaignWorker, standing, startCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addMail, addMails } from '../../support/ledger.ts';
import { setCampaigns } from '../../support/rows/campaigns.ts';
import { addContactSeries } from '../../support/rows/contacts.ts';
import { outgoingMails, storedMails } from '../../support/rows/mails.ts';
import { emptyTables } from '../../support/rows/tables.ts';
import { counts, type TestSender, type TestSenderOptions, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('a recipient domain that defers', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let project: TestProject;
  const senders: TestSender[] = [];

  before(async () => {
    [database, smtp] = await Promise.all([connectTestDatabase(), startSmtp()]);
    db = database.db;
  });
  after(async () => {
    await smtp.close();
    await database.close();
  });
  beforeEach(async () => {
    await emptyTables(db, 'emails', 'email_contents', 'outgoing_mails', 'senders');
    await setCampaigns(db, {}, { status: 'CANCELLED' });
    await db('domains').where({ domain: 'demo.localhost' }).del();
    project = await makeProject(db);
    await addManagedDomain(db, project.id, 'demo.localhost');
    smtp.behave();
    smtp.mails.length = 0;
  });
  afterEach(async () => {
    for (const sender of senders.splice(0)) await sender.close();
  });

  const sender = (more: Partial<TestSenderOptions> = {}): TestSender => {
    const made = testSender(database.url, { url: smtp.url, connections: 5, ...more });
    senders.push(made);
    return made;
  };
  const busy = 'someone@busy.example';

  for (const [name, answer] of [
    ['a 421 to a recipient', { at: 'recipient', do: { code: 421, text: 'try later' } }],
    ['a 450 to a recipient', { at: 'recipient', do: { code: 450, text: 'mailbox busy' } }],
    ['"too many" after the text', { at: 'message', do: { code: 452, text: 'too many messages' } }],
  ] as const)
    it(`is slowed by ${name}, and others are not`, async () => {
      const sending = sender();
      smtp.misbehave({ ...answer, to: busy });
      await addMail(db, { project: project.id, to: busy });
      expect(await sending.send()).to.deep.equal(counts({ deferred: 1 }));
      expect(sending.pace.slowed().map(({ domain }) => domain)).to.deep.equal(['busy.example']);
      smtp.behave();
      await addMails(db, 40, { project: project.id });
      expect(await sending.send()).to.deep.equal(counts({ sent: 40 }));
      expect(sending.pace.delayOf('example.com')).to.equal(0);
      expect(sending.relays.all[0]?.leftOut).to.equal(undefined);
    });

  it('is not slowed by an answer that concerns one recipient', async () => {
    const sending = sender();
    smtp.misbehave({ at: 'recipient', to: busy, do: { code: 451, text: 'local problem' } });
    await addMail(db, { project: project.id, to: busy });
    expect(await sending.send()).to.deep.equal(counts({ deferred: 1 }));
    expect(sending.pace.slowed()).to.deep.equal([]);
  });

  it('has its mail slowed without an attempt, while mail to others is sent', async () => {
    // The clock stands still: the domain stays as slow as it is, however long the test takes.
    const sending = sender({ clock: () => 0 });
    smtp.misbehave({ at: 'recipient', to: busy, do: { code: 421, text: 'too many connections' } });
    await addMail(db, { project: project.id, to: busy });
    await sending.send();
    smtp.behave();
    await addMails(db, 30, { project: project.id, to: busy });
    await addMails(db, 30, { project: project.id });
    const stop = new AbortController();
    const run = sending.send({ stop: stop.signal, untilIdle: false });
    await eventually(() => smtp.mails.filter(({ to }) => !to.includes(busy)).length === 30, { what: 'mail to others' });
    stop.abort();
    await run;
    const waiting = await storedMails(db, { status: 'PENDING', attempts: 0 });
    expect(waiting).to.have.length(30);
    const slowed = waiting.filter(({ reason }) => reason !== null);
    expect(slowed.length).to.be.above(10);
    for (const { reason, createdAt, dueAt } of slowed) {
      expect(reason).to.equal('sending to busy.example is throttled; it will be sent later');
      expect(dueAt).to.be.greaterThan(createdAt);
    }
    expect(await outgoingMails(db)).to.deep.equal([]);
  });

  it('does not hold up other mail with all that was leased for it before', async () => {
    const sending = sender();
    // No mail leaves until as much is leased as a sender leases ahead.
    smtp.misbehave({ at: 'sender', do: 'hang' });
    await addMails(db, 200, { project: project.id, to: busy });
    const stop = new AbortController();
    const run = sending.send({ stop: stop.signal, untilIdle: false });
    await eventually(async () => (await outgoingMails(db)).length >= 150, { what: 'leased mail' });
    await addMails(db, 30, { project: project.id });
    smtp.behave();
    smtp.misbehave({ at: 'recipient', to: busy, do: { code: 421, text: 'too many connections' } });
    await eventually(() => smtp.mails.filter(({ to }) => !to.includes(busy)).length === 30, { what: 'mail to others' });
    stop.abort();
    await run;
    expect(await outgoingMails(db)).to.deep.equal([]);
  });

  it('does not hold up the other recipients of a campaign', async () => {
    await addContacts(db, project, 100);
    await addContactSeries(db, project.id, 100, { domain: 'busy.example' });
    for (let n = 1; n <= 100; n++)
      smtp.misbehave({ at: 'recipient', to: `c${n}@busy.example`, do: { code: 450, text: 'too many' } });
    const worker = campaignWorker(database, smtp.url);
    senders.push(worker);
    const { id } = await startCampaign(db, project);
    await worker.advance(id);
    const stop = new AbortController();
    const run = worker.send({ stop: stop.signal, untilIdle: false });
    await eventually(() => smtp.mails.length === 100, { what: 'all mail to the other domain' });
    stop.abort();
    await run;
    expect(worker.pace.slowed().map(({ domain }) => domain)).to.deep.equal(['busy.example']);
    expect(await standing(db, project, id)).to.include({ sent: 100, pending: 100, failed: 0 });
    const tried = await storedMails(db, { campaignId: id, status: 'PENDING' }).where('attempts', '>', 0);
    expect(tried.length, 'most were slowed before they were offered').to.be.below(100);
  });

  it('gets no more than its ceiling', async () => {
    const ceiling = 5;
    await addMails(db, 8, { project: project.id, to: busy });
    const startedAt = performance.now();
    const sending = sender({ ceilings: new Map([['busy.example', ceiling]]) });
    expect(await sending.send()).to.deep.equal(counts({ sent: 8 }));
    expect(performance.now() - startedAt).to.be.at.least((7 / ceiling) * 1_000 - 300);
  });

  it('does not limit others by its ceiling', async () => {
    await addMails(db, 8, { project: project.id, to: busy });
    await addMails(db, 30, { project: project.id });
    const stop = new AbortController();
    const hourly = sender({ ceilings: new Map([['busy.example', 1 / 3_600]]) });
    const run = hourly.send({ stop: stop.signal, untilIdle: false });
    await eventually(() => smtp.mails.filter(({ to }) => !to.includes(busy)).length === 30, { what: 'mail to others' });
    stop.abort();
    await run;
    expect(smtp.mailsTo(busy)).to.have.length.of.at.most(1);
  });
});
