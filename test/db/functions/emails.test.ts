import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase } from '../../support/database-functions.ts';

const first = new Date('2026-03-01T10:00:00Z');
const second = new Date('2026-03-01T11:30:00Z');

describe('database functions of e-mails', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const deltas = () =>
    database
      .db('activityDeltas')
      .where({ projectId: database.projectId })
      .orderBy(['kind', 'at', 'delta'])
      .select('kind', 'at', 'delta');
  const clear = () => database.db('activityDeltas').where({ projectId: database.projectId }).delete();

  describe('add_activity_delta', () => {
    const add = (before: Date | null, after: Date | null) =>
      database.value('select add_activity_delta(?, ?, ?, ?)', [database.projectId, 'opened', before, after]);

    it('subtracts at the time before and adds at the time after', async () => {
      await add(first, second);
      expect(await deltas()).to.deep.equal([
        { kind: 'opened', at: first, delta: -1 },
        { kind: 'opened', at: second, delta: 1 },
      ]);
    });

    it('ignores a time that is null', async () => {
      await add(null, first);
      await add(null, null);
      expect(await deltas()).to.deep.equal([{ kind: 'opened', at: first, delta: 1 }]);
      await add(second, null);
      expect(await deltas()).to.have.length(2);
    });
  });

  describe('count_added_email', () => {
    it('counts each result that a mail is inserted with', async () => {
      await database.addEmail({ status: 'OPENED', sentAt: first, deliveredAt: first, openedAt: second });
      expect(await deltas()).to.deep.equal([
        { kind: 'delivered', at: first, delta: 1 },
        { kind: 'opened', at: second, delta: 1 },
        { kind: 'sent', at: first, delta: 1 },
      ]);
    });

    it('counts nothing for a mail without a result', async () => {
      await database.addEmail();
      expect(await deltas()).to.deep.equal([]);
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
    const campaignDeltas = async (campaignId: string) =>
      (await database.db('campaignCountDeltas').where({ campaignId })).map(({ campaignId: _, ...counts }) =>
        Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
      );

    it('counts a result once, and moves it when its time changes', async () => {
      const id = await database.addEmail({ status: 'PENDING' });
      await update([id], { status: 'SENT', sentAt: first });
      expect(await deltas()).to.deep.equal([{ kind: 'sent', at: first, delta: 1 }]);
      await clear();
      await update([id], { sentAt: second });
      expect(await deltas()).to.deep.equal([
        { kind: 'sent', at: first, delta: -1 },
        { kind: 'sent', at: second, delta: 1 },
      ]);
      await clear();
      await update([id], { status: 'OPENED', openedAt: second });
      expect(await deltas()).to.deep.equal([{ kind: 'opened', at: second, delta: 1 }]);
    });

    it('adds up the mails of one statement by project, kind and time', async () => {
      const ids = [await database.addEmail(), await database.addEmail(), await database.addEmail()];
      await update(ids, { status: 'SENT', sentAt: first });
      expect(await deltas()).to.deep.equal([{ kind: 'sent', at: first, delta: 3 }]);
    });

    it('appends nothing when mail is deferred or blocked', async () => {
      const campaignId = await database.addCampaign();
      const id = await database.addEmail({ campaignId });
      await update([id], { reason: '451 later', attempts: 1, dueAt: second });
      await update([id], { reason: 'project disabled', blockedDomain: 'a.example' });
      expect(await deltas()).to.deep.equal([]);
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
      const own = { projectId: database.projectId };
      const campaignId = newId();
      const id = await database.addEmail({ status: 'SENT', sentAt: first, campaignId, sourceType: 'CAMPAIGN' });
      const update = (values: object) => database.db('emails').where({ id }).update(values);
      const human = () => database.db('humanActivityDeltas').where(own).select('kind', 'at', 'delta').orderBy('kind');
      const ofCampaign = () =>
        database.db('humanCampaignDeltas').where({ campaignId }).select('humanOpened', 'humanClicked');
      await update({ openedAt: first });
      expect([await human(), await ofCampaign()]).to.deep.equal([[], []]);
      await update({ humanOpenedAt: second });
      await update({ humanClickedAt: second, status: 'CLICKED' });
      await update({ bouncedAt: second });
      expect(await human()).to.deep.equal([
        { kind: 'humanClicked', at: second, delta: 1 },
        { kind: 'humanOpened', at: second, delta: 1 },
      ]);
      expect(await ofCampaign()).to.deep.equal([
        { humanOpened: 1, humanClicked: 0 },
        { humanOpened: 0, humanClicked: 1 },
      ]);
    });

    it('appends no campaign deltas for other mail', async () => {
      const before = await database.value('select count(*)::integer from campaign_count_deltas');
      await update([await database.addEmail()], { status: 'FAILED' });
      expect(await database.value('select count(*)::integer from campaign_count_deltas')).to.equal(before);
    });
  });
});
