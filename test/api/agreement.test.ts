// Writes a known history and compares every figure of it in every endpoint that shows it.
import { expect } from 'chai';
import { aggregateCounters } from '../../db/models/counters.ts';
import { aggregateEventDeltas } from '../../db/models/event-counts.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { type Notice, recordNotices } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import type { ApiProject, TestApi } from '../support/api.ts';
import { type CampaignWorker, recipientTo, startCampaign } from '../support/campaigns.ts';
import { addUnpublishedResults } from '../support/ledger.ts';
import { setMails } from '../support/rows/mails.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import { build, enable } from '../support/workflow-building.ts';

/** The results of the mails below, each mail counted once. */
const MAIL = {
  sent: 6,
  delivered: 4,
  opened: 3,
  clicked: 2,
  humanOpened: 2,
  humanClicked: 2,
  peopleOpened: 2,
  bounced: 1,
  complained: 1,
};
const CAMPAIGN = {
  sentCount: 3,
  deliveredCount: 2,
  openedCount: 2,
  clickedCount: 1,
  humanOpenedCount: 1,
  humanClickedCount: 1,
  peopleOpenedCount: 1,
  bouncedCount: 0,
  complainedCount: 1,
};
/** The number of events below by name, and of their contacts. */
const EVENTS: Record<string, [count: number, contacts: number]> = {
  signup: [4, 4],
  purchase: [3, 2],
  leave: [1, 1],
  'contact.unsubscribed': [2, 2],
  'email.sent': [6, 3],
  'email.failed': [1, 1],
  'email.delivery': [4, 2],
  'email.open': [5, 2],
  'email.click': [3, 2],
  'email.bounce': [1, 1],
  'email.complaint': [1, 1],
};
const TRACKED = ['signup', 'purchase', 'leave'];
const FEED: Record<string, number> = {
  'event.triggered': 8,
  'email.sent': 6,
  'email.delivered': 4,
  'email.opened': 3,
  'email.clicked': 2,
  'email.bounced': 1,
  'email.complained': 1,
  'email.failed': 1,
  'contact.subscribed': 0,
  'contact.unsubscribed': 2,
  'campaign.scheduled': 0,
  'campaign.sent': 1,
  'workflow.started': 1,
  'workflow.completed': 0,
};
const ALL = Object.values(FEED).reduce((sum, count) => sum + count, 0);

describe('figures of one history', () => {
  let sending: SendingApi;
  let api: TestApi;
  let worker: CampaignWorker;
  let project: ApiProject;
  let campaignId: string;
  /** A mail that a privacy proxy opens; people open the others. */
  let openedByMachine: string;

  before(async () => {
    sending = await startSendingApi();
    ({ api, worker } = sending);
    project = await api.project();
    await live();
  });
  after(() => sending?.stop());

  async function live(): Promise<void> {
    const { id: workflowId } = await build(project, { steps: { end: { type: 'EXIT' } } }, { eventName: 'other' });
    await enable(project, workflowId);
    const track = async (name: string, event: string, more: object = {}) => {
      const body = { email: `${name}@example.com`, event, ...more };
      expect(await project.browser.post('/v1/track', body)).to.have.status(200);
    };
    for (const name of ['ann', 'bob', 'eve', 'dan']) await track(name, 'signup');
    for (const name of ['ann', 'ann', 'bob']) await track(name, 'purchase');
    await track('dan', 'leave', { subscribed: false });
    const start = { email: 'ann@example.com' };
    expect(await project.server.post(`/workflows/${workflowId}/executions`, start)).to.have.status(201);

    const mails: Record<string, string> = {};
    for (const name of ['ann', 'bob', 'eve', 'dan']) mails[name] = await transactional(name);
    campaignId = (await startCampaign(api.db, project)).id;
    expect(await worker.run(campaignId)).to.include({ kind: 'end' });
    await addUnpublishedResults(api.db);
    await publishResults(api.db);

    const bulk = async (name: string) => (await recipientTo(api.db, campaignId, `${name}@example.com`)).id;
    const { ann = '', bob = '', eve = '' } = mails;
    // So that opens are not too soon after sending for a person.
    await setMails(api.db, { status: 'SENT' }, { sentAt: new Date(Date.now() - 3_600_000) });
    openedByMachine = await bulk('ann');
    await reportNotices(ann, 'delivery', 'open', 'open', 'click', 'click');
    await reportNotices(bob, 'delivery');
    await reportNotices(eve, 'bounce');
    await reportNotices(await bulk('ann'), 'delivery', 'open');
    await reportNotices(await bulk('bob'), 'delivery', 'open', 'open', 'click');
    await reportNotices(await bulk('eve'), 'complaint');
  }

  /** The relay refuses Dan's mail and accepts the others. */
  async function transactional(name: string): Promise<string> {
    const mail = { to: `${name}@example.com`, subject: 'Hi', body: '<p>Hi</p>', from: `hello@${project.senderDomain}` };
    const { body } = await project.server.post('/v1/send', mail);
    const [{ email: id }] = body.data.emails;
    const result = name === 'dan' ? { status: 'FAILED', reason: '550' } : { status: 'SENT', sentAt: new Date() };
    await setMails(api.db, { id }, result);
    return id;
  }

  /** Reports deliveries, bounces and complaints twice, as providers do: each must count once. */
  async function reportNotices(id: string, ...kinds: Notice['kind'][]): Promise<void> {
    for (const kind of kinds) {
      const bounce = kind === 'bounce' ? { bounceType: 'Permanent' as const } : {};
      const agent = id === openedByMachine ? ('PRIVACY_PROXY' as const) : ('CLIENT' as const);
      const notice = {
        mail: { id },
        kind,
        agent,
        ...bounce,
        ...(kind === 'click' ? { link: 'https://example.com' } : {}),
      };
      await recordNotices(api.db, kind === 'open' || kind === 'click' ? [notice] : [notice, notice]);
      await applyNotices(api.db);
    }
  }

  const get = async (path: string) => {
    const answer = await project.server.get(path);
    expect(answer, path).to.have.status(200);
    return answer.body;
  };

  for (const state of [
    'before aggregation',
    'when half of the deltas are aggregated',
    'when all deltas are aggregated',
  ]) {
    describe(state, () => {
      before(async () => {
        if (state.includes('half')) {
          await aggregateEventDeltas(api.db, 15);
          await aggregateCounters(api.db, 8);
        }
        if (state.includes('all')) {
          await aggregateEventCounts(api.db);
          await aggregateCounters(api.db);
        }
      });

      it('agree in /activity/stats', async () => {
        expect(await get('/activity/stats')).to.deep.equal({
          totalEvents: 8,
          totalEmailsSent: MAIL.sent,
          totalEmailsDelivered: MAIL.delivered,
          totalEmailsOpened: MAIL.opened,
          totalEmailsClicked: MAIL.clicked,
          totalEmailsHumanOpened: MAIL.humanOpened,
          totalEmailsHumanClicked: MAIL.humanClicked,
          totalEmailsBounced: MAIL.bounced,
          totalEmailsComplained: MAIL.complained,
          totalWorkflowsStarted: 1,
          openRate: 3 / 6,
          clickRate: 2 / 6,
          humanOpenRate: 2 / 6,
          humanClickRate: 2 / 6,
          bounceRate: 1 / 6,
        });
      });

      it('agree in /activity, in total and by type, and in its recent count', async () => {
        const whole = await get('/activity?limit=100');
        expect(whole.total).to.equal(ALL);
        expect(whole.data).to.have.lengthOf(ALL);
        for (const [type, count] of Object.entries(FEED)) {
          const { total, data } = await get(`/activity?limit=100&types=${type}`);
          expect({ type, total, shown: data.length }).to.deep.equal({ type, total: count, shown: count });
          expect(whole.data.filter((item: { type: string }) => item.type === type)).to.have.lengthOf(count);
        }
        const today = new Date().toISOString().slice(0, 10);
        const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
        expect(await get(`/activity?startDate=${yesterday}&endDate=${today}`)).to.include({ total: ALL });
        expect(await get('/activity/recent-count?minutes=120')).to.include({ count: ALL });
      });

      it('agree in /analytics/timeseries, by day and by hour', async () => {
        for (const granularity of ['day', 'hour']) {
          const { data } = await get(`/analytics/timeseries?granularity=${granularity}`);
          for (const [kind, count] of Object.entries(MAIL))
            expect(data.reduce((sum: number, point: Record<string, number>) => sum + (point[kind] ?? 0), 0)).to.equal(
              count,
            );
        }
      });

      it('agree in /events, its names, its statistics and the usage of each', async () => {
        const { names } = await get('/events/names');
        const { data: stats } = await get('/events/stats');
        expect(stats).to.have.lengthOf(Object.keys(EVENTS).length);
        for (const [name, [count, contacts]] of Object.entries(EVENTS)) {
          const reserved = !TRACKED.includes(name);
          expect(names).to.deep.include({ name, count, reserved });
          const found = stats.find((one: { name: string }) => one.name === name);
          expect(found, name).to.include({ count, uniqueContacts: contacts });
          const usage = await get(`/events/${name}/usage`);
          expect(usage, name).to.include({ totalCount: count, uniqueContacts: contacts });
          const list = await get(`/events?limit=100&eventName=${name}`);
          expect({ name, total: list.total, shown: list.data.length }).to.deep.equal({
            name,
            total: count,
            shown: count,
          });
        }
        const all = Object.values(EVENTS).reduce((sum, [count]) => sum + count, 0);
        expect(await get('/events')).to.include({ total: all });
      });

      it('agree in /analytics/top-events', async () => {
        expect(await get('/analytics/top-events')).to.deep.equal([
          { name: 'signup', count: 4, trend: 1 },
          { name: 'purchase', count: 3, trend: 1 },
          { name: 'leave', count: 1, trend: 1 },
        ]);
      });

      it('agree in /emails when its rows are counted', async () => {
        const { data, total } = await get('/emails?limit=100');
        expect(total).to.equal(7);
        const statuses = data.map(({ status }: { status: string }) => status).sort();
        expect(statuses).to.deep.equal([
          'BOUNCED',
          'CLICKED',
          'CLICKED',
          'COMPLAINED',
          'DELIVERED',
          'FAILED',
          'OPENED',
        ]);
        expect(data.filter(({ sentAt }: { sentAt: string | null }) => sentAt)).to.have.lengthOf(MAIL.sent);
      });

      it('agree in the campaign, its statistics, /analytics/top-campaigns and /analytics/campaign-stats', async () => {
        const stats = await get(`/campaigns/${campaignId}/stats`);
        expect(stats).to.include({
          totalRecipients: 3,
          pendingCount: 0,
          ...CAMPAIGN,
          openRate: 2 / 3,
          clickRate: 1 / 3,
        });
        expect(await get(`/campaigns/${campaignId}`)).to.deep.include({ totalRecipients: 3, ...CAMPAIGN });
        const [top] = await get('/analytics/top-campaigns');
        expect(top).to.deep.include({ id: campaignId, ...stats });
        const totals = await get('/analytics/campaign-stats');
        expect(totals).to.include({ total: 1, completed: 1, active: 0, ...CAMPAIGN, averageOpenRate: 2 / 3 });
      });
    });
  }

  describe('after an event was deleted by its name', () => {
    it('still agree', async () => {
      const { deleted } = (await project.server.delete('/events/purchase')).body;
      expect(deleted).to.equal(3);
      expect(await get('/activity/stats')).to.include({ totalEvents: 5, totalEmailsSent: 6 });
      expect(await get('/activity')).to.include({ total: ALL - 3 });
      expect(await get('/activity?types=event.triggered')).to.include({ total: 5 });
      expect((await get('/analytics/top-events')).map(({ name }: { name: string }) => name)).to.deep.equal([
        'signup',
        'leave',
      ]);
      expect((await get('/events/names')).names.map(({ name }: { name: string }) => name)).to.not.include('purchase');
      expect((await get('/events/stats')).data.map(({ name }: { name: string }) => name)).to.not.include('purchase');
    });
  });
});
