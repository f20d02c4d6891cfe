import { expect } from 'chai';
import { emailActivities } from '../../activities/emails.ts';
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { createMailer, type Mailer } from '../../platform/smtp/mailer.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { storeAttachments } from '../../services/emails/attachments.ts';
import { STUCK_REASON } from '../../services/emails/delivery-isolation.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { type Counts, noCounts } from '../../services/emails/delivery-settlement.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { addBatch, addMail, addMails, mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { activityEnvironment } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('deliverBatch after a lease has expired', () => {
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
    await db.raw('truncate emails, email_contents, unpublished_email_results, delivery_batches');
    await smtp.reopen();
    smtp.behave();
    smtp.mails.length = 0;
    mailer = createMailer({ url: smtp.url, maxConnections: 3 });
  });
  afterEach(() => mailer.close(true));

  const deliver = (batchId: string, handle: Db = db): Promise<Counts> => {
    const { deliverBatch } = emailActivities({
      db: handle,
      mailer,
      renderer: testRenderer(),
      links: testLinks,
      ledger: new DeliveryLedger(handle, mailer.slots.size),
      stopping: new AbortController().signal,
    });
    return activityEnvironment().run(deliverBatch, batchId);
  };
  const batch = (id: string) => db('delivery_batches').where({ id }).first('leaseToken', 'composing');
  /** Leaves the state of a worker that died and whose lease has expired. */
  const abandon = (id: string, composing: string[] | null = null) =>
    db('delivery_batches')
      .where({ id })
      .update({ leaseToken: newId(), leaseUntil: new Date(0), composing });

  it('marks no mail when the previous lease was released', async () => {
    const batchId = await addBatch(db);
    const ids = await addMails(db, 3, { project, batchId });
    smtp.misbehave({ at: 'connect', do: 'drop' });
    await deliver(batchId).catch(() => {});
    expect(await batch(batchId)).to.deep.equal({ leaseToken: null, composing: null });
    smtp.behave();
    smtp.misbehave({ at: 'recipient', to: `${ids[2]}@example.com`, do: 'hang' });
    const delivery = deliver(batchId);
    await smtp.received(2);
    expect((await batch(batchId)).composing).to.equal(null);
    smtp.behave();
    expect(await delivery).to.deep.equal({ ...noCounts(), sent: 3 });
    for (const id of ids) expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
  });

  it('sends every mail once and leaves no mark', async () => {
    const batchId = await addBatch(db);
    await addMails(db, 20, { project, batchId });
    // Stays in the batch, so that its row can be read.
    const waiting = await addMail(db, { project, batchId, status: 'SENDING', attempts: 1 });
    await abandon(batchId);
    smtp.misbehave({ at: 'recipient', to: `${waiting}@example.com`, do: 'hang' });
    const delivery = deliver(batchId);
    await smtp.received(20);
    await eventually(async () => (await batch(batchId)).composing?.length === 0, { what: 'a batch without marks' });
    smtp.behave();
    expect(await delivery).to.deep.equal({ ...noCounts(), sent: 21, unknown: 1 });
    expect(smtp.mails).to.have.length(21);
  });

  it('sends a mail that is marked once', async () => {
    const batchId = await addBatch(db);
    const id = await addMail(db, { project, batchId });
    await abandon(batchId, [id]);
    expect(await deliver(batchId)).to.deep.equal({ ...noCounts(), sent: 1 });
    expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
  });

  it('ends a mail that is marked twice FAILED without an attempt, and sends the others', async () => {
    const batchId = await addBatch(db);
    const stuck = await addMail(db, { project, batchId });
    const others = await addMails(db, 3, { project, batchId });
    await abandon(batchId, [stuck, stuck]);
    expect(await deliver(batchId)).to.deep.equal({ ...noCounts(), sent: 3, failed: 1 });
    expect(await mailById(db, stuck)).to.include({ status: 'FAILED', attempts: 0, reason: STUCK_REASON });
    expect(await db('email_attempts').where({ emailId: stuck })).to.deep.equal([]);
    expect(
      await db('unpublished_email_results').where({ emailId: stuck }),
      'email.failed will be recorded',
    ).to.have.length(1);
    for (const id of others) expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1 });
    expect(smtp.mails).to.have.length(3);
  });

  it('marks one mail at a time in the whole process, whatever the number of batches', async () => {
    const batches = [await addBatch(db), await addBatch(db)];
    const lock = await db.transaction();
    const setId = await storeAttachments(db, [
      {
        filename: 'a.txt',
        contentType: 'text/plain',
        contentId: null,
        disposition: 'attachment',
        content: Buffer.from('a'),
      },
    ]);
    for (const batchId of batches) {
      const id = await addMail(db, { project, batchId });
      await db('email_contents').where({ emailId: id }).update({ attachmentSet: setId });
      await abandon(batchId);
    }
    // Composing waits while the table of the attachments is locked.
    await lock.raw('lock table email_attachments in access exclusive mode');
    const deliveries = batches.map((id) => deliver(id));
    const marks = async (): Promise<string[]> =>
      (await db('delivery_batches').whereIn('id', batches).pluck('composing')).flatMap((ids) => ids ?? []);
    await eventually(async () => (await marks()).length > 0, { what: 'a mark' });
    await eventually(
      async () =>
        (await db('delivery_batches').whereNotNull('leaseToken').where('leaseUntil', '>', db.fn.now())).length === 2,
      { what: 'both batches in hand' },
    );
    expect(await marks()).to.have.length(1);
    await lock.rollback();
    for (const delivery of deliveries) expect(await delivery).to.deep.equal({ ...noCounts(), sent: 1 });
  });
});
