import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';
import { eventually } from '../../support/waiting.ts';

interface Mail {
  id: string;
  contactId: string;
  email: string;
}

describe('database functions of sending', () => {
  let database: FunctionTestDatabase;
  let senderId: string;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(async () => {
    await database.renew();
    await database.db.raw('truncate outgoing_mails, senders, emails');
    senderId = await addSender();
  });
  after(() => database.close());

  const addSender = async (leaseUntil = new Date(Date.now() + 60_000)): Promise<string> => {
    const id = newId();
    await database.db('senders').insert({ id, leaseUntil });
    return id;
  };
  const endLease = () =>
    database
      .db('senders')
      .where({ id: senderId })
      .update({ leaseUntil: new Date(Date.now() - 1_000) });
  const addMail = async (columns: object = {}, contact: object = {}): Promise<Mail> => {
    const email = `${newId()}@example.com`;
    const contactId = await database.addContact({ email, ...contact });
    return { id: await database.addEmail({ contactId, ...columns }), contactId, email };
  };
  const outgoing = () => database.db('outgoingMails').orderBy('emailId');
  const idsOf = (rows: { id?: unknown }[]) => rows.map(({ id }) => id);

  describe('lease_mails', () => {
    const lease = (limit = 10, priority = 0, sender = senderId) =>
      database.rows('select * from lease_mails(?, ?::smallint, ?)', [sender, priority, limit]);

    it('leases due mail of its priority, the longest due first', async () => {
      const second = await addMail({ dueAt: new Date(Date.now() - 1_000) });
      const first = await addMail({ dueAt: new Date(Date.now() - 2_000) });
      await addMail({ dueAt: new Date(Date.now() + 60_000) });
      await addMail({ priority: 1 });
      await addMail({ status: 'SENT' });
      expect(idsOf(await lease())).to.deep.equal([first.id, second.id]);
      expect((await outgoing()).map(({ senderId: owner, startedAt }) => [owner, startedAt])).to.deep.equal([
        [senderId, null],
        [senderId, null],
      ]);
    });

    it('leases no mail twice', async () => {
      await addMail();
      expect(await lease()).to.have.length(1);
      expect(await lease()).to.deep.equal([]);
      expect(await lease(10, 0, await addSender())).to.deep.equal([]);
    });

    it('takes turns between projects', async () => {
      for (let n = 0; n < 20; n++) await addMail({ dueAt: new Date(Date.now() - 10_000) });
      await database.renew();
      const other = await addMail();
      expect(idsOf(await lease(4))).to.include(other.id);
    });

    it('leases no campaign mail', async () => {
      await addMail({ campaignId: await database.addCampaign({ status: 'SENDING' }) });
      expect(await lease()).to.deep.equal([]);
    });

    it('leases nothing without a valid lease of the sender', async () => {
      await addMail();
      expect(await lease(10, 0, newId())).to.deep.equal([]);
      await endLease();
      expect(await lease()).to.deep.equal([]);
    });

    it('names the relay of the last attempt, and whether its outcome is unknown', async () => {
      const attemptLog = JSON.stringify([
        { number: 1, relay: 'one:25' },
        { number: 2, relay: 'two:25' },
      ]);
      const mail = await addMail({ unknownOutcomes: 1, attemptLog });
      expect(await lease()).to.deep.equal([
        { id: mail.id, project_id: database.projectId, relay: 'two:25', is_retry_of_unknown: true, body_bytes: 0 },
      ]);
    });
  });

  describe('lease_campaign_mails', () => {
    it('leases for processes of the previous version', async () => {
      const campaignId = await database.addCampaign({ status: 'SENDING' });
      const mail = await addMail({ campaignId });
      const lease = () =>
        database.rows("select * from lease_campaign_mails(?, ?, 10, '-infinity', ?)", [
          senderId,
          campaignId,
          '00000000-0000-0000-0000-000000000000',
        ]);
      const [leased] = await lease();
      expect(leased).to.include({ id: mail.id, recipient: mail.email });
      expect(await lease()).to.deep.equal([]);
    });
  });

  describe('lease_campaign_recipients', () => {
    const START = ['-infinity', '00000000-0000-0000-0000-000000000000'];
    let campaignId: string;

    beforeEach(async () => {
      campaignId = await database.addCampaign({ status: 'SENDING' });
    });
    const lease = (limit = 10, [due, id] = START) =>
      database.rows('select *, due_at::text from lease_campaign_recipients(?, ?, ?, ?, ?)', [
        senderId,
        campaignId,
        limit,
        due,
        id,
      ]);

    it('leases due mail of the campaign with its recipient, and continues after a position', async () => {
      const dueAt = new Date(Date.now() - 1_000);
      const mails = [await addMail({ campaignId, dueAt }), await addMail({ campaignId, dueAt })];
      await addMail({ campaignId: await database.addCampaign({ status: 'SENDING' }) });
      const [first] = await lease(1);
      expect(first).to.include({ id: mails[0]?.id, contact_id: mails[0]?.contactId, email: mails[0]?.email });
      expect(first).to.include({ subscribed: true }).and.to.include.keys('created_at', 'data');
      expect(idsOf(await lease(10, [String(first?.due_at), String(first?.id)]))).to.deep.equal([mails[1]?.id]);
      expect(await lease()).to.deep.equal([]);
    });

    it('leases nothing while the campaign is paused or not sending', async () => {
      await addMail({ campaignId });
      const change = (columns: object) => database.db('campaigns').where({ id: campaignId }).update(columns);
      await change({ paused: true, pausedBy: 'USER' });
      expect(await lease()).to.deep.equal([]);
      await change({ paused: false, pausedBy: null, status: 'CANCELLED' });
      expect(await lease()).to.deep.equal([]);
    });

    it('leases nothing without a valid lease of the sender', async () => {
      await addMail({ campaignId });
      await endLease();
      expect(await lease()).to.deep.equal([]);
    });
  });

  describe('write_outgoing_mails', () => {
    interface Result {
      id: string;
      number: number;
      result: object;
    }
    const write = (mails: Mail[], results: Result[] = [], campaigns: string[] = [], db = database.db) =>
      runSql(db, 'select * from write_outgoing_mails(?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb)', [
        senderId,
        mails.map(({ id }) => id),
        mails.map(({ email }) => email),
        mails.map(() => 'Hello'),
        mails.map(() => database.senderDomain),
        mails.map(() => 'relay:25'),
        campaigns,
        results.map(({ id }) => id),
        results.map(({ number }) => number),
        JSON.stringify(results.map(({ result }) => result)),
      ]);
    const addLeased = async (columns: object = {}, contact: object = {}): Promise<Mail> => {
      const mail = await addMail(columns, contact);
      const { projectId } = database;
      await database.db('outgoingMails').insert({ emailId: mail.id, senderId, projectId, contactId: mail.contactId });
      return mail;
    };
    const verdicts = (rows: Record<string, unknown>[]) =>
      rows.map(({ id, verdict, reason }) => ({ id, verdict, reason }));
    const suppress = (mail: Mail) =>
      database.rows(
        `insert into suppressions (id, project_id, address_hash, reason) values (?, ?, address_hash(?, ?), 'HARD_BOUNCE')`,
        [newId(), database.projectId, database.projectId, mail.email],
      );

    it('begins leased mails with the number of the attempt', async () => {
      const mails = [await addLeased(), await addLeased({ attempts: 2, unknownOutcomes: 1 })];
      expect(await write(mails)).to.have.deep.members([
        { id: mails[0]?.id, verdict: 'go', reason: null, number: 1, unknown_outcomes: 0 },
        { id: mails[1]?.id, verdict: 'go', reason: null, number: 3, unknown_outcomes: 1 },
      ]);
      const rows = await outgoing();
      expect(rows.map(({ recipient, relay, result }) => ({ recipient, relay, result }))).to.have.deep.members(
        mails.map(({ email }) => ({ recipient: email, relay: 'relay:25', result: null })),
      );
      expect(rows.every(({ startedAt }) => startedAt instanceof Date)).to.equal(true);
    });

    it('begins no mail that has ended, is not leased by the sender or is no longer pending', async () => {
      const ended = await addLeased();
      const free = await addMail();
      const sent = await addLeased({ status: 'SENT' });
      const others = await addLeased();
      await write([ended]);
      await write([], [{ id: ended.id, number: 1, result: { status: 'SENT' } }]);
      await database
        .db('outgoingMails')
        .where({ emailId: others.id })
        .update({ senderId: await addSender() });
      const mails = [ended, free, sent, others];
      expect(verdicts(await write(mails))).to.have.deep.members(
        mails.map(({ id }) => ({ id, verdict: 'gone', reason: null })),
      );
    });

    it('begins a mail again, as the same attempt, when the sender did not learn that it has begun', async () => {
      const mail = await addLeased();
      const [first] = await write([mail]);
      expect(first).to.include({ verdict: 'go', number: 1 });
      expect(await write([mail])).to.deep.equal([first]);
    });

    it('begins nothing without a valid lease of the sender', async () => {
      const mail = await addLeased();
      await endLease();
      expect(verdicts(await write([mail]))).to.deep.equal([{ id: mail.id, verdict: 'lost', reason: null }]);
    });

    it('reports why mail is blocked, and whether its address is suppressed', async () => {
      const suppressed = await addLeased();
      const other = await addLeased();
      await suppress(suppressed);
      expect(verdicts(await write([suppressed]))).to.deep.equal([
        { id: suppressed.id, verdict: 'suppressed', reason: 'suppressed' },
      ]);
      await database.db('projects').where({ id: database.projectId }).update({ disabled: true });
      expect(verdicts(await write([other]))).to.deep.equal([
        { id: other.id, verdict: 'blocked', reason: 'project disabled' },
      ]);
    });

    it('stores results by mail and attempt, also twice, and reports those of no attempt in flight', async () => {
      const first = await addLeased();
      const second = await addLeased();
      await write([first, second]);
      const stored = { id: first.id, number: 1, result: { status: 'SENT' } };
      const late = { id: second.id, number: 7, result: { status: 'SENT' } };
      for (let times = 0; times < 2; times++)
        expect(verdicts(await write([], [stored, late]))).to.deep.equal([
          { id: second.id, verdict: 'late', reason: null },
        ]);
      expect((await outgoing()).map(({ result, endedAt }) => [result, endedAt === null])).to.deep.equal([
        [{ status: 'SENT' }, false],
        [null, true],
      ]);
    });

    it('skips MARKETING and HEADLESS mail whose recipient may not get it any more, and no TRANSACTIONAL mail', async () => {
      const contact = { subscribed: false };
      const [plain, left] = [await addLeased({}, contact), await addLeased({ needsSubscription: true }, contact)];
      const snoozed = await addLeased({ needsSubscription: true }, { snoozedUntil: '2999-01-01' });
      const stranger = { ...(await addLeased({ needsSubscription: true }, contact)), email: 'stranger@example.com' };
      expect(verdicts(await write([plain, left, snoozed, stranger]))).to.have.deep.members([
        { id: plain.id, verdict: 'go', reason: null },
        { id: left.id, verdict: 'skip', reason: 'unsubscribed' },
        { id: snoozed.id, verdict: 'skip', reason: 'snoozed' },
        { id: stranger.id, verdict: 'go', reason: null },
      ]);
    });

    it('asks for the state of the topic of mail and campaigns', async () => {
      const { projectId } = database;
      const topicId = newId();
      const topic = { id: topicId, projectId, key: 'news', name: 'News', kind: 'MARKETING', visibility: 'PUBLIC' };
      await database.db('topics').insert({ ...topic, defaultState: 'SUBSCRIBED', position: 1 });
      await database.rows(
        `insert into topic_defaults (topic_id, since, project_id, state) values (?, '-infinity', ?, 'SUBSCRIBED')`,
        [topicId, projectId],
      );
      const campaignId = await database.addCampaign({ status: 'SENDING', topicId });
      const sources = [{ topicId }, { campaignId, sourceType: 'CAMPAIGN' }];
      const leave = (mail: Mail) =>
        database.db('contactTopics').insert({
          contactId: mail.contactId,
          topicId,
          projectId,
          state: 'UNSUBSCRIBED',
          defaultState: 'SUBSCRIBED',
        });
      for (const columns of sources) {
        const [stays, leaves] = [await addLeased(columns), await addLeased(columns)];
        await leave(leaves);
        expect(verdicts(await write([stays, leaves], [], [campaignId]))).to.have.deep.members([
          { id: stays.id, verdict: 'go', reason: null },
          { id: leaves.id, verdict: 'skip', reason: 'topic unsubscribed' },
        ]);
      }
      const archived = await addLeased({ topicId });
      await database.db('topics').where({ id: topicId }).update({ archived: true });
      expect(verdicts(await write([archived]))).to.deep.equal([
        { id: archived.id, verdict: 'skip', reason: 'topic archived' },
      ]);
    });

    describe('of a campaign', () => {
      let campaignId: string;

      beforeEach(async () => {
        campaignId = await database.addCampaign({ status: 'SENDING' });
      });
      const change = (columns: object) => database.db('campaigns').where({ id: campaignId }).update(columns);
      const begin = (...mails: Mail[]) => write(mails, [], [campaignId]);
      const add = (contact: object = {}) => addLeased({ campaignId, sourceType: 'CAMPAIGN' }, contact);

      it('skips recipients that were deleted, unsubscribed or suppressed, each with its reason', async () => {
        const deleted = await add();
        const unsubscribed = await add({ subscribed: false });
        const suppressed = await add();
        await database.db('contacts').where({ id: deleted.contactId }).delete();
        await suppress(suppressed);
        expect(verdicts(await begin(deleted, unsubscribed, suppressed))).to.have.deep.members([
          { id: deleted.id, verdict: 'skip', reason: 'contact deleted' },
          { id: unsubscribed.id, verdict: 'skip', reason: 'unsubscribed' },
          { id: suppressed.id, verdict: 'skip', reason: 'suppressed' },
        ]);
      });

      it('sends transactional campaigns to unsubscribed contacts', async () => {
        await change({ type: 'TRANSACTIONAL' });
        const mail = await add({ subscribed: false });
        expect((await begin(mail)).map(({ verdict }) => verdict)).to.deep.equal(['go']);
      });

      it('reports a recipient that has another address now', async () => {
        const moved = await add();
        await database
          .db('contacts')
          .where({ id: moved.contactId })
          .update({ email: `${newId()}@example.com` });
        expect((await begin(moved)).map(({ verdict }) => verdict)).to.deep.equal(['changed']);
      });

      it('stops when the campaign is paused or no longer sending', async () => {
        const mail = await add();
        await change({ paused: true, pausedBy: 'USER' });
        expect((await begin(mail)).map(({ verdict }) => verdict)).to.deep.equal(['stopped']);
        await change({ paused: false, pausedBy: null, status: 'CANCELLED' });
        expect((await begin(mail)).map(({ verdict }) => verdict)).to.deep.equal(['stopped']);
      });

      it('waits for a pause that has the lock, and then begins nothing', async () => {
        const mail = await add();
        const pause = await database.db.transaction();
        await runSql(pause, 'select pg_advisory_xact_lock(campaign_lock(?))', [campaignId]);
        const written = begin(mail);
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
});
