import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { connectDb, type Db } from '../../../db/connect.ts';
import { addManagedDomain } from '../../../services/domains/managed.ts';
import { attemptLogOf, type LoggedAttempt } from '../../../services/emails/attempts.ts';
import { recoverMails } from '../../../services/sending/recovery.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../../support/connected-database.ts';
import { addMail, addMails, mailById } from '../../support/ledger.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import {
  leaseToDeadSender,
  outgoingMails,
  removeContents,
  runningSenders,
  setMails,
  setOutgoingMails,
  storedMails,
} from '../../support/rows/mails.ts';
import { setProject } from '../../support/rows/projects.ts';
import { emptyTables, hideTable, refuseUpdates } from '../../support/rows/tables.ts';
import {
  counts,
  endLeases,
  inDoubt,
  putInFlight,
  putLeased,
  type TestSender,
  type TestSenderOptions,
  testSender,
} from '../../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('a sender', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let sending: TestSender;
  let project: string;
  const others: TestSender[] = [];

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    smtp = await startSmtp();
    project = (await makeProject(db)).id;
    await addManagedDomain(db, project, 'demo.localhost');
  });
  after(async () => {
    await smtp.close();
    await database.close();
  });
  beforeEach(async () => {
    await emptyTables(db, 'emails', 'email_bodies', 'email_contents', 'outgoing_mails', 'senders');
    await db('projects').update({ disabled: false });
    await smtp.reopen();
    smtp.behave();
    smtp.mails.length = 0;
    sending = testSender(database.url, { url: smtp.url, connections: 3 });
  });
  afterEach(async () => {
    for (const sender of [sending, ...others.splice(0)]) await sender.close();
  });

  /** A sender of another process. */
  const another = (options: Partial<TestSenderOptions> = {}): TestSender => {
    const sender = testSender(database.url, { url: smtp.url, connections: 3, ...options });
    others.push(sender);
    return sender;
  };
  const secondsUntilDue = async (id: string): Promise<number> => {
    const [row] = await storedMails(db, { id }).select(db.raw('extract(epoch from due_at - now()) as seconds'));
    return Number(row.seconds);
  };
  const messageIds = () => smtp.mails.map(({ messageId }) => messageId);

  it('sends every due mail once and leaves nothing but the ledger', async () => {
    const ids = await addMails(db, 20, { project });
    const later = await addMail(db, { project, dueAt: new Date(Date.now() + 3_600_000) });
    expect(await sending.send()).to.deep.equal(counts({ sent: 20 }));
    expect(messageIds()).to.have.members(ids.map((id) => `<${id}@demo.localhost>`));
    for (const id of ids) {
      const mail = await mailById(db, id);
      expect(mail).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0, reason: null });
      expect(mail.sentAt).to.be.instanceOf(Date);
      expect(mail.providerMessageId).to.match(/^stand-in-\d+$/);
    }
    expect(await outgoingMails(db)).to.deep.equal([]);
    expect(await runningSenders(db)).to.deep.equal([]);
    expect(await mailById(db, later)).to.include({ status: 'PENDING', attempts: 0 });
  });

  it('shares the mail with other senders, and each mail is sent once', async () => {
    const ids = await addMails(db, 300, { project });
    smtp.misbehave({ at: 'message', do: { delayMs: 3 } });
    const senders = [sending, another(), another()];
    const results = await Promise.all(senders.map((sender) => sender.send()));
    expect(results.reduce((sum, { sent }) => sum + sent, 0)).to.equal(300);
    expect(messageIds()).to.have.members(ids.map((id) => `<${id}@demo.localhost>`));
    expect(await storedMails(db, { status: 'SENT', attempts: 1 })).to.have.length(300);
  });

  it('schedules a deferred mail for a retry', async () => {
    const first = await addMail(db, { project });
    const third = await addMail(db, { project, attempts: 2 });
    smtp.misbehave({ at: 'recipient', do: { code: 450, text: 'greylisted' } });
    expect(await sending.send()).to.deep.equal(counts({ deferred: 2 }));
    const deferred = { status: 'PENDING', reason: '450 greylisted' };
    expect(await mailById(db, first)).to.include({ ...deferred, attempts: 1 });
    expect(await mailById(db, third)).to.include({ ...deferred, attempts: 3 });
    expect(await secondsUntilDue(first)).to.be.within(20, 72);
    expect(await secondsUntilDue(third)).to.be.within(690, 1_080);
  });

  it('fails a rejected mail with the answer of the server and sends the others', async () => {
    const bad = await addMail(db, { project, to: 'nobody@example.com' });
    const good = await addMail(db, { project });
    smtp.misbehave({ at: 'recipient', to: 'nobody@example.com', do: { code: 550, text: 'no such user' } });
    expect(await sending.send()).to.deep.equal(counts({ sent: 1, failed: 1 }));
    expect(await mailById(db, bad)).to.include({ status: 'FAILED', reason: '550 no such user', attempts: 1 });
    expect(await mailById(db, good)).to.include({ status: 'SENT' });
  });

  it('stores an answer whose cut would split a character', async () => {
    const bad = await addMail(db, { project, to: 'nobody@example.com' });
    const good = await addMail(db, { project });
    const text = `no such user ${'x'.repeat(482)}\u{1f600}`;
    smtp.misbehave({ at: 'recipient', to: 'nobody@example.com', do: { code: 550, text } });
    expect(await sending.send()).to.deep.equal(counts({ sent: 1, failed: 1 }));
    expect(await mailById(db, bad)).to.include({ status: 'FAILED', reason: `550 ${text.slice(0, -2)}`, attempts: 1 });
    expect(await mailById(db, good)).to.include({ status: 'SENT' });
  });

  it('leaves the mail of a disabled project PENDING with the reason, and counts no attempt', async () => {
    const mail = await addMail(db, { project });
    await setProject(db, project, { disabled: true });
    expect(await sending.send()).to.deep.equal(counts({ blocked: 1 }));
    const blocked = { status: 'PENDING', reason: 'project disabled', attempts: 0, attemptLog: null };
    expect(await mailById(db, mail)).to.include(blocked);
    expect(await secondsUntilDue(mail)).to.be.above(0);
    expect(smtp.mails).to.deep.equal([]);
    expect(await outgoingMails(db)).to.deep.equal([]);
  });

  it('does not send a mail that was cancelled after it was leased', async () => {
    await addMails(db, 3, { project, to: 'first@example.com' });
    smtp.misbehave({ at: 'recipient', do: 'hang' });
    const run = sending.send();
    await eventually(async () => (await inDoubt(db)).length === 3, { what: 'all connections in use' });
    const mail = await addMail(db, { project });
    sending.sender.wake('mail');
    await eventually(() => outgoingMails(db, { emailId: mail }).first(), { what: 'a lease' });
    await setMails(db, { id: mail }, { status: 'CANCELLED' });
    smtp.behave();
    expect(await run).to.deep.equal(counts({ sent: 3 }));
    expect(await mailById(db, mail)).to.include({ status: 'CANCELLED', attempts: 0 });
    expect(smtp.mails).to.have.length(3);
    expect(await outgoingMails(db)).to.deep.equal([]);
  });

  it('fails a mail whose content was deleted', async () => {
    const mail = await addMail(db, { project });
    await removeContents(db, { emailId: mail });
    expect(await sending.send()).to.deep.equal(counts({ failed: 1 }));
    expect(await mailById(db, mail)).to.include({
      status: 'FAILED',
      reason: 'its recipient or content no longer exists',
    });
  });

  it('counts no attempt while the SMTP server is unavailable, and sends once when it is back', async () => {
    const ids = await addMails(db, 5, { project });
    await smtp.close();
    const run = sending.send();
    await eventually(() => sending.relays.all[0]?.leftOut, { what: 'a relay that is left out' });
    for (const id of ids) expect(await mailById(db, id)).to.include({ status: 'PENDING', attempts: 0 });
    expect(await inDoubt(db)).to.deep.equal([]);
    await smtp.reopen();
    expect(await run).to.deep.equal(counts({ sent: 5 }));
    for (const id of ids) expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
    expect(smtp.mails).to.have.length(5);
  });

  it('sends over fewer connections when the server rejects some', async () => {
    await addMails(db, 12, { project });
    smtp.misbehave({ at: 'connect', do: { code: 421, text: 'too many connections' }, times: 2 });
    expect(await sending.send()).to.deep.equal(counts({ sent: 12 }));
    expect(smtp.mails).to.have.length(12);
    expect(await storedMails(db, { status: 'SENT', attempts: 1 })).to.have.length(12);
  });

  describe('that finds mail in flight of one that died', () => {
    it('counts an unknown outcome and retries once with the same Message-ID', async () => {
      const ids = [await addMail(db, { project }), await addMail(db, { project, sourceType: 'WORKFLOW', priority: 1 })];
      for (const id of ids) await putInFlight(db, id);
      expect(await sending.send()).to.deep.equal(counts({ sent: 2 }));
      for (const id of ids) {
        const mail = await mailById(db, id);
        expect(mail).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
        expect((mail.attemptLog as LoggedAttempt[]).map(({ number, outcome }) => [number, outcome])).to.deep.equal([
          [1, 'unknown'],
          [2, 'sent'],
        ]);
      }
      expect(messageIds()).to.have.members(ids.map((id) => `<${id}@demo.localhost>`));
    });

    it('ends it UNKNOWN the second time', async () => {
      const mail = await addMail(db, { project, attempts: 1, unknownOutcomes: 1 });
      await putInFlight(db, mail);
      expect(await sending.send()).to.deep.equal(counts({}));
      const reason = 'the outcome of attempt 2 is unknown: the worker was interrupted while sending';
      expect(await mailById(db, mail)).to.include({ status: 'UNKNOWN', attempts: 2, unknownOutcomes: 2, reason });
      expect(smtp.mails).to.deep.equal([]);
    });

    it('leaves the mail of a sender with a valid lease alone', async () => {
      smtp.misbehave({ at: 'accepted', do: 'hang' });
      const ids = await addMails(db, 3, { project });
      const run = sending.send();
      await smtp.received(3);
      expect(await another().send()).to.deep.equal(counts({}));
      expect(await recoverMails(db)).to.equal(0);
      smtp.behave();
      expect(await run).to.deep.equal(counts({ sent: 3 }));
      for (const id of ids) expect(await mailById(db, id)).to.include({ attempts: 1, unknownOutcomes: 0 });
      expect(smtp.mails).to.have.length(3);
    });

    it('frees mail that was leased and had not begun, without an attempt', async () => {
      const ids = await addMails(db, 2, { project });
      await leaseToDeadSender(db);
      expect(await sending.send()).to.deep.equal(counts({ sent: 2 }));
      for (const id of ids) expect(await mailById(db, id)).to.include({ attempts: 1, unknownOutcomes: 0 });
    });

    it('persists results that were stored, and sends nothing again', async () => {
      const mail = await addMail(db, { project });
      await putInFlight(db, mail);
      const result = { status: 'SENT', reason: null, outcome: 'sent', providerMessageId: 'q7', answer: '250 q7' };
      await setOutgoingMails(db, { endedAt: new Date(Date.now() - 60_000), result: JSON.stringify(result) });
      expect(await sending.send()).to.deep.equal(counts({}));
      expect(await mailById(db, mail)).to.include({ status: 'SENT', attempts: 1, providerMessageId: 'q7' });
      expect(smtp.mails).to.deep.equal([]);
    });
  });

  it('retries a mail once when the connection broke after it was accepted', async () => {
    const mail = await addMail(db, { project });
    smtp.misbehave({ at: 'accepted', do: 'drop', times: 1 });
    expect(await sending.send()).to.deep.equal(counts({ sent: 1, unknown: 1 }));
    expect(await mailById(db, mail)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
    expect(messageIds()).to.deep.equal(Array(2).fill(`<${mail}@demo.localhost>`));
  });

  it('ends a mail UNKNOWN when the outcome is unknown twice', async () => {
    const mail = await addMail(db, { project });
    smtp.misbehave({ at: 'message', do: 'drop', times: 2 });
    expect(await sending.send()).to.deep.equal(counts({ unknown: 2 }));
    expect(await mailById(db, mail)).to.include({ status: 'UNKNOWN', attempts: 2, unknownOutcomes: 2 });
    expect(await outgoingMails(db)).to.deep.equal([]);
  });

  it('begins no further mail when its lease is lost, and the results of mails in flight count', async () => {
    const ids = await addMails(db, 8, { project });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const run = sending.send({ stop: new AbortController().signal });
    await smtp.received(3);
    await endLeases(db);
    smtp.behave();
    expect(await run).to.deep.equal(counts({ sent: 3 }));
    expect(smtp.mails, 'nothing else was begun').to.have.length(3);
    const mails = await Promise.all(ids.map((id) => mailById(db, id)));
    expect(mails.filter(({ status }) => status === 'SENT')).to.have.length(3);
    expect(mails.filter(({ status, attempts }) => status === 'PENDING' && attempts === 0)).to.have.length(5);
    expect(await another().send(), 'the others are free at once').to.deep.equal(counts({ sent: 5 }));
    expect(new Set(messageIds()).size).to.equal(8);
  });

  it('has its late result accepted when recovery has taken the attempt for lost', async () => {
    const mail = await addMail(db, { project });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const run = sending.send({ stop: new AbortController().signal });
    await smtp.received(1);
    await endLeases(db);
    await recoverMails(db);
    expect(await mailById(db, mail)).to.include({ status: 'PENDING', attempts: 1, unknownOutcomes: 1 });
    smtp.behave();
    expect(await run).to.deep.equal(counts({ sent: 1 }));
    const row = await mailById(db, mail);
    expect(row).to.include({ status: 'SENT', attempts: 1, reason: null });
    expect(row.attemptLog).to.have.length(1);
    expect(row.attemptLog?.[0]).to.include({ number: 1, outcome: 'sent', answer: '250 queued as stand-in-1' });
    expect(await another().send()).to.deep.equal(counts({}));
    expect(smtp.mails).to.have.length(1);
  });

  it('has its late result accepted before the unknown outcome is persisted', async () => {
    const mail = await addMail(db, { project });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const run = sending.send({ stop: new AbortController().signal });
    await smtp.received(1);
    // As a process leaves it that dies in the middle of recovery.
    await endLeases(db);
    const result = { status: 'PENDING', reason: 'the outcome of attempt 1 is unknown', outcome: 'unknown' };
    await setOutgoingMails(db, { endedAt: new Date(), result: JSON.stringify(result) });
    smtp.behave();
    await run;
    await recoverMails(db);
    expect(await mailById(db, mail)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
  });

  it('has a late result ignored when a later attempt has begun', async () => {
    const mail = await addMail(db, { project });
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 1 });
    const run = sending.send({ stop: new AbortController().signal });
    await smtp.received(1);
    await endLeases(db);
    expect(await another().send()).to.deep.equal(counts({ sent: 1 }));
    smtp.behave();
    expect(await run).to.deep.equal(counts({}));
    expect(await mailById(db, mail)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
    expect(messageIds()).to.deep.equal(Array(2).fill(`<${mail}@demo.localhost>`));
  });

  it('finishes mails in flight, begins no others and gives its leases back when it is stopped', async () => {
    await addMails(db, 10, { project });
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 3 });
    const stop = new AbortController();
    const run = sending.send({ stop: stop.signal });
    await smtp.received(3);
    stop.abort();
    expect(await storedMails(db, { status: 'SENT' }), 'SMTP is not cut').to.have.length(0);
    smtp.behave();
    expect(await run).to.deep.equal(counts({ sent: 3 }));
    expect(smtp.mails).to.have.length(3);
    expect(await storedMails(db, { status: 'SENT' })).to.have.length(3);
    expect(await storedMails(db, { status: 'PENDING', attempts: 0 })).to.have.length(7);
    expect(await outgoingMails(db)).to.deep.equal([]);
    expect(await sending.send(), 'the leases are free at once').to.deep.equal(counts({ sent: 7 }));
    expect(smtp.mails).to.have.length(10);
  });

  it('is woken by new mail while it waits', async () => {
    const stop = new AbortController();
    const run = sending.send({ stop: stop.signal, untilIdle: false });
    await eventually(async () => (await runningSenders(db)).length === 1, { what: 'a running sender' });
    await addMail(db, { project });
    sending.sender.wake('mail');
    await smtp.received(1);
    stop.abort();
    expect(await run).to.deep.equal(counts({ sent: 1 }));
  });

  it('ends its run after a failed lease, so that mail is free that was leased with the answer lost', async () => {
    let failures = 0;
    const log = pino({ level: 'warn' }, { write: () => void failures++ });
    const sender = another({ log });
    const run = sender.send({ stop: new AbortController().signal, untilIdle: false });
    const { id } = await eventually(() => runningSenders(db).first(), { what: 'a running sender' });
    await db.transaction(async (trx) => putLeased(trx, await addMail(trx, { project }), id));
    await hideTable(db, 'emails');
    await eventually(() => failures > 0, { what: 'a failed lease' });
    await db.raw('alter table emails_hidden rename to emails');
    await run;
    expect(await outgoingMails(db)).to.deep.equal([]);
    expect(await sending.send()).to.deep.equal(counts({ sent: 1 }));
  });

  it('begins no mail before the result of the one before it is stored, also when the database failed', async () => {
    const sender = another({ connections: 1 });
    const ids = await addMails(db, 2, { project });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const run = sender.send();
    await smtp.received(1);
    const accept = await refuseUpdates(db, 'outgoing_mails');
    smtp.behave();
    // Long enough for several tries of both, which have pauses of different lengths.
    await sleep(1_800);
    await accept();
    expect(await run).to.deep.equal(counts({ sent: 2 }));
    const attempts = (await Promise.all(ids.map((id) => attemptLogOf(db, project, id)))).flat();
    const [first, second] = attempts.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    expect(Date.parse(second?.startedAt ?? '')).to.be.at.least(Date.parse(first?.endedAt ?? ''));
  });

  it('persists a result after an outage of the database', async () => {
    const postgres = await startOwnPostgres();
    const own = connectDb({ databaseUrl: postgres.url, poolSize: 5 });
    const sender = testSender(postgres.url, { url: smtp.url, connections: 3 });
    try {
      const { id } = await makeProject(own);
      await addManagedDomain(own, id, 'demo.localhost');
      const mail = await addMail(own, { project: id });
      smtp.misbehave({ at: 'accepted', do: 'hang' });
      const run = sender.send({ stop: new AbortController().signal });
      await smtp.received(1);
      await postgres.kill();
      smtp.behave();
      await postgres.start();
      expect(await run).to.deep.equal(counts({ sent: 1 }));
      await recoverMails(own);
      expect(await mailById(own, mail)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
      expect(smtp.mails).to.have.length(1);
    } finally {
      await sender.close();
      await own.destroy();
      await postgres.stop();
    }
  });
});
