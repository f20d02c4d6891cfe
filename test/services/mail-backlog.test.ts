import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { mailBacklog } from '../../services/emails/backlog.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { addBatch, addMail } from '../support/ledger.ts';

describe('the backlog of mail', () => {
  let database: ConnectedDatabase;
  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  it('is zero without mail', async () => {
    const empty = { due: 0, later: 0, sending: 0, batches: 0, oldest: 0 };
    expect(await mailBacklog(database.db)).to.deep.equal(empty);
  });

  it('counts due, later and sending mail, in a batch or not, and no finished mail', async () => {
    const { db } = database;
    const [project, batchId] = [newId(), await addBatch(db)];
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await addMail(db, { project, dueAt: ago(10) });
    await addMail(db, { project, batchId, dueAt: ago(5) });
    await addMail(db, { project, dueAt: ago(-60) });
    await addMail(db, { project, batchId, status: 'SENDING', attempts: 1 });
    for (const status of ['SENT', 'FAILED', 'CANCELLED', 'UNKNOWN'] as const) {
      await addMail(db, { project, batchId, status, dueAt: ago(600) });
    }
    const backlog = await mailBacklog(db);
    expect(backlog).to.include({ due: 2, later: 1, sending: 1, batches: 1 });
    expect(backlog.oldest).to.be.within(600, 700);
  });
});
