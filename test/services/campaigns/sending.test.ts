import { expect } from 'chai';
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../../services/campaigns/steer.ts';
import { deleteContacts } from '../../../services/removal/contact.ts';
import {
  addContacts,
  type CampaignWorker,
  campaignWorker,
  makeCampaign,
  recipientTo,
  rowsOf,
  standing,
  startCampaign,
} from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { campaignRow, setCampaigns } from '../../support/rows/campaigns.ts';
import { setContacts, storedContacts } from '../../support/rows/contacts.ts';
import { outgoingMails, storedMails } from '../../support/rows/mails.ts';
import { outboxMessagesTo } from '../../support/rows/outbox.ts';
import { addSuppression, setProject } from '../../support/rows/projects.ts';
import { breakConnectionsOf } from '../../support/rows/tables.ts';
import { counts, endLeases, inDoubt } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('sending a campaign', () => {
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: TestProject;

  before(async () => {
    [database, smtp] = await Promise.all([connectTestDatabase(), startSmtp()]);
  });
  after(async () => {
    await smtp?.close();
    await database?.close();
  });
  beforeEach(async () => {
    project = await makeProject(database.db);
    smtp.behave();
    smtp.mails.length = 0;
    // A new one for each test, because a worker remembers which domains have deferred mail.
    worker = campaignWorker(database, smtp.url);
  });
  afterEach(() => worker.close());

  const contactId = async (email: string): Promise<string> =>
    (await storedContacts(database.db, { projectId: project.id, email }).first('id')).id;
  const stored = (id: string) => campaignRow(database.db, id);
  const addresses = () => smtp.mails.flatMap(({ to }) => to).sort();

  it('sends every recipient one mail of their own and ends', async () => {
    await addContacts(database.db, project, 250);
    const { id } = await startCampaign(database.db, project);
    expect(await worker.run(id)).to.include({ kind: 'end' });
    expect(await stored(id)).to.include({ status: 'SENT', paused: false });
    expect((await stored(id)).sentAt).to.be.instanceOf(Date);
    expect(await standing(database.db, project, id)).to.include({ pending: 0, sent: 250, failed: 0 });
    expect(new Set(addresses()).size).to.equal(250);
    expect(smtp.mails).to.have.lengthOf(250);
    const [mail] = smtp.mailsTo('p7@example.com');
    const { subject, html, from } = (await mail?.parsed()) ?? {};
    expect(subject).to.equal('Hello Name 7');
    expect(html).to.contain('Hello Name 7');
    expect(from?.address).to.equal(`news@${project.senderDomain}`);
    const row = await recipientTo(database.db, id, 'p7@example.com');
    expect(row).to.include({ status: 'SENT', attempts: 1, sourceType: 'CAMPAIGN', campaignId: id });
    expect(mail?.messageId).to.equal(`<${row.id}@${project.senderDomain}>`);
    expect(await outgoingMails(database.db)).to.deep.equal([]);
  });

  it('has its end reported by the sender, also when others begin meanwhile', async () => {
    await addContacts(database.db, project, 2);
    const stop = new AbortController();
    const sending = worker.send({ stop: stop.signal, untilIdle: false });
    const ids: string[] = [];
    for (let count = 1; count <= 5; count++) {
      const { id } = await startCampaign(database.db, project);
      await worker.advance(id);
      ids.push(id);
      // Also makes the sender list the campaigns that have due mail anew: the one before has none.
      worker.sender.wake('campaigns');
      await smtp.received(2 * count);
    }
    const isReported = async (id: string) =>
      (await outboxMessagesTo(database.db, id)).some(({ action }) => action === 'signal');
    for (const id of ids) await eventually(() => isReported(id), { what: 'a signal to a campaign' });
    stop.abort();
    await sending;
  });

  it("adds one-click unsubscribe, footer and tracking by the campaign's type", async () => {
    await addContacts(database.db, project, 1);
    const body = '<p>Hello</p><a href="https://shop.example/spring">Shop</a>';
    const sent = async (type: 'MARKETING' | 'HEADLESS' | 'TRANSACTIONAL') => {
      smtp.mails.length = 0;
      const { id } = await startCampaign(database.db, project, { type, body });
      await worker.run(id);
      const mail = await smtp.mails[0]?.parsed();
      const header = (name: string) => mail?.headers.find(({ key }) => key === name)?.value;
      return { html: mail?.html ?? '', text: mail?.text ?? '', header };
    };
    const marketing = await sent('MARKETING');
    expect(marketing.header('list-unsubscribe')).to.match(/^<http:\/\/app\.test\/unsubscribe\/.+>$/);
    expect(marketing.header('list-unsubscribe-post')).to.equal('List-Unsubscribe=One-Click');
    expect(marketing.html).to.contain('Unsubscribe').and.to.contain('http://app.test/t/c/');
    expect(marketing.html).not.to.contain('href="https://shop.example/spring"');
    expect(marketing.text).to.contain('Hello');
    for (const type of ['HEADLESS', 'TRANSACTIONAL'] as const) {
      const other = await sent(type);
      expect(other.header('list-unsubscribe'), type).to.equal(undefined);
      expect(other.html, type).not.to.contain('Unsubscribe');
    }
    await setProject(database.db, project.id, { tracking: 'DISABLED' });
    expect((await sent('MARKETING')).html).to.contain('href="https://shop.example/spring"');
  });

  it('freezes the contacts that its type may reach, and none that are added later', async () => {
    await addContacts(database.db, project, 3);
    await addContacts(database.db, project, 2, { subscribed: false, prefix: 'u' });
    const marketing = await startCampaign(database.db, project);
    const transactional = await startCampaign(database.db, project, { type: 'TRANSACTIONAL' });
    for (const { id } of [marketing, transactional]) expect(await worker.advance(id)).to.include({ kind: 'wait' });
    await addContacts(database.db, project, 4, { prefix: 'late' });
    expect(await standing(database.db, project, marketing.id)).to.include({ pending: 3 });
    expect(await standing(database.db, project, transactional.id)).to.include({ pending: 5 });
    await worker.send();
    const reached = async (campaignId: string) =>
      (await storedMails(database.db, { campaignId })).map(({ toEmail }) => toEmail).sort();
    const subscribed = ['p0@example.com', 'p1@example.com', 'p2@example.com'];
    expect(await reached(marketing.id)).to.deep.equal(subscribed);
    expect(await reached(transactional.id)).to.deep.equal([...subscribed, 'u0@example.com', 'u1@example.com']);
    expect(smtp.mails).to.have.lengthOf(8);
  });

  it('skips with a reason contacts that unsubscribed, bounced or were deleted after the freeze', async () => {
    await addContacts(database.db, project, 5);
    const { id } = await startCampaign(database.db, project);
    await worker.advance(id);
    await setContacts(database.db, { projectId: project.id, email: 'p1@example.com' }, { subscribed: false });
    await addSuppression(database.db, project.id, 'p2@example.com', 'HARD_BOUNCE');
    await setContacts(database.db, { projectId: project.id, email: 'p2@example.com' }, { subscribed: false });
    const gone = await contactId('p3@example.com');
    await deleteContacts(database.db, project.id, [gone]);
    expect(await standing(database.db, project, id)).to.include({ pending: 4, skipped: 1 });
    await worker.run(id);
    expect(await standing(database.db, project, id)).to.include({ pending: 0, sent: 2, skipped: 3 });
    expect(addresses()).to.deep.equal(['p0@example.com', 'p4@example.com']);
    expect(await recipientTo(database.db, id, 'p1@example.com')).to.include({
      status: 'SKIPPED',
      reason: 'unsubscribed',
    });
    expect(await recipientTo(database.db, id, 'p2@example.com')).to.include({
      status: 'SKIPPED',
      reason: 'suppressed',
    });
    const row = await storedMails(database.db, { campaignId: id, contactId: gone }).first();
    expect(row).to.include({ status: 'SKIPPED', reason: 'contact deleted', toEmail: null, renderedSubject: null });
    expect(await rowsOf(database.db, id)).to.deep.equal({ sent: 2, skipped: 3 });
  });

  it('sends to the new address of a contact, also when the mail was already composed', async () => {
    await addContacts(database.db, project, 10);
    const { id } = await startCampaign(database.db, project);
    const own = campaignWorker(database, smtp.url, { connections: 1 });
    await own.advance(id);
    smtp.misbehave({ at: 'recipient', do: 'hang' });
    const running = own.send();
    const leased = () => outgoingMails(database.db, { campaignId: id, startedAt: null }).select('contactId');
    await eventually(async () => (await inDoubt(database.db)).length > 0, { what: 'a mail in flight' });
    const last = (await leased()).at(-1);
    await setContacts(database.db, { id: last.contactId }, { email: 'moved@example.com' });
    smtp.behave();
    await running;
    expect(await own.run(id)).to.include({ kind: 'end' });
    await own.close();
    expect(smtp.mails).to.have.lengthOf(10);
    expect(new Set(addresses()).size).to.equal(10);
    expect(addresses()).to.include('moved@example.com');
    expect(await standing(database.db, project, id)).to.include({ sent: 10, pending: 0 });
  });

  it('removes the address of a contact that is deleted later', async () => {
    await addContacts(database.db, project, 1);
    const { id } = await startCampaign(database.db, project);
    await worker.run(id);
    const row = await recipientTo(database.db, id, 'p0@example.com');
    expect(row).to.include({ toEmail: 'p0@example.com', renderedSubject: 'Hello Name 0' });
    await deleteContacts(database.db, project.id, [row.contactId]);
    expect(await row.$query(database.db)).to.include({ status: 'SENT', toEmail: null, renderedSubject: null });
    expect(await standing(database.db, project, id)).to.include({ sent: 1 });
  });

  it('fails rejected recipients and retries deferred ones later', async () => {
    await addContacts(database.db, project, 4);
    smtp.misbehave({ at: 'recipient', to: 'p1@example.com', do: { code: 550, text: 'no such user' } });
    smtp.misbehave({ at: 'recipient', to: 'p2@example.com', do: { code: 450, text: 'later' } });
    const { id } = await startCampaign(database.db, project);
    const next = await worker.run(id);
    expect(next).to.include({ kind: 'wait' });
    expect(await standing(database.db, project, id)).to.include({ pending: 1, sent: 2, failed: 1 });
    const failed = await recipientTo(database.db, id, 'p1@example.com');
    expect(failed.status).to.equal('FAILED');
    expect(failed.reason).to.contain('no such user');
    const deferred = await recipientTo(database.db, id, 'p2@example.com');
    expect(deferred).to.include({ status: 'PENDING', attempts: 1 });
    expect(deferred.dueAt).to.be.greaterThan(new Date());
    smtp.behave();
    await deferred.$query(database.db).patch({ dueAt: new Date() });
    expect(await worker.run(id)).to.include({ kind: 'end' });
    expect(await standing(database.db, project, id)).to.include({ pending: 0, sent: 3, failed: 1 });
  });

  it('is sent once by several senders at the same time', async () => {
    await addContacts(database.db, project, 300);
    smtp.misbehave({ at: 'message', do: { delayMs: 5 } });
    const { id } = await startCampaign(database.db, project);
    await worker.advance(id);
    const others = [campaignWorker(database, smtp.url), campaignWorker(database, smtp.url)];
    const results = await Promise.all([worker, ...others].map((sender) => sender.send()));
    for (const other of others) await other.close();
    expect(results.reduce((sum, { sent }) => sum + sent, 0)).to.equal(300);
    expect(await standing(database.db, project, id)).to.include({ sent: 300, pending: 0 });
    expect(new Set(addresses()).size).to.equal(300);
    expect(smtp.mails).to.have.lengthOf(300);
  });

  it('continues when recipients unsubscribe while their mail is being composed', async () => {
    await addContacts(database.db, project, 200);
    smtp.holdAfter(20);
    const { id } = await startCampaign(database.db, project);
    await worker.advance(id);
    const sending = worker.send();
    await smtp.received(20);
    await database
      .db('contacts')
      .where({ projectId: project.id })
      .whereLike('email', 'p1%')
      .update({ subscribed: false });
    smtp.behave();
    await sending;
    expect(await worker.run(id)).to.include({ kind: 'end' });
    const { sent, skipped, pending } = await standing(database.db, project, id);
    expect({ all: sent + skipped, pending }).to.deep.equal({ all: 200, pending: 0 });
    expect(skipped).to.be.greaterThan(0);
    expect(smtp.mails.length).to.equal(sent);
    expect(new Set(addresses()).size).to.equal(sent);
  });

  it('does not retry a recipient whose outcome is unknown', async () => {
    await addContacts(database.db, project, 3);
    smtp.misbehave({ at: 'accepted', to: 'p1@example.com', do: 'drop' });
    const { id } = await startCampaign(database.db, project);
    expect(await worker.run(id)).to.include({ kind: 'end' });
    expect(await standing(database.db, project, id)).to.include({ sent: 2, unknown: 1, pending: 0 });
    expect(smtp.mailsTo('p1@example.com')).to.have.lengthOf(1);
  });

  it('sends no mail twice when it is paused and resumed', async () => {
    await addContacts(database.db, project, 300);
    smtp.holdAfter(30);
    const { id } = await startCampaign(database.db, project);
    await worker.advance(id);
    const sending = worker.send();
    await smtp.received(30);
    await pauseCampaign(database.db, project.access, id);
    // Starts no other mails: only those in flight arrive. Read in this order, because results that are persisted
    // meanwhile leave the first table and appear in the second.
    const begun = await outgoingMails(database.db, { campaignId: id }).whereNotNull('startedAt').select('emailId');
    const ended = await storedMails(database.db, { campaignId: id }).whereNot({ attempts: 0 }).select('id');
    smtp.behave();
    await sending;
    const { sent, pending } = await standing(database.db, project, id);
    expect(sent + pending).to.equal(300);
    expect(sent).to.be.at.most(ended.length + begun.length);
    expect(smtp.mails.length).to.equal(sent);
    expect(await worker.advance(id)).to.include({ kind: 'wait' });
    expect(await worker.send()).to.deep.equal(counts({}));
    expect(smtp.mails.length).to.equal(sent);
    await resumeCampaign(database.db, project.access, id);
    await worker.run(id);
    expect(await standing(database.db, project, id)).to.include({ sent: 300, pending: 0 });
    expect(new Set(addresses()).size).to.equal(300);
    expect(smtp.mails.length).to.equal(300);
  });

  it('sends no mail after a cancellation was answered, and the rest is CANCELLED', async () => {
    await addContacts(database.db, project, 300);
    smtp.holdAfter(20);
    const { id } = await startCampaign(database.db, project);
    await worker.advance(id);
    const sending = worker.send();
    await smtp.received(20);
    await cancelCampaign(database.db, project.access, id);
    expect(await standing(database.db, project, id)).to.include({ pending: 0 });
    smtp.behave();
    await sending;
    const { sent } = await standing(database.db, project, id);
    expect(await worker.run(id)).to.include({ kind: 'end' });
    expect(await standing(database.db, project, id)).to.include({ sent, cancelled: 300 - sent, pending: 0 });
    expect(await rowsOf(database.db, id)).to.deep.equal({ sent, cancelled: 300 - sent });
    expect(smtp.mails.length).to.equal(sent);
    expect(await stored(id)).to.include({ status: 'CANCELLED' });
  });

  it('waits for its scheduled time, and follows the last change of it', async () => {
    await addContacts(database.db, project, 2);
    const { id } = await makeCampaign(database.db, project);
    const inAnHour = new Date(Date.now() + 3_600_000);
    await setCampaigns(database.db, { id }, { status: 'SCHEDULED', scheduledFor: inAnHour, generation: 1 });
    const { scheduledFor } = await stored(id);
    const shifted = (ms: number) => new Date(scheduledFor.getTime() + ms);
    expect(await worker.advance(id)).to.include({ kind: 'wait', until: scheduledFor.toISOString() });
    expect(await worker.advance(id, shifted(-1_000))).to.include({ kind: 'wait' });
    expect(await stored(id)).to.include({ status: 'SCHEDULED' });
    expect(await worker.advance(id, shifted(1_000))).to.include({ kind: 'wait' });
    expect(await stored(id)).to.include({ status: 'SENDING' });
  });

  it('ends at once when no recipients are left at its scheduled time', async () => {
    const { id } = await makeCampaign(database.db, project);
    await setCampaigns(database.db, { id }, { status: 'SCHEDULED', scheduledFor: new Date(), generation: 1 });
    expect(await worker.run(id)).to.include({ kind: 'end' });
    expect(await stored(id)).to.include({ status: 'SENT' });
  });

  it('waits while the SMTP server is unavailable, and counts no attempts', async () => {
    await addContacts(database.db, project, 10);
    const { id } = await startCampaign(database.db, project);
    const own = campaignWorker(database, smtp.url);
    await own.advance(id);
    await smtp.close();
    const sending = own.send();
    await eventually(() => own.relays.all[0]?.leftOut, { what: 'a relay that is left out' });
    expect(await storedMails(database.db, { campaignId: id }).whereNot({ attempts: 0 })).to.deep.equal([]);
    await smtp.reopen();
    await sending;
    await own.close();
    expect(await standing(database.db, project, id)).to.include({ sent: 10 });
    expect(await storedMails(database.db, { campaignId: id, attempts: 1 })).to.have.lengthOf(10);
  });

  it('continues when the database terminates all connections repeatedly', async () => {
    await addContacts(database.db, project, 150);
    smtp.misbehave({ at: 'message', do: { delayMs: 20 } });
    const cut = () => breakConnectionsOf(database.db, 'everpost-sender');
    const other = campaignWorker(database, smtp.url, { connections: 4 });
    const { id } = await startCampaign(database.db, project);
    await worker.advance(id);
    // An unhandled rejection would end a worker.
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const sending = other.send();
    for (const count of [20, 50, 80]) {
      await smtp.received(count);
      await cut();
    }
    smtp.behave();
    await sending;
    await eventually(async () => (await worker.run(id)).kind === 'end');
    await other.close();
    process.off('unhandledRejection', note);
    expect(unhandled).to.deep.equal([]);
    const { sent, unknown, pending } = await standing(database.db, project, id);
    expect({ all: sent + unknown, pending }).to.deep.equal({ all: 150, pending: 0 });
    expect(unknown).to.be.at.most(3 * 2 * 4);
    expect(new Set(addresses()).size).to.equal(smtp.mails.length);
  });

  it('continues the work of a killed process, whose mails in flight become UNKNOWN', async () => {
    await addContacts(database.db, project, 100);
    const { id } = await startCampaign(database.db, project);
    const other = campaignWorker(database, smtp.url, { connections: 3 });
    await other.advance(id);
    smtp.misbehave({ at: 'message', do: 'hang' });
    const killed = other.send({ stop: new AbortController().signal });
    await eventually(async () => (await inDoubt(database.db)).length >= 3);
    // Simulates a killed process: its lease has expired, and its results come too late.
    await endLeases(database.db);
    const mails = await inDoubt(database.db);
    expect(mails.length).to.be.within(3, 6);
    const mine = campaignWorker(database, smtp.url);
    const taken = mine.send();
    await eventually(async () => (await standing(database.db, project, id)).unknown >= mails.length);
    smtp.behave();
    await taken;
    await mine.run(id);
    await killed;
    await mine.close();
    await other.close();
    const { sent, unknown, pending } = await standing(database.db, project, id);
    expect(sent + unknown).to.equal(100);
    expect(pending).to.equal(0);
    expect(new Set(addresses()).size).to.equal(smtp.mails.length);
  });
});
