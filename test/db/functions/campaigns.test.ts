import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';
import { eventually } from '../../support/waiting.ts';

describe('database functions of campaigns', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const changeProject = (change: object) => database.db('projects').where({ id: database.projectId }).update(change);

  describe('campaign_block_reason', () => {
    const reason = (id: string) => database.value('select campaign_block_reason(?)', [id]);

    it('is null for a campaign from a verified domain, and null for an unknown one', async () => {
      expect(await reason(await database.addCampaign())).to.equal(null);
      expect(await reason(newId())).to.equal(null);
    });

    it('prefers the stored domain over that of the address', async () => {
      const other = { fromEmail: 'news@other.example' };
      expect(await reason(await database.addCampaign(other))).to.equal('domain not verified');
      expect(await reason(await database.addCampaign({ ...other, fromDomain: database.senderDomain }))).to.equal(null);
    });

    it('applies the cap of campaigns', async () => {
      const id = await database.addCampaign();
      await changeProject({ cappedSources: ['WORKFLOW'] });
      expect(await reason(id)).to.equal(null);
      await changeProject({ cappedSources: ['CAMPAIGN'] });
      expect(await reason(id)).to.equal('billing cap reached');
    });
  });

  describe('campaign_lock', () => {
    const lock = (id: string) => database.value('select campaign_lock(?)', [id]);

    it('returns the same key for the same campaign and another for another one', async () => {
      const [one, other] = [newId(), newId()];
      expect(await lock(one)).to.equal(await lock(one));
      expect(await lock(one)).to.not.equal(await lock(other));
    });
  });

  describe('write_campaign_mails', () => {
    let campaignId: string;
    let batchId: string;
    const token = newId();

    beforeEach(async () => {
      campaignId = await database.addCampaign({ status: 'SENDING' });
      batchId = newId();
      const leaseUntil = new Date(Date.now() + 60_000);
      await database
        .db('deliveryBatches')
        .insert({ id: batchId, priority: 2, campaignId, leaseToken: token, leaseUntil });
    });

    interface Mail {
      id: string;
      contactId: string;
      email: string;
    }
    const addMail = async (contact: object = {}, mail: object = {}): Promise<Mail> => {
      const email = `${newId()}@example.com`;
      const contactId = await database.addContact({ email, ...contact });
      return { id: await database.addEmail({ contactId, campaignId, batchId, ...mail }), contactId, email };
    };
    interface Result {
      id: string;
      number: number;
      result: object;
    }
    const write = (mails: Mail[], results: Result[] = [], lease = token, db = database.db) =>
      runSql(db, 'select * from write_campaign_mails(?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)', [
        campaignId,
        [batchId],
        [lease],
        mails.map(({ id }) => id),
        mails.map(() => 'Hello'),
        mails.map(({ email }) => email),
        results.map(({ id }) => id),
        results.map(({ number }) => number),
        JSON.stringify(results.map(({ result }) => result)),
      ]);
    const inFlight = () => database.db('campaignMailsInFlight').where({ campaignId }).orderBy('emailId');

    it('begins pending mails of the batch, with the number of the attempt', async () => {
      const mails = [await addMail(), await addMail({}, { attempts: 2 })];
      const begun = await write(mails);
      expect(begun).to.have.deep.members([
        { id: mails[0]?.id, verdict: 'go', reason: null, number: 1 },
        { id: mails[1]?.id, verdict: 'go', reason: null, number: 3 },
      ]);
      expect(
        (await inFlight()).map(({ emailId, recipient, result }) => ({ emailId, recipient, result })),
      ).to.deep.equal(mails.map(({ id, email }) => ({ emailId: id, recipient: email, result: null })));
    });

    it('begins no mail twice', async () => {
      const mail = await addMail();
      await write([mail]);
      expect(await write([mail])).to.deep.equal([]);
    });

    it('skips recipients that were deleted, unsubscribed or suppressed, each with its reason', async () => {
      const [deleted, unsubscribed, suppressed] = [
        await addMail(),
        await addMail({ subscribed: false }),
        await addMail(),
      ];
      await database.db('contacts').where({ id: deleted.contactId }).delete();
      await database.rows(
        `insert into suppressions (id, project_id, address_hash, reason) values (?, ?, address_hash(?, ?), 'HARD_BOUNCE')`,
        [newId(), database.projectId, database.projectId, suppressed.email],
      );
      const decisions = await write([deleted, unsubscribed, suppressed]);
      expect(decisions.map(({ id, verdict, reason }) => ({ id, verdict, reason }))).to.have.deep.members([
        { id: deleted.id, verdict: 'skip', reason: 'contact deleted' },
        { id: unsubscribed.id, verdict: 'skip', reason: 'unsubscribed' },
        { id: suppressed.id, verdict: 'skip', reason: 'suppressed' },
      ]);
      expect(await inFlight()).to.deep.equal([]);
    });

    it('sends transactional campaigns to unsubscribed contacts', async () => {
      await database.db('campaigns').where({ id: campaignId }).update({ type: 'TRANSACTIONAL' });
      const mail = await addMail({ subscribed: false });
      expect((await write([mail])).map(({ verdict }) => verdict)).to.deep.equal(['go']);
    });

    it('leaves out mail whose recipient has another address now, or that is no longer pending', async () => {
      const [moved, sent] = [await addMail(), await addMail({}, { status: 'SENT' })];
      await database.db('contacts').where({ id: moved.contactId }).update({ email: 'new@example.com' });
      expect(await write([moved, sent])).to.deep.equal([]);
    });

    it('begins nothing without a valid lease', async () => {
      const mail = await addMail();
      expect(await write([mail], [], newId())).to.deep.equal([]);
      await database
        .db('deliveryBatches')
        .where({ id: batchId })
        .update({ leaseUntil: new Date(Date.now() - 1000) });
      expect(await write([mail])).to.deep.equal([]);
      expect(await inFlight()).to.deep.equal([]);
    });

    it('stops when the campaign is paused or no longer sending', async () => {
      const mail = await addMail();
      const change = (columns: object) => database.db('campaigns').where({ id: campaignId }).update(columns);
      await change({ paused: true, pausedBy: 'USER' });
      expect(await write([mail])).to.deep.equal([{ id: mail.id, verdict: 'stopped', reason: null, number: 0 }]);
      await change({ paused: false, pausedBy: null, status: 'CANCELLED' });
      expect(await write([mail])).to.deep.equal([{ id: mail.id, verdict: 'stopped', reason: null, number: 0 }]);
    });

    it('reports why sending is blocked', async () => {
      const mail = await addMail();
      await changeProject({ disabled: true });
      expect(await write([mail])).to.deep.equal([
        { id: mail.id, verdict: 'blocked', reason: 'project disabled', number: 0 },
      ]);
    });

    it('stores results by mail and attempt, also when nothing is to begin, and reports superseded ones', async () => {
      const [first, second] = [await addMail(), await addMail()];
      await write([first, second]);
      const results = [
        { id: first.id, number: 1, result: { status: 'SENT' } },
        { id: second.id, number: 7, result: { status: 'SENT' } },
      ];
      expect(await write([], results)).to.deep.equal([{ id: second.id, verdict: 'late', reason: null, number: 7 }]);
      expect((await inFlight()).map(({ result, endedAt }) => [result, endedAt === null])).to.deep.equal([
        [{ status: 'SENT' }, false],
        [null, true],
      ]);
    });

    it('waits for a pause that holds the lock, and then begins nothing', async () => {
      const mail = await addMail();
      const pause = await database.db.transaction();
      await runSql(pause, 'select pg_advisory_xact_lock(campaign_lock(?))', [campaignId]);
      const written = write([mail]);
      await eventually(async () => {
        const waiting = await database.rows(
          "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'",
        );
        return waiting.length > 0;
      });
      await pause('campaigns').where({ id: campaignId }).update({ paused: true, pausedBy: 'USER' });
      await pause.commit();
      expect((await written).map(({ verdict }) => verdict)).to.deep.equal(['stopped']);
    });
  });
});
