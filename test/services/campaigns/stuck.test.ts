import { expect } from 'chai';
import { connectDb, type Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import { STUCK_REASON } from '../../../services/emails/delivery-isolation.ts';
import {
  addContacts,
  type CampaignWorker,
  campaignWorker,
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
import { type SmtpStandIn, startSmtp } from '../../support/smtp.ts';
import { eventually } from '../../support/waiting.ts';

describe('a campaign mail whose composing stops the worker', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: TestProject;

  before(async () => {
    [database, smtp] = await Promise.all([connectTestDatabase(), startSmtp()]);
    db = database.db;
    worker = campaignWorker(db, smtp.url);
  });
  after(async () => {
    worker?.close();
    await smtp?.close();
    await database?.close();
  });
  beforeEach(async () => {
    project = await makeProject(db);
    smtp.mails.length = 0;
  });

  const batch = (campaignId: string) => db('delivery_batches').where({ campaignId }).first('leaseToken', 'composing');
  /** Leaves the state of a worker that died and whose lease has expired. */
  const abandon = (campaignId: string, composing: string[] | null = null) =>
    db('delivery_batches')
      .where({ campaignId })
      .update({ leaseToken: newId(), leaseUntil: new Date(0), composing });
  const recipientsOf = (campaignId: string): Promise<string[]> =>
    db('emails').where({ campaignId }).orderBy('id').pluck('id');
  const mailOf = (id: string) => db('emails').where({ id }).first('status', 'reason', 'attempts');

  const frozen = async (contacts: number): Promise<string> => {
    await addContacts(db, project, contacts);
    const { id } = await startCampaign(db, project);
    expect(await worker.advance(id)).to.include({ kind: 'send' });
    return id;
  };

  /** A worker that dies, as far as the database can see, while it composes the first mail of the batch. */
  async function dieComposing(id: string, marks: string[]): Promise<void> {
    const name = `everpost-dying-${marks.length}`;
    const own = connectDb({ databaseUrl: database.url, poolSize: 3, name });
    const dying = campaignWorker(own, smtp.url);
    // The recipient's row cannot be read while its table is locked; all earlier reads have finished by then.
    const lock = await db.transaction();
    await lock.raw('lock table contacts in access exclusive mode');
    const slice = dying.slice(id).catch(() => {});
    await eventually(async () => (await batch(id)).composing?.length === marks.length, { what: 'the mark' });
    expect((await batch(id)).composing).to.deep.equal(marks);
    // Its results come too late from now on.
    await abandon(id, marks);
    await db.raw('select pg_terminate_backend(pid) from pg_stat_activity where application_name = ?', [name]);
    await slice;
    await lock.rollback();
    dying.close();
    await own.destroy();
  }

  it('ends FAILED after two interrupted composings, and the others are sent once', async () => {
    const id = await frozen(8);
    const [stuck = ''] = await recipientsOf(id);
    await abandon(id);
    await dieComposing(id, [stuck]);
    expect(await standing(db, project, id)).to.include({ pending: 8 });
    await dieComposing(id, [stuck, stuck]);
    expect(await standing(db, project, id)).to.include({ pending: 8 });
    expect(await worker.run(id)).to.include({ kind: 'end' });
    expect(await standing(db, project, id)).to.include({ sent: 7, failed: 1, pending: 0, unknown: 0 });
    expect(await rowsOf(db, id)).to.deep.equal({ sent: 7, failed: 1 });
    expect(await mailOf(stuck)).to.deep.equal({ status: 'FAILED', reason: STUCK_REASON, attempts: 0 });
    expect(smtp.mails).to.have.lengthOf(7);
    expect(new Set(smtp.mails.flatMap(({ to }) => to)).size).to.equal(7);
  });

  it('is sent when it is marked once', async () => {
    const id = await frozen(3);
    const [once = ''] = await recipientsOf(id);
    await abandon(id, [once]);
    await worker.run(id);
    expect(await standing(db, project, id)).to.include({ sent: 3, failed: 0 });
  });

  it('pauses the campaign when it is the third', async () => {
    const id = await frozen(6);
    const stuck = (await recipientsOf(id)).slice(0, 3);
    await abandon(id, [...stuck, ...stuck]);
    expect(await worker.run(id)).to.include({ kind: 'wait' });
    expect(await standing(db, project, id)).to.include({ failed: 3, pending: 3, sent: 0 });
    const { paused, pausedBy, pauseReason } = await db('campaigns').where({ id }).first();
    expect({ paused, pausedBy }).to.deep.equal({ paused: true, pausedBy: 'AUTO_PAUSE' });
    expect(pauseReason).to.equal('3 of its mails stopped the worker while they were written');
    expect(smtp.mails).to.deep.equal([]);
  });
});
