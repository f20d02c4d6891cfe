import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { addPendingDelta, setCampaigns } from '../support/rows/campaigns.ts';
import { addEvents } from '../support/rows/events.ts';
import { addMailRows, setMails } from '../support/rows/mails.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NONE = {
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  humanOpened: 0,
  humanClicked: 0,
  peopleOpened: 0,
  bounced: 0,
  complained: 0,
};

describeApi('analytics', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const mail = (times: Record<string, Date>, more: object = {}) =>
    addMailRows(api.db, { id: newId(), projectId: project.id, contactId: newId(), status: 'SENT', ...times, ...more });
  const dayOf = (at: Date) => at.toISOString().slice(0, 10);

  describe('GET /analytics/timeseries', () => {
    it('returns a point for each of the last 30 days, with zeros for days without activity', async () => {
      const now = new Date();
      const earlier = new Date(now.getTime() - 3 * DAY);
      await mail({ sentAt: earlier, deliveredAt: earlier, openedAt: now });
      await mail({ sentAt: now });
      await mail({ sentAt: new Date(now.getTime() - 40 * DAY) });
      for (const isFolded of [false, true]) {
        if (isFolded) await aggregateEventCounts(api.db);
        const answer = await project.server.get('/analytics/timeseries');
        expect(answer).to.have.status(200);
        const { data } = answer.body;
        const last = data.at(-1).date;
        // Another day may have begun meanwhile.
        expect(last).to.be.oneOf([dayOf(now), dayOf(new Date())]);
        const active: Record<string, object> = {
          [dayOf(now)]: { sent: 1, opened: 1 },
          [dayOf(earlier)]: { sent: 1, delivered: 1 },
        };
        const days = Array.from({ length: 30 }, (_, n) => dayOf(new Date(Date.parse(last) - (29 - n) * DAY)));
        expect(data).to.deep.equal(days.map((date) => ({ ...NONE, date, ...active[date] })));
      }
    });

    it('returns the 30 days before `endDate`, given as a day or a date-time', async () => {
      for (const end of ['2024-03-31', '2024-03-31T12:00:00Z', '2024-04-01T00:00:00Z']) {
        const { data } = (await project.server.get(`/analytics/timeseries?endDate=${end}`)).body;
        expect([data[0].date, data.at(-1).date, data.length], end).to.deep.equal(['2024-03-02', '2024-03-31', 30]);
      }
    });

    it('groups by hour, and accepts a range of days or date-times', async () => {
      const at = (text: string) => new Date(`2024-03-${text}Z`);
      await mail({ sentAt: at('01T10:15:00'), clickedAt: at('02T00:00:00') });
      await mail({ sentAt: at('01T10:59:59'), bouncedAt: at('01T11:00:00'), complainedAt: at('01T12:30:00') });
      const hours = await project.server.get(
        '/analytics/timeseries?granularity=hour&startDate=2024-03-01T09:30:00Z&endDate=2024-03-01T13:00:00Z',
      );
      expect(hours.body.data).to.deep.equal([
        { ...NONE, date: '2024-03-01T09:00:00.000Z' },
        { ...NONE, date: '2024-03-01T10:00:00.000Z', sent: 2 },
        { ...NONE, date: '2024-03-01T11:00:00.000Z', bounced: 1 },
        { ...NONE, date: '2024-03-01T12:00:00.000Z', complained: 1 },
      ]);
      const days = await project.server.get('/analytics/timeseries?startDate=2024-03-01&endDate=2024-03-02');
      expect(days.body.data).to.deep.equal([
        { ...NONE, date: '2024-03-01', sent: 2, bounced: 1, complained: 1 },
        { ...NONE, date: '2024-03-02', clicked: 1 },
      ]);
    });

    it('follows changes of a mail and counts a repeated result once', async () => {
      const now = new Date();
      await mail({ sentAt: now });
      const change = (columns: object) => setMails(api.db, { projectId: project.id }, columns);
      await change({ deliveredAt: now, status: 'DELIVERED' });
      await change({ status: 'OPENED', openedAt: now });
      await change({ status: 'OPENED', updatedAt: new Date() });
      const { data } = (await project.server.get('/analytics/timeseries')).body;
      const today = data.find(({ date }: { date: string }) => date === dayOf(now));
      expect(today).to.include({ sent: 1, delivered: 1, opened: 1, clicked: 0 });
    });

    for (const query of [
      'granularity=week',
      'startDate=x',
      'startDate=2024-03-02&endDate=2024-03-01',
      'granularity=hour&startDate=1990-01-01',
    ])
      it(`is 400 with ${query}`, async () => {
        expect(await project.server.get(`/analytics/timeseries?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      });

    it('is 400 with a date before 1970 or after 2200, and names the bounds', async () => {
      for (const startDate of ['1900-01-01', '1969-12-31T23:59:59Z', '2201-01-01']) {
        const { body } = await project.server.get(`/analytics/timeseries?startDate=${startDate}`);
        expect(body.error.message).to.equal(
          'The query is invalid: "startDate" must be between the years 1970 and 2200.',
        );
      }
    });
  });

  describe('GET /analytics/top-events', () => {
    it('counts tracked events and compares them with the period before', async () => {
      const contactId = (await project.browser.post('/v1/track', { email: 'a@example.com', event: 'new' })).body.data
        .contact;
      const event = (name: string, daysAgo: number) => ({
        id: newId(),
        projectId: project.id,
        contactId,
        name,
        createdAt: new Date(Date.now() - daysAgo * DAY),
      });
      await addEvents(api.db, [
        ...[1, 2, 3].map((days) => event('grows', days)),
        ...[35, 36].map((days) => event('grows', days)),
        ...[1, 40, 41].map((days) => event('shrinks', days)),
        event('email.sent', 1),
      ]);
      for (const isFolded of [false, true]) {
        if (isFolded) await aggregateEventCounts(api.db);
        const answer = await project.server.get('/analytics/top-events');
        expect(answer.body).to.deep.equal([
          { name: 'grows', count: 3, trend: 0.5 },
          { name: 'new', count: 1, trend: 1 },
          { name: 'shrinks', count: 1, trend: -0.5 },
        ]);
        expect((await project.server.get('/analytics/top-events?limit=1')).body).to.have.lengthOf(1);
      }
    });
  });

  describe('campaigns', () => {
    async function campaign(name: string, more: object, mails: Record<string, Date>[]): Promise<string> {
      const { body } = await project.server.post('/campaigns', {
        name,
        subject: name,
        body: '<p>News</p>',
        from: `hello@${project.senderDomain}`,
        audienceType: 'ALL',
      });
      const { id } = body.data;
      await setCampaigns(api.db, { id }, { status: 'SENT', frozenAt: new Date(), ...more });
      for (const times of mails) {
        const row = { id: newId(), projectId: project.id, contactId: newId(), campaignId: id, sourceType: 'CAMPAIGN' };
        await addMailRows(api.db, { ...row, status: 'PENDING', priority: 2 });
        await setMails(api.db, { id: row.id }, { status: 'SENT', ...times });
        await addPendingDelta(api.db, id);
      }
      return id;
    }

    it('are sorted by a metric and agree with the statistics of each campaign', async () => {
      const now = new Date();
      const opened = await campaign('Opened', { startedAt: now, sentAt: now }, [
        { sentAt: now, openedAt: now },
        { sentAt: now, openedAt: now },
      ]);
      const clicked = await campaign('Clicked', { startedAt: now, status: 'SENDING' }, [
        { sentAt: now, openedAt: now, clickedAt: now },
        { sentAt: now },
        { sentAt: now, bouncedAt: now },
      ]);
      await campaign('Old', { startedAt: new Date(now.getTime() - 40 * DAY) }, [{ sentAt: now }]);
      const top = async (query: string) =>
        (await project.server.get(`/analytics/top-campaigns${query}`)).body.map(({ id }: { id: string }) => id);
      expect(await top('')).to.deep.equal([opened, clicked]);
      expect(await top('?metric=clicks')).to.deep.equal([clicked, opened]);
      expect(await top('?metric=sent&limit=1')).to.deep.equal([clicked]);
      const [first] = (await project.server.get('/analytics/top-campaigns?metric=clicks')).body;
      const { body: stats } = await project.server.get(`/campaigns/${clicked}/stats`);
      expect(first).to.deep.include(stats);
      expect(first).to.include({ name: 'Clicked', sentCount: 3, openedCount: 1, clickedCount: 1, openRate: 1 / 3 });
      const { body: totals } = await project.server.get('/analytics/campaign-stats');
      expect(totals).to.include({ total: 2, active: 1, completed: 1 });
      expect(totals).to.include({
        sentCount: 5,
        openedCount: 3,
        clickedCount: 1,
        bouncedCount: 1,
        averageOpenRate: 0.6,
      });
      expect(totals.campaigns).to.have.lengthOf(2);
    });

    it('are empty before the first campaign', async () => {
      expect((await project.server.get('/analytics/top-campaigns')).body).to.deep.equal([]);
      expect((await project.server.get('/analytics/campaign-stats')).body).to.deep.include({
        total: 0,
        sentCount: 0,
        averageOpenRate: 0,
        campaigns: [],
      });
    });

    for (const query of ['metric=likes', 'limit=0'])
      it(`is 400 with ${query}`, async () => {
        expect(await project.server.get(`/analytics/top-campaigns?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      });
  });
});
