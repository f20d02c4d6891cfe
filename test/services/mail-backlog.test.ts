import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { mailBacklog } from '../../services/emails/backlog.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { addMail } from '../support/ledger.ts';
import { putInFlight } from '../support/sending.ts';

describe('the backlog of mail', () => {
  let database: ConnectedDatabase;
  before(async () => {
    database = await connectTestDatabase();
  });
  after(() => database.close());

  it('is zero without mail', async () => {
    const empty = { due: 0, later: 0, sending: 0, leased: 0, oldest: 0 };
    expect(await mailBacklog(database.db)).to.deep.equal(empty);
  });

  it('counts due, later, leased and sending mail, and no finished mail', async () => {
    const { db } = database;
    const project = newId();
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await addMail(db, { project, dueAt: ago(10) });
    await addMail(db, { project, dueAt: ago(-60) });
    const leased = await addMail(db, { project, dueAt: ago(5) });
    await db('outgoing_mails').insert({ emailId: leased, senderId: newId(), projectId: project, contactId: newId() });
    await putInFlight(db, await addMail(db, { project }));
    for (const status of ['SENT', 'FAILED', 'CANCELLED', 'UNKNOWN'] as const) {
      await addMail(db, { project, status, dueAt: ago(600) });
    }
    const backlog = await mailBacklog(db);
    expect(backlog).to.include({ due: 3, later: 1, sending: 1, leased: 1 });
    expect(backlog.oldest).to.be.within(600, 700);
  });
});
