import { expect } from 'chai';
import { aggregateCounters } from '../../db/models/counters.ts';
import { addHistory, type SampleIds } from '../../dev/stack/history.ts';
import { fillSample } from '../../dev/stack/sample.ts';
import { aggregateContactCounts } from '../../services/contacts/counts.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';

describeApi('the sample project', { env: { RATE_LIMIT_PER_MINUTE: '0' } }, (api) => {
  let shop: ApiProject;
  let ids: SampleIds;
  const ask = async (path: string) => (await shop.server.get(path)).body;
  const rows = async <Row>(text: string): Promise<Row> => (await api.db.raw(text, [shop.id])).rows[0] as Row;
  const aggregateAll = async () => {
    await aggregateCounters(api.db);
    await aggregateContactCounts(api.db);
    await aggregateEventCounts(api.db);
  };

  before(async () => {
    shop = await api.project();
    await fillSample(api.url, shop, shop.senderDomain, async (made) => {
      ids = { ...made, projectId: shop.id };
      expect(await addHistory(api.db, ids)).to.equal(true);
    });
    await aggregateAll();
  });

  it('has people who joined over sixty days, some of whom have left', async () => {
    const found = await rows<{ all: number; subscribed: number; days: number }>(
      `select count(*)::integer as all, count(*) filter (where subscribed)::integer as subscribed,
         count(distinct created_at::date)::integer as days from contacts where project_id = ?`,
    );
    expect(found.all).to.be.greaterThan(800);
    expect(found.days).to.be.greaterThan(60);
    expect((await ask('/contacts?limit=1')).total).to.equal(found.all);
    expect((await ask('/contacts?limit=1&subscribed=true')).total).to.equal(found.subscribed);
  });

  it('has eight letters whose counts are those of their recipients', async () => {
    const { data } = await ask('/campaigns?status=SENT&limit=20');
    const letters = data.filter(({ name }: { name: string }) => name.startsWith('Letter '));
    expect(letters).to.have.lengthOf(8);
    for (const { id } of letters as { id: string }[]) {
      const counted = (
        await api.db.raw(
          `select count(*)::integer as recipients, count(sent_at)::integer as sent, count(delivered_at)::integer as delivered,
             count(opened_at)::integer as opened, count(human_clicked_at)::integer as clicked,
             count(bounced_at)::integer as bounced, count(unsubscribed_at)::integer as unsubscribed
           from emails where campaign_id = ?`,
          [id],
        )
      ).rows[0];
      const { sentCount, deliveredCount, openedCount, humanClickedCount, bouncedCount } = await ask(`/campaigns/${id}`);
      expect([sentCount, deliveredCount, openedCount, humanClickedCount, bouncedCount]).to.deep.equal([
        counted.sent,
        counted.delivered,
        counted.opened,
        counted.clicked,
        counted.bounced,
      ]);
      expect(counted.recipients).to.be.greaterThan(300);
      expect(counted.opened).to.be.within(counted.recipients * 0.25, counted.recipients * 0.75);
      const links = (await ask(`/campaigns/${id}/links`)).data;
      expect(links[0]?.uniqueClicks).to.equal(counted.clicked);
    }
  });

  it('has a time series, event counts and workflow numbers that agree with the rows', async () => {
    const sixtyDaysAgo = new Date(Date.now() - 61 * 86_400_000).toISOString().slice(0, 10);
    const series: Record<string, number>[] = (await ask(`/analytics/timeseries?startDate=${sixtyDaysAgo}`)).data;
    const sum = (name: string) => series.reduce((total, point) => total + (point[name] ?? 0), 0);
    const mails = await rows<Record<string, number>>(
      `select count(sent_at)::integer as sent, count(delivered_at)::integer as delivered, count(opened_at)::integer as opened,
         count(human_opened_at)::integer as "humanOpened",
         count(coalesce(human_opened_at, human_clicked_at))::integer as "peopleOpened", count(clicked_at)::integer as clicked,
         count(bounced_at)::integer as bounced from emails where project_id = ?`,
    );
    for (const [name, count] of Object.entries(mails)) expect(sum(name), name).to.equal(count);
    expect(series.filter(({ sent = 0 }) => sent > 0).length).to.be.greaterThan(55);

    const events: { name: string; count: number }[] = (
      await api.db.raw('select name, count(*)::integer as count from events where project_id = ? group by 1', [shop.id])
    ).rows;
    const stats: { name: string; count: number }[] = (await ask(`/events/stats?startDate=${sixtyDaysAgo}`)).data;
    const counts = (list: typeof events) => Object.fromEntries(list.map(({ name, count }) => [name, count]));
    expect(counts(stats)).to.deep.equal(counts(events));

    const { executions, steps } = await ask(`/workflows/${ids.workflow.id}/stats`);
    const counted = await rows<Record<string, number>>(
      `select count(*)::integer as started, count(*) filter (where status = 'EXITED')::integer as exited,
         count(*) filter (where status = 'COMPLETED')::integer as completed,
         count(*) filter (where status in ('RUNNING', 'WAITING'))::integer as active from executions where project_id = ?`,
    );
    expect(executions).to.include(counted);
    const { welcome, wait, customer, reminder } = ids.workflow;
    expect(steps[welcome].passed).to.equal(steps[wait].entered);
    expect(steps[wait].waiting).to.equal(counted.active);
    expect([steps[customer].passed, steps[reminder].passed]).to.deep.equal([counted.exited, counted.completed]);
    expect(steps[wait].branches).to.deep.equal({ event: counted.exited, timeout: counted.completed });
    expect(steps[reminder].mail.sent).to.equal(counted.completed);
  });

  it('records events of emails with the fields that the product gives them', async () => {
    await shop.server.post('/v1/send', { to: 'real@example.com', from: ids.from, subject: 'Hello', body: 'x' });
    const sent =
      (await ask('/events?eventName=email.sent&limit=1')).data?.[0] ?? (await ask('/events?limit=1')).data[0];
    expect(sent.data).to.include.keys('emailId', 'from', 'subject', 'messageId', 'sentAt', 'sourceType', 'campaignId');
  });

  it('puts the addresses that bounced on the suppression list', async () => {
    const { data } = await ask('/suppressions?limit=20');
    expect(data.length).to.be.within(1, 12);
    for (const { reason } of data) expect(reason).to.equal('HARD_BOUNCE');
  });

  it('is written once', async () => {
    const before = (await ask('/contacts?limit=1')).total;
    expect(await addHistory(api.db, ids)).to.equal(false);
    expect((await ask('/contacts?limit=1')).total).to.equal(before);
  });
});
