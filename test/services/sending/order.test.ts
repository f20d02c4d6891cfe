import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { addManagedDomain } from '../../../services/domains/managed.ts';
import { addContacts, campaignWorker, startCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addMail, addMails, type MailRow, mailById } from '../../support/ledger.ts';
import { setCampaigns } from '../../support/rows/campaigns.ts';
import { outgoingMails, storedMails } from '../../support/rows/mails.ts';
import { emptyTables } from '../../support/rows/tables.ts';
import { counts, inDoubt, type TestSender, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('the order of mail', () => {
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
    smtp.behave();
    for (const sender of senders.splice(0)) await sender.close();
  });

  const sender = (connections: number, campaignInFlight = 2): TestSender => {
    const made = testSender(database.url, { url: smtp.url, connections, campaignInFlight });
    senders.push(made);
    return made;
  };
  const add = async (owner: TestProject, count: number, to: string, more: Partial<MailRow> = {}) => {
    const ids: string[] = [];
    for (let n = 0; n < count; n++)
      ids.push(await addMail(db, { project: owner.id, to: `${to}${n}@example.com`, ...more }));
    await db('email_contents')
      .whereIn('emailId', ids)
      .update({ fromEmail: `shop@${owner.senderDomain}` });
    return ids;
  };
  /** Waits until each connection is held with a mail, and all others are prepared. */
  const allPrepared = (sending: TestSender, connections: number, count: number) =>
    eventually(
      async () => {
        const begun = (await inDoubt(db)).length;
        return smtp.held() === connections && sending.sender.readyCount + begun === count;
      },
      { what: `${count} prepared mails` },
    );
  const arrived = () => smtp.mails.map(({ to }) => (to[0] ?? '').replace(/\d*@.*$/, ''));
  const startedCampaign = async (owner: TestProject, contacts: number): Promise<string> => {
    await addContacts(db, owner, contacts, { prefix: 'campaign' });
    const { id } = await startCampaign(db, owner);
    const worker = campaignWorker(database, smtp.url);
    senders.push(worker);
    await worker.advance(id);
    return id;
  };

  it('shares the connections fairly between projects, whatever their backlog', async () => {
    const small = await makeProject(db);
    await add(project, 120, 'big');
    await add(small, 10, 'small');
    expect(await sender(1).send()).to.deep.equal(counts({ sent: 130 }));
    const last = arrived().lastIndexOf('small');
    expect(last, 'ten of a small project are among the first mails of a backlog').to.be.below(40);
  });

  it('bounds the large mail of a campaign in memory, and leases transactional mail meanwhile', async () => {
    const recipients = 40;
    await addContacts(db, project, recipients, { prefix: 'campaign' });
    const { id } = await startCampaign(db, project, { body: `<p>${'large '.repeat(200_000)}</p>` });
    const worker = campaignWorker(database, smtp.url);
    senders.push(worker);
    await worker.advance(id);
    for (let n = 0; n < recipients; n++)
      smtp.misbehave({ at: 'recipient', do: 'hang', to: `campaign${n}@example.com` });
    const stop = new AbortController();
    // One domain never gets all of five connections.
    const sending = sender(5).send({ stop: stop.signal });
    await eventually(async () => (await outgoingMails(db, { campaignId: id })).length >= 25, {
      what: 'more than 24 MB of the campaign in memory',
    });
    await add(project, 1, 'urgent', { to: 'urgent@other.example' });
    await smtp.received(1, { to: 'urgent@other.example' });
    expect((await outgoingMails(db, { campaignId: id })).length).to.be.below(recipients);
    stop.abort();
    smtp.behave();
    await sending;
  });

  it('sends transactional mail first, workflow mail second and campaigns third', async () => {
    const campaign = await startedCampaign(project, 20);
    await add(project, 20, 'workflow', { sourceType: 'WORKFLOW', priority: 1 });
    await add(project, 20, 'transactional');
    // The first mail keeps the only connection busy until all others are prepared.
    smtp.misbehave({ at: 'recipient', do: 'hang', times: 1 });
    const sending = sender(1);
    const run = sending.send();
    // A campaign mail has a second one begun ahead.
    await eventually(() => sending.sender.readyCount >= 58, { what: 'all mails prepared' });
    smtp.behave();
    const results = await run;
    expect((await storedMails(db, { status: 'FAILED' })).map(({ reason }) => reason)).to.deep.equal([]);
    expect(results).to.deep.equal(counts({ sent: 60 }));
    const order = arrived();
    const place = (kind: string) => order.reduce((sum, one, index) => sum + (one === kind ? index : 0), 0) / 20;
    expect(place('transactional')).to.be.below(place('workflow'));
    expect(place('workflow')).to.be.below(place('campaign'));
    expect(await storedMails(db, { campaignId: campaign, status: 'SENT' })).to.have.length(20);
  });

  it('lets transactional mail pass a running campaign', async () => {
    await startedCampaign(project, 200);
    smtp.holdAfter(0);
    const sending = sender(2);
    const run = sending.send();
    await allPrepared(sending, 2, 200);
    smtp.behave();
    smtp.holdAfter(20);
    await smtp.received(22);
    await allPrepared(sending, 2, 200 - 22);
    const { readyCount: ready } = sending.sender;
    const id = await addMail(db, { project: project.id, to: 'urgent@example.com' });
    sending.sender.wake('mail');
    await eventually(() => sending.sender.readyCount === ready + 1, { what: 'a prepared transactional mail' });
    smtp.behave();
    await run;
    const place = smtp.mails.findIndex(({ to }) => to.includes('urgent@example.com'));
    expect(place, 'only what had begun is sent before it').to.be.below(200 - ready + 2);
    expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
  });

  it('leaves at most one transactional mail in doubt per connection', async () => {
    await addMails(db, 30, { project: project.id });
    smtp.misbehave({ at: 'message', do: 'hang' });
    const run = sender(3).send();
    await eventually(async () => (await inDoubt(db)).length === 3, { what: 'three mails in flight' });
    await eventually(async () => (await outgoingMails(db)).length === 30, { what: 'a lease of all mails' });
    expect(await inDoubt(db)).to.have.length(3);
    smtp.behave();
    expect(await run).to.deep.equal(counts({ sent: 30 }));
  });

  for (const inFlight of [2, 4])
    it(`never has more mails begun without a stored result per connection than one, or ${inFlight} of a campaign`, async () => {
      await startedCampaign(project, 150);
      await addMails(db, 59, { project: project.id });
      await addMail(db, { project: project.id, to: 'held@example.com' });
      // One mail of each kind is held until it was seen.
      for (const to of ['held@example.com', 'campaign149@example.com'])
        smtp.misbehave({ at: 'message', to, do: 'hang' });
      smtp.misbehave({ at: 'message', do: { delayMs: 5 } });
      const run = sender(3, inFlight).send();
      let over = false;
      const ended = run.finally(() => {
        over = true;
      });
      const seen: { campaign: number; other: number }[] = [];
      while (!over) {
        const mails = await inDoubt(db);
        const campaign = mails.filter(({ campaignId }) => campaignId !== null).length;
        const other = mails.length - campaign;
        seen.push({ campaign, other });
        if (other > 0) smtp.behave('held@example.com');
        if (campaign > 0) smtp.behave('campaign149@example.com');
      }
      expect(await ended).to.deep.equal(counts({ sent: 210 }));
      expect(Math.max(...seen.map(({ other }) => other))).to.be.within(1, 3);
      expect(Math.max(...seen.map(({ campaign }) => campaign))).to.be.within(1, 3 * inFlight);
      expect(Math.max(...seen.map(({ campaign, other }) => campaign + other))).to.be.at.most(3 * inFlight);
    });

  for (const inFlight of [1, 2, 4])
    it(`leaves at most as many campaign mails in doubt per connection as may begin: ${inFlight}`, async () => {
      await startedCampaign(project, 60);
      smtp.holdAfter(0);
      const sending = sender(3, inFlight);
      const run = sending.send();
      await allPrepared(sending, 3, 60);
      smtp.behave();
      smtp.holdAfter(12);
      await smtp.received(15);
      await allPrepared(sending, 3, 60 - 15);
      expect((await inDoubt(db)).length).to.be.within(3, 3 * inFlight);
      smtp.behave();
      expect(await run).to.deep.equal(counts({ sent: 60 }));
      expect(smtp.mails).to.have.length(60);
      expect(new Set(smtp.mails.flatMap(({ to }) => to)).size).to.equal(60);
    });

  it('does not lease a throttled campaign before its time', async () => {
    const id = await startedCampaign(project, 5);
    await setCampaigns(db, { id }, { ratePerMinute: 1 });
    const sending = sender(2);
    const stop = new AbortController();
    const run = sending.send({ stop: stop.signal, untilIdle: false });
    await smtp.received(1);
    // Mail of others is leased meanwhile.
    await addMails(db, 5, { project: project.id });
    sending.sender.wake('mail');
    sending.sender.wake('campaigns');
    await smtp.received(6);
    expect(await outgoingMails(db, { campaignId: id, startedAt: null })).to.deep.equal([]);
    stop.abort();
    expect(await run).to.deep.equal(counts({ sent: 6 }));
    expect(await storedMails(db, { campaignId: id, status: 'PENDING', attempts: 0 })).to.have.length(4);
  });
});
