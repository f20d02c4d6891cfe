import { expect } from 'chai';
import type { Db } from '../../../db/connect.ts';
import { resendEmail } from '../../../services/campaigns/resend-email.ts';
import type { LoggedAttempt } from '../../../services/emails/attempts.ts';
import { addContacts, campaignWorker, standing, startCampaign } from '../../support/campaigns.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { addMail, mailById } from '../../support/ledger.ts';
import { setCampaigns } from '../../support/rows/campaigns.ts';
import { storedMails } from '../../support/rows/mails.ts';
import { emptyTables } from '../../support/rows/tables.ts';
import { counts, putInFlight, type TestSender, type TestSenderOptions, testSender } from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('sending through several relays', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let project: TestProject;
  let first: SmtpStandIn | undefined;
  let second: SmtpStandIn | undefined;
  const senders: TestSender[] = [];

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database.close());
  beforeEach(async () => {
    await emptyTables(db, 'emails', 'email_contents', 'outgoing_mails', 'senders');
    await setCampaigns(db, {}, { status: 'CANCELLED' });
    project = await makeProject(db);
    [first, second] = await Promise.all([startSmtp(), startSmtp()]);
  });
  afterEach(async () => {
    for (const sender of senders.splice(0)) await sender.close();
    for (const relay of relays()) await relay.close();
  });

  const relays = (): [SmtpStandIn, SmtpStandIn] => {
    if (!first || !second) throw new Error('the relays are not started');
    return [first, second];
  };
  const nameOf = ({ port }: SmtpStandIn) => `127.0.0.1:${port}`;
  const options = (more: Partial<TestSenderOptions> = {}): TestSenderOptions => {
    const [a, b] = relays();
    return { url: `${a.url}, ${b.url}`, connections: 2, pauseMs: 300, ...more };
  };
  const sender = (more: Partial<TestSenderOptions> = {}): TestSender => {
    const made = testSender(database.url, options(more));
    senders.push(made);
    return made;
  };
  const mail = () => addMail(db, { project: project.id, fromEmail: `shop@${project.senderDomain}` });
  const mails = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await mail();
  };
  /** A campaign that is ready to be sent, and a worker that can. */
  const campaign = async (recipients: number, settings: Partial<TestSenderOptions> = {}) => {
    await addContacts(db, project, recipients);
    const { id } = await startCampaign(db, project);
    const { url, ...more } = options(settings);
    const worker = campaignWorker(database, url, more);
    senders.push(worker);
    await worker.advance(id);
    return { id, worker };
  };
  const attemptsOf = async (id: string) =>
    ((await mailById(db, id)).attemptLog as LoggedAttempt[] | null)?.map(({ relay, outcome }) => [relay, outcome]);
  /** The recipients that either relay has accepted a mail for, sorted; twice where there were two copies. */
  const accepted = () =>
    relays()
      .flatMap((relay) => relay.mails.flatMap(({ to }) => to))
      .sort();

  it('divides mail by weight, and records which relay took it', async () => {
    const [a, b] = relays();
    await mails(80);
    // The clock stands still: no relay is passed over because it was slow to take its turn.
    const sending = sender({ url: `${a.url}?weight=3, ${b.url}`, clock: () => 0 });
    expect(await sending.send()).to.deep.equal(counts({ sent: 80 }));
    expect(a.mails.length).to.be.within(50, 70);
    expect(a.mails.length + b.mails.length).to.equal(80);
    const rows = await storedMails(db).select(db.raw(`attempt_log -> 0 ->> 'relay' as relay`));
    const taken = (relay: SmtpStandIn) => rows.filter((row) => row.relay === nameOf(relay)).length;
    expect([taken(a), taken(b)]).to.deep.equal([a.mails.length, b.mails.length]);
  });

  it('sends a whole campaign through the other relay when one dies', async () => {
    const [a, b] = relays();
    for (const relay of relays()) relay.holdAfter(10);
    const { id, worker } = await campaign(120);
    const run = worker.send();
    await Promise.all([a.received(10), b.received(10)]);
    await a.close();
    b.behave();
    await run;
    const { sent, unknown, pending } = await standing(db, project, id);
    expect({ all: sent + unknown, pending }).to.deep.equal({ all: 120, pending: 0 });
    expect(unknown, 'what was in flight at the relay that died').to.be.at.most(4);
    await eventually(() => worker.relays.byName(nameOf(a))?.leftOut?.reason.includes('ECONNREFUSED'), {
      what: 'a relay that is left out',
    });
    expect(new Set(accepted()).size, 'nobody got two copies').to.equal(accepted().length);
    expect(await storedMails(db, { campaignId: id, status: 'SENT' }).whereNot({ attempts: 1 })).to.deep.equal([]);
  });

  it('uses a relay again that was dead for a while', async () => {
    const [a, b] = relays();
    await a.close();
    b.holdAfter(10);
    const { id, worker } = await campaign(200);
    const run = worker.send();
    await b.received(10);
    await a.reopen();
    await a.received(10);
    b.behave();
    await run;
    expect(await standing(db, project, id)).to.include({ sent: 200, unknown: 0, pending: 0 });
    expect(accepted()).to.have.length(200);
  });

  it('gives the share of a stalled relay to the other; what was in flight there is UNKNOWN', async () => {
    const [a, b] = relays();
    // It accepts both connections and ten mails, and then answers nothing more. The other always answers.
    a.holdAfter(10);
    a.misbehave({ at: 'connect', do: { delayMs: 0 }, times: 2 });
    a.misbehave({ at: 'connect', do: 'hang' });
    const { id, worker } = await campaign(120, { timeouts: { silenceMs: 3_000 } });
    await worker.send();
    expect(b.mails.length).to.be.above(100);
    const { sent, unknown, pending } = await standing(db, project, id);
    expect({ all: sent + unknown, pending }).to.deep.equal({ all: 120, pending: 0 });
    expect(unknown).to.be.within(1, 4);
    expect(new Set(accepted()).size).to.equal(accepted().length);
  });

  for (const at of ['connect', 'sender'] as const)
    it(`leaves a relay out that answers 421 at ${at} for a while, without an attempt`, async () => {
      const [a, b] = relays();
      a.misbehave({ at, do: { code: 421, text: 'try later' } });
      b.holdAfter(10);
      const { id, worker } = await campaign(200);
      const run = worker.send();
      await b.received(10);
      await eventually(() => worker.relays.byName(nameOf(a))?.leftOut, { what: 'a relay that is left out' });
      expect(a.mails).to.deep.equal([]);
      a.behave();
      await a.received(10);
      b.behave();
      await run;
      expect(await standing(db, project, id)).to.include({ sent: 200, failed: 0, unknown: 0, pending: 0 });
      expect(await storedMails(db, { campaignId: id, attempts: 1 })).to.have.length(200);
      expect(accepted()).to.have.length(200);
    });

  it('waits without an attempt while no relay can be reached', async () => {
    const id = await mail();
    for (const relay of relays()) await relay.close();
    const sending = sender();
    const run = sending.send();
    await eventually(() => sending.relays.all.every(({ leftOut }) => leftOut), {
      what: 'two relays that are left out',
    });
    expect(await mailById(db, id)).to.include({ status: 'PENDING', attempts: 0 });
    await relays()[1].reopen();
    expect(await run).to.deep.equal(counts({ sent: 1 }));
    expect(await attemptsOf(id)).to.deep.equal([[nameOf(relays()[1]), 'sent']]);
  });

  describe('after an unknown outcome', () => {
    it('tries a mail once more at the same relay, also while that has more to do', async () => {
      const [a, b] = relays();
      const ids: string[] = [];
      for (let n = 0; n < 20; n++) ids.push(await mail());
      // Each relay drops the first copy that it gets of any of these, so one that changes the relay is dropped twice.
      for (const id of ids.slice(0, 6))
        for (const relay of relays())
          relay.misbehave({ at: 'accepted', to: `${id}@example.com`, do: 'drop', times: 1 });
      expect(await sender().send()).to.deep.equal(counts({ sent: 20, unknown: 6 }));
      const attempts = await Promise.all(ids.map(attemptsOf));
      const retried = attempts.filter((log) => log?.length === 2);
      expect(retried).to.have.length(6);
      for (const log of retried) expect(log?.[0]?.[0]).to.equal(log?.[1]?.[0]);
      expect([a.mails.length + b.mails.length, new Set(accepted()).size]).to.deep.equal([26, 20]);
    });

    it('waits for the same relay while that cannot be reached', async () => {
      const [a, b] = relays();
      const id = await mail();
      await putInFlight(db, id, { relay: nameOf(a) });
      await a.close();
      const sending = sender();
      const run = sending.send();
      await eventually(() => sending.relays.byName(nameOf(a))?.leftOut, { what: 'a relay that is left out' });
      const other = await mail();
      sending.sender.wake('mail');
      await b.received(1);
      expect(await mailById(db, id)).to.include({ status: 'PENDING', attempts: 1, unknownOutcomes: 1 });
      await a.reopen();
      expect(await run).to.deep.equal(counts({ sent: 2 }));
      expect(await attemptsOf(id)).to.deep.equal([
        [nameOf(a), 'unknown'],
        [nameOf(a), 'sent'],
      ]);
      expect(await attemptsOf(other)).to.deep.equal([[nameOf(b), 'sent']]);
    });

    it('ends UNKNOWN when that relay was removed, until a person sends it again', async () => {
      const [, b] = relays();
      const id = await mail();
      await putInFlight(db, id, { relay: 'old.example:25' });
      expect(await sender().send()).to.deep.equal(counts({}));
      const row = await mailById(db, id);
      expect(row).to.include({ status: 'UNKNOWN', attempts: 1, unknownOutcomes: 1 });
      expect(row.reason).to.equal('its outcome at old.example:25 is unknown, and that relay is no longer configured');
      expect(accepted()).to.deep.equal([]);
      await resendEmail(db, project.access, id);
      expect(await sender({ url: b.url }).send()).to.deep.equal(counts({ sent: 1 }));
      expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 2 });
    });
  });
});
