import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';
import { pendingCounts, pendingSums } from '../../support/rows/counters.ts';

const first = new Date('2026-03-01T10:00:00Z');
const second = new Date('2026-03-01T11:30:00Z');
const secondHour = new Date('2026-03-01T11:00:00Z');

describe('database functions of e-mails', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  /** The changes of activity, by hour and name. */
  const activity = async () =>
    (await pendingSums(database.db, database.projectId, 'activity/hours')).map(
      ({ period, name, count }) => [period, name, count] as const,
    );
  const clear = () => database.db('counterDeltas').where({ projectId: database.projectId }).delete();

  describe('add_counts', () => {
    it('adds numbers by name, those that only one side has too', async () => {
      const add = (...counts: object[]) =>
        database.value(
          'select add_counts(?, ?)',
          counts.map((one) => JSON.stringify(one)),
        );
      expect(await add({ sent: 2, failed: 1 }, { sent: 1, opened: 4 })).to.deep.equal({
        sent: 3,
        failed: 1,
        opened: 4,
      });
      expect(await add({ sent: 2 }, {})).to.deep.equal({ sent: 2 });
      expect(await add({}, { sent: -2 })).to.deep.equal({ sent: -2 });
    });
  });

  describe('count_added_email', () => {
    it('counts each result that a mail is inserted with', async () => {
      await database.addEmail({ status: 'OPENED', sentAt: first, deliveredAt: first, openedAt: second });
      expect(await activity()).to.deep.equal([
        [first, 'delivered', 1],
        [first, 'sent', 1],
        [secondHour, 'opened', 1],
      ]);
    });

    it('counts nothing for a mail without a result', async () => {
      await database.addEmail();
      expect(await activity()).to.deep.equal([]);
    });
  });

  describe('recipient_state', () => {
    it('maps every status of a mail to one of six states', async () => {
      const states = {
        PENDING: ['PENDING'],
        SENT: ['SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED'],
        FAILED: ['FAILED'],
        SKIPPED: ['SKIPPED'],
        CANCELLED: ['CANCELLED'],
        UNKNOWN: ['UNKNOWN'],
      };
      for (const [state, statuses] of Object.entries(states))
        for (const status of statuses)
          expect(await database.value('select recipient_state(?)', [status]), status).to.equal(state);
      const constraint = await database.value(
        "select pg_get_constraintdef(oid) from pg_constraint where conname = 'emails_status_check'",
      );
      const allowed = [...String(constraint).matchAll(/'(\w+)'/g)].map(([, status]) => status);
      expect(allowed).to.have.members(Object.values(states).flat());
    });
  });

  describe('count_changed_emails', () => {
    const update = (ids: string[], change: object) => database.db('emails').whereIn('id', ids).update(change);
    const campaignDeltas = (campaignId: string) =>
      pendingCounts(database.db, { projectId: database.projectId, subject: `campaign/${campaignId}` });

    it('counts a result once, and moves it when its time changes', async () => {
      const id = await database.addEmail({ status: 'PENDING' });
      await update([id], { status: 'SENT', sentAt: first });
      expect(await activity()).to.deep.equal([[first, 'sent', 1]]);
      await clear();
      await update([id], { sentAt: second });
      expect(await activity()).to.deep.equal([
        [first, 'sent', -1],
        [secondHour, 'sent', 1],
      ]);
      await clear();
      await update([id], { status: 'OPENED', openedAt: second });
      expect(await activity()).to.deep.equal([[secondHour, 'opened', 1]]);
    });

    it('adds up the mails of one statement by project, kind and hour', async () => {
      const ids = [await database.addEmail(), await database.addEmail(), await database.addEmail()];
      await update(ids, { status: 'SENT', sentAt: first });
      expect(await activity()).to.deep.equal([[first, 'sent', 3]]);
    });

    it('appends nothing when mail is deferred or blocked', async () => {
      const campaignId = await database.addCampaign();
      const id = await database.addEmail({ campaignId });
      await update([id], { reason: '451 later', attempts: 1, dueAt: second });
      await update([id], { reason: 'project disabled', blockedDomain: 'a.example' });
      expect(await activity()).to.deep.equal([]);
      expect(await campaignDeltas(campaignId)).to.deep.equal([]);
    });

    it('appends the change of states and results of a campaign', async () => {
      const campaignId = await database.addCampaign();
      const ids = [await database.addEmail({ campaignId }), await database.addEmail({ campaignId })];
      await update(ids, { status: 'SENT', sentAt: first });
      await update([ids[0] ?? ''], { status: 'SKIPPED' });
      await update([ids[1] ?? ''], { deliveredAt: second, unsubscribedAt: second });
      await update(ids, { reason: 'no count changes' });
      expect(await campaignDeltas(campaignId)).to.deep.equal([
        { pending: -2, sent: 2 },
        { sent: -1, skipped: 1 },
        { delivered: 1, unsubscribed: 1 },
      ]);
    });

    it('counts a bounce as hard by its type, in upper or lower case', async () => {
      const campaignId = await database.addCampaign();
      const bounce = async (bounceType: string | null) => {
        const id = await database.addEmail({ campaignId, status: 'SENT', sentAt: first });
        await update([id], { status: 'BOUNCED', bouncedAt: first, bounceType });
      };
      for (const type of ['Permanent', 'hard', 'Transient', null]) await bounce(type);
      expect(await campaignDeltas(campaignId)).to.deep.equal([
        { bounced: 1, hardBounced: 1 },
        { bounced: 1, hardBounced: 1 },
        { bounced: 1 },
        { bounced: 1 },
      ]);
    });

    it('counts a bounce of mail that was never sent as refused too', async () => {
      const campaignId = await database.addCampaign();
      const id = await database.addEmail({ campaignId, status: 'FAILED' });
      await update([id], { bouncedAt: first, bounceType: 'Permanent' });
      expect(await campaignDeltas(campaignId)).to.deep.equal([{ bounced: 1, hardBounced: 1, refused: 1 }]);
    });

    it('appends the first open and click of a person, by project and by campaign', async () => {
      const campaignId = newId();
      const id = await database.addEmail({ status: 'SENT', sentAt: first, campaignId, sourceType: 'CAMPAIGN' });
      const update = (values: object) => database.db('emails').where({ id }).update(values);
      const human = async () => (await activity()).filter(([, name]) => /^(human|people)/.test(name));
      const ofCampaign = () => campaignDeltas(campaignId);
      await update({ openedAt: first });
      expect([await human(), await ofCampaign()]).to.deep.equal([[], [{ opened: 1 }]]);
      await update({ humanOpenedAt: second });
      await update({ humanClickedAt: second, status: 'CLICKED' });
      await update({ bouncedAt: second });
      expect(await human()).to.deep.equal([
        [secondHour, 'humanClicked', 1],
        [secondHour, 'humanOpened', 1],
        [secondHour, 'peopleOpened', 1],
      ]);
      expect(await ofCampaign()).to.deep.equal([
        { opened: 1 },
        { humanOpened: 1, peopleOpened: 1 },
        { humanClicked: 1 },
        { bounced: 1 },
      ]);
    });

    it('appends no campaign deltas for other mail', async () => {
      await update([await database.addEmail()], { status: 'FAILED' });
      expect(await pendingCounts(database.db, { projectId: database.projectId })).to.deep.equal([]);
    });
  });

  describe('postponed_until', () => {
    const until = (status: string, reason: string | null) =>
      database.value("select postponed_until(?, ?, '2026-12-01T09:00:00Z')", [status, reason]);

    it('is when a postponed email is due, and null for other email', async () => {
      expect(await until('PENDING', 'local time')).to.deep.equal(new Date('2026-12-01T09:00:00Z'));
      expect(await until('PENDING', null)).to.equal(null);
      expect(await until('SENT', 'local time')).to.equal(null);
    });
  });
});
