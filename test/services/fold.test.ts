import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { dissolveStaleBatches } from '../../services/emails/delivery-batch.ts';
import { batchDueMail, MAX_BATCH, MAX_BATCHES, MAX_WITH_NEWCOMERS } from '../../services/emails/fold.ts';
import { claimOutboxMessages } from '../../services/outbox/claim.ts';
import { NO_PROJECT } from '../../services/outbox/ids.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { addBatch, addMail, addMails, mailById } from '../support/ledger.ts';

describe('batching due mail', () => {
  let database: ConnectedDatabase;
  let db: Db;

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
  });
  after(() => database.close());
  beforeEach(() => db.raw('truncate emails, email_contents, delivery_batches, outbox'));

  const batchedMail = () => db('emails').whereNotNull('batchId').pluck('id');

  it('creates a batch and its outbox message for a single mail', async () => {
    const mail = await addMail(db, { project: newId() });
    expect(await batchDueMail(db, 0)).to.equal(1);
    const { batchId } = await mailById(db, mail);
    expect(await db('delivery_batches').pluck('id')).to.deep.equal([batchId]);
    const [message] = await claimOutboxMessages(db, 'mail', 10);
    expect(message).to.deep.include({
      action: 'start',
      workflowType: 'delivery',
      workflowId: `delivery/${batchId}`,
      projectId: NO_PROJECT,
      args: [{ batchId }],
    });
  });

  it('creates nothing without due mail', async () => {
    expect(await batchDueMail(db, 0)).to.equal(0);
    expect(await db('delivery_batches')).to.deep.equal([]);
    expect(await db('outbox')).to.deep.equal([]);
  });

  it('batches only mail that is PENDING, due and in no batch', async () => {
    const project = newId();
    const due = await addMail(db, { project });
    await addMail(db, { project, dueAt: new Date(Date.now() + 60_000) });
    await addMail(db, { project, status: 'CANCELLED' });
    await addMail(db, { project, status: 'SENDING' });
    await addMail(db, { project, batchId: newId() });
    expect(await batchDueMail(db, 0)).to.equal(1);
    expect((await mailById(db, due)).batchId).to.be.a('string');
  });

  it('batches workflow and transactional mail separately, and no campaign mail', async () => {
    const project = newId();
    const transactional = await addMail(db, { project });
    const workflow = await addMail(db, { project, sourceType: 'WORKFLOW', priority: 1 });
    await addMail(db, { project, sourceType: 'CAMPAIGN', priority: 2 });
    expect(await batchDueMail(db, 0)).to.equal(1);
    expect(await batchedMail()).to.deep.equal([transactional]);
    expect(await batchDueMail(db, 1)).to.equal(1);
    expect(await batchedMail()).to.have.members([transactional, workflow]);
    expect(await db('delivery_batches').orderBy('priority').pluck('priority')).to.deep.equal([0, 1]);
  });

  it('serves projects round-robin when there is more mail than fits into a batch', async () => {
    const [big, small] = [newId(), newId()];
    await addMails(db, MAX_BATCH + 20, { project: big });
    const late = await addMails(db, 3, { project: small });
    expect(await batchDueMail(db, 0)).to.equal(MAX_BATCH);
    expect(await batchedMail()).to.include.members(late);
    expect(await batchDueMail(db, 0)).to.equal(23);
  });

  it('creates no batch at the limit of batches of its priority', async () => {
    const project = newId();
    const batches: string[] = [];
    for (let n = 0; n < MAX_BATCHES; n++) batches.push(await addBatch(db, { priority: 0 }));
    await addMail(db, { project, batchId: batches[0] ?? '' });
    await addMail(db, { project });
    await addMail(db, { project, priority: 1 });
    expect(await batchDueMail(db, 0)).to.equal(0);
    expect(await batchDueMail(db, 1), 'the other priority is not limited').to.equal(1);
    await db('delivery_batches')
      .where({ id: batches[1] ?? '' })
      .del();
    expect(await batchDueMail(db, 0)).to.equal(1);
  });

  it('reserves batches for projects without mail in a batch when others fill the limit', async () => {
    const [busy, newcomer] = [newId(), newId()];
    for (let n = 0; n < MAX_BATCHES; n++) await addMail(db, { project: busy, batchId: await addBatch(db) });
    await addMails(db, 5, { project: busy });
    const its = await addMails(db, 2, { project: newcomer });
    expect(await batchDueMail(db, 0)).to.equal(2);
    for (const id of its) expect((await mailById(db, id)).batchId).to.be.a('string');
    await addMail(db, { project: newcomer });
    expect(await batchDueMail(db, 0), 'its mail is in a batch now').to.equal(0);
    for (let n = MAX_BATCHES + 1; n < MAX_WITH_NEWCOMERS; n++) await addBatch(db);
    await addMail(db, { project: newId() });
    expect(await batchDueMail(db, 0), 'the reserve is limited too').to.equal(0);
  });

  it('puts every mail into exactly one batch when 6 relays run', async () => {
    for (const project of [newId(), newId(), newId()]) await addMails(db, 10, { project });
    const counts = await Promise.all(Array.from({ length: 6 }, () => batchDueMail(db, 0)));
    expect(counts.reduce((sum, count) => sum + count)).to.equal(30);
    expect(await batchedMail()).to.have.length(30);
    expect(await db('delivery_batches')).to.have.length(counts.filter(Boolean).length);
    expect(await db('outbox')).to.have.length(counts.filter(Boolean).length);
  });

  describe('stale batches', () => {
    const stale = { leaseUntil: '-infinity', createdAt: new Date(Date.now() - 3_600_000) };
    const dissolve = () => dissolveStaleBatches(db, newId());

    it('are dissolved, so that their mail is batched again', async () => {
      const batchId = await addBatch(db);
      await db('delivery_batches').update(stale);
      const mail = await addMail(db, { project: newId(), batchId });
      expect(await dissolve()).to.equal(1);
      expect(await mailById(db, mail)).to.include({ status: 'PENDING', batchId: null, attempts: 0 });
      expect(await db('delivery_batches')).to.deep.equal([]);
      expect(await batchDueMail(db, 0)).to.equal(1);
    });

    it('count an unknown outcome for mail in status SENDING', async () => {
      const batchId = await addBatch(db);
      await db('delivery_batches').update(stale);
      const lost = { project: newId(), batchId, status: 'SENDING', attempts: 1 } as const;
      const [first, second, campaign, sent] = [
        await addMail(db, lost),
        await addMail(db, { ...lost, attempts: 2, unknownOutcomes: 1 }),
        await addMail(db, { ...lost, sourceType: 'CAMPAIGN', priority: 2 }),
        await addMail(db, { ...lost, status: 'SENT' }),
      ];
      expect(await dissolve()).to.equal(1);
      expect(await mailById(db, first)).to.include({ status: 'PENDING', unknownOutcomes: 1, batchId: null });
      expect(await mailById(db, second)).to.include({ status: 'UNKNOWN', unknownOutcomes: 2 });
      expect(await mailById(db, campaign)).to.include({ status: 'UNKNOWN', unknownOutcomes: 1 });
      expect(await mailById(db, sent)).to.include({ status: 'SENT', unknownOutcomes: 0 });
    });

    it('are kept while new, leased or waiting in the outbox', async () => {
      await addBatch(db);
      const leased = await addBatch(db);
      await db('delivery_batches')
        .where({ id: leased })
        .update({ ...stale, leaseUntil: db.fn.now() });
      await addMail(db, { project: newId() });
      await batchDueMail(db, 0);
      const [waiting] = await db('outbox');
      await db('delivery_batches').where({ id: waiting.payload.resourceId }).update(stale);
      expect(await dissolve()).to.equal(0);
      await db('outbox').update({ parkedAt: db.fn.now() });
      expect(await dissolve(), 'a parked message does not keep its batch').to.equal(1);
    });
  });
});
