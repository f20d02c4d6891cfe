import { ApplicationFailure } from '@temporalio/common';
import { expect } from 'chai';
import { emailActivities } from '../../activities/emails.ts';
import { connectDb, type Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { createMailer, type Mailer } from '../../platform/smtp/mailer.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { type Counts, noCounts } from '../../services/emails/delivery-settlement.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { addBatch, addMail, addMails, mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { testRenderer } from '../support/renderer.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { activityEnvironment } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const counts = (change: Partial<Counts>): Counts => ({ ...noCounts(), ...change });

interface Run {
  db?: Db;
  stopping?: AbortController;
  environment?: ReturnType<typeof activityEnvironment>;
}

describe('deliverBatch', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let mailer: Mailer;
  let project: string;

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
    await db.raw('truncate emails, email_contents, delivery_batches');
    await db('projects').update({ disabled: false });
    await smtp.reopen();
    smtp.behave();
    smtp.mails.length = 0;
    mailer = createMailer({ url: smtp.url, maxConnections: 3, timeouts: { connectMs: 2_000, silenceMs: 2_000 } });
  });
  afterEach(() => mailer.close(true));

  const deliver = (batchId: string, run: Run = {}): Promise<Counts> => {
    const handle = run.db ?? db;
    const { signal: stopping } = run.stopping ?? new AbortController();
    const { deliverBatch } = emailActivities({
      db: handle,
      mailer,
      renderer: testRenderer(),
      links: testLinks,
      ledger: new DeliveryLedger(handle, mailer.slots.size),
      stopping,
    });
    return (run.environment ?? activityEnvironment()).run(deliverBatch, batchId);
  };
  const failure = async (delivery: Promise<unknown>): Promise<ApplicationFailure> => {
    const error = await delivery.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ApplicationFailure).and.include({ nonRetryable: false });
    return error as ApplicationFailure;
  };
  const secondsUntilDue = async (id: string): Promise<number> => {
    const [row] = await db('emails').where({ id }).select(db.raw('extract(epoch from due_at - now()) as seconds'));
    return Number(row.seconds);
  };

  it('sends every mail of its batch once and deletes the batch', async () => {
    const batchId = await addBatch(db);
    const ids = await addMails(db, 20, { project, batchId });
    const other = await addMail(db, { project });
    expect(await deliver(batchId)).to.deep.equal(counts({ sent: 20 }));
    expect(smtp.mails.map(({ messageId }) => messageId)).to.have.members(ids.map((id) => `<${id}@demo.localhost>`));
    for (const id of ids) {
      const mail = await mailById(db, id);
      expect(mail).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0, reason: null, batchId });
      expect(mail.sentAt).to.be.instanceOf(Date);
      expect(mail.providerMessageId).to.match(/^stand-in-\d+$/);
    }
    expect(await db('delivery_batches')).to.deep.equal([]);
    expect(await mailById(db, other)).to.include({ status: 'PENDING', attempts: 0 });
  });

  it('returns no results when the batch is already done', async () => {
    const batchId = await addBatch(db);
    await addMail(db, { project, batchId });
    await deliver(batchId);
    expect(await deliver(batchId)).to.deep.equal(noCounts());
    expect(smtp.mails).to.have.length(1);
  });

  it('continues the counts of an earlier attempt', async () => {
    const batchId = await addBatch(db);
    await addMail(db, { project, batchId });
    const environment = activityEnvironment({ heartbeatDetails: counts({ sent: 7, failed: 1 }) });
    expect(await deliver(batchId, { environment })).to.deep.equal(counts({ sent: 8, failed: 1 }));
  });

  it('schedules a deferred mail for a retry and removes it from the batch', async () => {
    const batchId = await addBatch(db);
    const [first, third] = [
      await addMail(db, { project, batchId }),
      await addMail(db, { project, batchId, attempts: 2 }),
    ];
    smtp.misbehave({ at: 'recipient', do: { code: 450, text: 'greylisted' } });
    expect(await deliver(batchId)).to.deep.equal(counts({ deferred: 2 }));
    const putOff = { status: 'PENDING', batchId: null, reason: '450 greylisted' };
    expect(await mailById(db, first)).to.include({ ...putOff, attempts: 1 });
    expect(await mailById(db, third)).to.include({ ...putOff, attempts: 3 });
    expect(await secondsUntilDue(first)).to.be.within(20, 72);
    expect(await secondsUntilDue(third)).to.be.within(690, 1_080);
  });

  it('fails a rejected mail with the answer of the server and sends the others', async () => {
    const batchId = await addBatch(db);
    const bad = await addMail(db, { project, batchId, to: 'nobody@example.com' });
    const good = await addMail(db, { project, batchId });
    smtp.misbehave({ at: 'recipient', to: 'nobody@example.com', do: { code: 550, text: 'no such user' } });
    expect(await deliver(batchId)).to.deep.equal(counts({ sent: 1, failed: 1 }));
    expect(await mailById(db, bad)).to.include({ status: 'FAILED', reason: '550 no such user', attempts: 1 });
    expect(await mailById(db, good)).to.include({ status: 'SENT' });
  });

  it('blocks the mail of a disabled project, PENDING and with the reason', async () => {
    const batchId = await addBatch(db);
    const mail = await addMail(db, { project, batchId });
    await db('projects').where({ id: project }).update({ disabled: true });
    expect(await deliver(batchId)).to.deep.equal(counts({ held: 1 }));
    const held = { status: 'PENDING', reason: 'project disabled', attempts: 0, batchId: null };
    expect(await mailById(db, mail)).to.include(held);
    expect(await secondsUntilDue(mail)).to.be.above(0);
    expect(smtp.mails).to.deep.equal([]);
  });

  it('does not send a mail that was cancelled after it was batched', async () => {
    const batchId = await addBatch(db);
    const mail = await addMail(db, { project, batchId, status: 'CANCELLED' });
    expect(await deliver(batchId)).to.deep.equal(noCounts());
    expect(await mailById(db, mail)).to.include({ status: 'CANCELLED', attempts: 0 });
    expect(smtp.mails).to.deep.equal([]);
  });

  it('fails a mail whose content was deleted', async () => {
    const batchId = await addBatch(db);
    const mail = await addMail(db, { project, batchId });
    await db('email_contents').where({ emailId: mail }).del();
    expect(await deliver(batchId)).to.deep.equal(counts({ failed: 1 }));
    expect(await mailById(db, mail)).to.include({ status: 'FAILED', reason: 'its content is gone' });
  });

  it('counts no attempt while the SMTP server is unavailable, and sends once when it is back', async () => {
    const batchId = await addBatch(db);
    const ids = await addMails(db, 5, { project, batchId });
    await smtp.close();
    for (let attempt = 0; attempt < 3; attempt++) {
      const { message, nextRetryDelay } = await failure(deliver(batchId));
      expect(message).to.match(/^the SMTP server cannot be reached: .*ECONNREFUSED/);
      expect(nextRetryDelay, 'the back-off is Temporal’s').to.equal(undefined);
    }
    for (const id of ids) expect(await mailById(db, id)).to.include({ status: 'PENDING', attempts: 0, batchId });
    await smtp.reopen();
    expect(await deliver(batchId)).to.deep.equal(counts({ sent: 5 }));
    for (const id of ids) expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
    expect(smtp.mails).to.have.length(5);
  });

  it('sends over fewer connections when the server rejects some', async () => {
    const batchId = await addBatch(db);
    await addMails(db, 12, { project, batchId });
    smtp.misbehave({ at: 'connect', do: { code: 421, text: 'too many connections' }, times: 2 });
    expect(await deliver(batchId)).to.deep.equal(counts({ sent: 12 }));
    expect(smtp.mails).to.have.length(12);
  });

  describe('finding mail in flight', () => {
    it('counts an unknown outcome and retries once with the same Message-ID', async () => {
      const batchId = await addBatch(db);
      const lost = { project, batchId, status: 'SENDING', attempts: 1 } as const;
      const ids = [await addMail(db, lost), await addMail(db, { ...lost, sourceType: 'WORKFLOW', priority: 1 })];
      expect(await deliver(batchId)).to.deep.equal(counts({ sent: 2, unknown: 2 }));
      for (const id of ids) {
        expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
      }
      expect(smtp.mails.map(({ messageId }) => messageId)).to.have.members(ids.map((id) => `<${id}@demo.localhost>`));
    });

    it('ends UNKNOWN the second time, and the first time for a campaign', async () => {
      const batchId = await addBatch(db);
      const lost = { project, batchId, status: 'SENDING' } as const;
      const twice = await addMail(db, { ...lost, attempts: 2, unknownOutcomes: 1 });
      const campaign = await addMail(db, { ...lost, attempts: 1, sourceType: 'CAMPAIGN', priority: 2 });
      expect(await deliver(batchId)).to.deep.equal(counts({ unknown: 2 }));
      const reason = 'the outcome of attempt 2 is unknown: the worker was interrupted while it was sending';
      expect(await mailById(db, twice)).to.include({ status: 'UNKNOWN', unknownOutcomes: 2, reason });
      expect(await mailById(db, campaign)).to.include({ status: 'UNKNOWN', unknownOutcomes: 1 });
      expect(smtp.mails).to.deep.equal([]);
    });
  });

  it('retries a mail once when the connection broke after it was accepted', async () => {
    const batchId = await addBatch(db);
    const mail = await addMail(db, { project, batchId });
    smtp.misbehave({ at: 'accepted', do: 'drop', times: 1 });
    expect(await deliver(batchId)).to.deep.equal(counts({ sent: 1, unknown: 1 }));
    expect(await mailById(db, mail)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
    expect(smtp.mails.map(({ messageId }) => messageId)).to.deep.equal(Array(2).fill(`<${mail}@demo.localhost>`));
  });

  it('ends UNKNOWN when the outcome is unknown twice', async () => {
    const batchId = await addBatch(db);
    const mail = await addMail(db, { project, batchId });
    smtp.misbehave({ at: 'message', do: 'drop', times: 2 });
    expect(await deliver(batchId)).to.deep.equal(counts({ unknown: 2 }));
    expect(await mailById(db, mail)).to.include({ status: 'UNKNOWN', attempts: 2, unknownOutcomes: 2 });
    expect(await db('delivery_batches')).to.deep.equal([]);
  });

  it('rejects a second worker while the first has the lease', async () => {
    const batchId = await addBatch(db);
    await addMails(db, 3, { project, batchId });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const first = deliver(batchId);
    await smtp.received(3);
    const { message, nextRetryDelay } = await failure(deliver(batchId));
    expect(message).to.equal('another worker has this batch');
    expect(nextRetryDelay).to.be.within(1_000, 16_000);
    smtp.behave();
    expect(await first).to.deep.equal(counts({ sent: 3 }));
    expect(smtp.mails).to.have.length(3);
  });

  it('drops its connections and stops when another worker has the lease', async () => {
    const batchId = await addBatch(db);
    const ids = await addMails(db, 5, { project, batchId });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    mailer = createMailer({ url: smtp.url, maxConnections: 3 });
    const delivery = failure(deliver(batchId));
    await smtp.received(3);
    await db('delivery_batches').update({ leaseToken: newId() });
    expect((await delivery).message).to.equal('the lease on the batch is lost: somebody else has it');
    await eventually(() => smtp.connections().open === 0, { what: 'the end of the connections' });
    const mails = await Promise.all(ids.map((id) => mailById(db, id)));
    expect(
      mails.filter(({ status }) => status === 'PENDING'),
      'nothing new was begun',
    ).to.have.length(2);
    // The owner of the lease finds and counts them.
    expect(mails.filter(({ status }) => status === 'SENDING')).to.have.length(3);
  });

  it('finishes mails in flight, starts no others and releases the lease at shutdown', async () => {
    const batchId = await addBatch(db);
    await addMails(db, 10, { project, batchId });
    smtp.misbehave({ at: 'accepted', do: 'hang', times: 3 });
    const stopping = new AbortController();
    const delivery = failure(deliver(batchId, { stopping }));
    await smtp.received(3);
    stopping.abort(new Error('the worker is shutting down'));
    smtp.behave();
    expect((await delivery).message).to.equal('the worker is shutting down');
    expect(smtp.mails).to.have.length(3);
    expect(await db('emails').where({ status: 'SENT' })).to.have.length(3);
    expect(await db('emails').where({ status: 'PENDING', attempts: 0 })).to.have.length(7);
    expect(await deliver(batchId), 'the lease is free at once').to.deep.equal(counts({ sent: 7 }));
    expect(smtp.mails).to.have.length(10);
  });

  it('drops its connections when it is cancelled, and records unknown outcomes', async () => {
    const batchId = await addBatch(db);
    const mail = await addMail(db, { project, batchId });
    smtp.misbehave({ at: 'accepted', do: 'hang' });
    const environment = activityEnvironment();
    const delivery = deliver(batchId, { environment }).catch((error: Error) => error.name);
    await smtp.received(1);
    environment.cancel();
    expect(await delivery).to.equal('CancelledFailure');
    expect(await mailById(db, mail)).to.include({ status: 'PENDING', attempts: 1, unknownOutcomes: 1, batchId });
  });

  it('has at most twice as many mails in flight as connections', async () => {
    const batchId = await addBatch(db);
    await addMails(db, 60, { project, batchId });
    smtp.misbehave({ at: 'message', do: { delayMs: 5 } });
    const seen: number[] = [];
    const delivery = deliver(batchId);
    let over = false;
    const ended = delivery.finally(() => {
      over = true;
    });
    while (!over) seen.push((await db('emails').where({ status: 'SENDING' })).length);
    expect(await ended).to.deep.equal(counts({ sent: 60 }));
    expect(Math.max(...seen)).to.be.within(1, 6);
  });

  it('persists a result after an outage of the database', async () => {
    const postgres = await startOwnPostgres();
    const own = connectDb({ databaseUrl: postgres.url, poolSize: 5 });
    try {
      const { id } = await makeProject(own);
      await addManagedDomain(own, id, 'demo.localhost');
      const batchId = await addBatch(own);
      const mail = await addMail(own, { project: id, batchId });
      smtp.misbehave({ at: 'accepted', do: 'hang' });
      const delivery = deliver(batchId, { db: own });
      await smtp.received(1);
      await postgres.kill();
      smtp.behave();
      await postgres.start();
      expect(await delivery).to.deep.equal(counts({ sent: 1 }));
      expect(await mailById(own, mail)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
      expect(smtp.mails).to.have.length(1);
    } finally {
      await own.destroy();
      await postgres.stop();
    }
  });
});
