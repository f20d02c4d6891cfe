import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Download, Page } from 'playwright-core';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { type Notice, recordNotices } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import type { ApiProject } from '../support/api.ts';
import { describeApp } from '../support/app.ts';
import { axeFindings } from '../support/browser.ts';
import { addPendingDelta, completeCampaign, setCampaigns } from '../support/rows/campaigns.ts';
import { addMailRows, addUnpublishedResult, setMails, waitingNotices } from '../support/rows/mails.ts';
import { countMails, countTrouble, mailFigures, mailFiguresByDomain } from '../support/rows/recounts.ts';
import { eventually } from '../support/waiting.ts';

const DAY = 86_400_000;
const LINK = 'https://shop.example/new';
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

describeApp('the pages of analytics and activity', {}, (app) => {
  let project: ApiProject;
  let campaignId: string;

  before(async () => {
    project = await app.project();
    await live();
  });
  /** A campaign, other mail and events, today and 35 days ago, with readers of both kinds. */
  async function live(): Promise<void> {
    const from = `news@${project.senderDomain}`;
    const template = { name: 'Offer', subject: 's', body: 'b', type: 'MARKETING', from };
    const { id: templateId } = (await project.server.post('/templates', template)).body;
    const draft = {
      name: 'Spring',
      subject: 'Hi {{name}}',
      body: `<a href="${LINK}">New</a>`,
      from,
      audienceType: 'ALL',
    };
    campaignId = (await project.server.post('/campaigns', { ...draft, templateId })).body.data.id;
    await setCampaigns(app.db, { id: campaignId }, { status: 'SENT', startedAt: new Date() });
    const mails: string[] = [];
    for (let n = 0; n < 8; n++) mails.push(await sent(n));
    await publishResults(app.db);
    const notices = mails.flatMap((id, n): Notice[] => [
      { mail: { id }, kind: 'delivery' },
      ...(n < 6
        ? [{ mail: { id }, kind: 'open' as const, agent: n % 2 ? ('CLIENT' as const) : ('SCANNER' as const) }]
        : []),
      // The third one clicks without loading images.
      ...(n < 3
        ? [{ mail: { id }, kind: 'click' as const, link: LINK, agent: n ? ('CLIENT' as const) : ('NONE' as const) }]
        : []),
      ...(n === 7 ? [{ mail: { id }, kind: 'bounce' as const, bounceType: 'Permanent' as const }] : []),
    ]);
    await recordNotices(app.db, notices);
    await applyUntilEmpty();
    for (const event of ['signup', 'signup', 'purchase'])
      await project.browser.post('/v1/track', { email: 'p0@a.example', event });
    await aggregateEventCounts(app.db);
  }
  async function sent(n: number): Promise<string> {
    const id = newId();
    const email = `p${n}@${n % 3 ? 'a' : 'b'}.example`;
    const { body: contact } = await project.server.post('/contacts', { email });
    const campaign = n < 5 ? { campaignId, sourceType: 'CAMPAIGN' } : {};
    await addMailRows(app.db, { id, projectId: project.id, contactId: contact.id, toEmail: email, ...campaign });
    // Freezing the audience counts the recipient.
    if (n < 5) await addPendingDelta(app.db, campaignId);
    const sentAt = new Date(Date.now() - (n === 6 ? 35 * DAY : 3_600_000));
    await setMails(app.db, { id }, { status: 'SENT', sentAt });
    await addUnpublishedResult(app.db, id, contact.id);
    return id;
  }
  const applyUntilEmpty = () =>
    eventually(async () => {
      await applyNotices(app.db);
      return (await waitingNotices(app.db)).length === 0;
    });
  const open = async (path: string, width = 1280): Promise<Page> => {
    return app.open(`/app/p/${project.id}${path}`, { cookie: project.cookie, width });
  };
  const count = (at: string, since: Date, until = new Date(Date.now() + DAY)): Promise<number> =>
    countMails(app.db, project.id, { at, since, until });
  /** The cells of a table, row by row, without what the page adds for narrow screens. */
  const tableOf = async (page: Page, name: string): Promise<string[][]> => {
    const rows = page.getByRole('table', { name, exact: true }).locator('tbody tr');
    await rows.first().waitFor();
    const texts: string[][] = [];
    for (const row of await rows.all())
      texts.push((await row.locator('td').allInnerTexts()).map((text) => text.trim()));
    return texts;
  };
  const contentOf = async (download: Download): Promise<Buffer> => readFile(await download.path());

  it('shows figures that equal a recount of the ledger, compares periods, and exports CSV and a picture', async () => {
    const page = await open('/analytics?compare=true');
    const today = new Date(new Date().toISOString().slice(0, 10));
    const start = new Date(today.getTime() - 29 * DAY);
    const before = new Date(start.getTime() - 30 * DAY);
    const times = {
      sent: 'sent_at',
      delivered: 'delivered_at',
      peopleOpened: 'least(human_opened_at, human_clicked_at)',
      humanClicked: 'human_clicked_at',
      bounced: 'bounced_at',
      complained: 'complained_at',
      opened: 'opened_at',
      clicked: 'clicked_at',
    };
    await page.locator('[data-before="sent"]').waitFor();
    for (const [name, time] of Object.entries(times)) {
      const text = await page.locator(`[data-figure="${name}"]`).innerText();
      expect(Number(/\d+/.exec(text)?.[0]), name).to.equal(await count(time, start));
      if (name === 'opened' || name === 'clicked') continue;
      const earlier = await page.locator(`[data-before="${name}"]`).innerText();
      expect(Number.parseInt(earlier, 10), `${name} before`).to.equal(await count(time, before, start));
    }
    expect(await count('least(human_opened_at, human_clicked_at)', start)).to.equal(4);
    expect(await count('sent_at', before, start)).to.equal(1);

    const campaign = await mailFigures(app.db, { campaignId });
    const numbers = ({ sent, peopleOpened, humanClicked, opened, bounced }: typeof campaign) =>
      [sent, peopleOpened, humanClicked, opened, bounced].map(String);
    expect(await tableOf(page, 'Top campaigns')).to.deep.equal([['Spring', ...numbers(campaign)]]);
    expect((await tableOf(page, 'Top events')).map(([name, events]) => [name, events])).to.deep.equal([
      ['signup', '2'],
      ['purchase', '1'],
    ]);
    expect(await tableOf(page, 'Top links')).to.deep.equal([[LINK, '2', '3']]);
    const domains = await mailFiguresByDomain(app.db, project.id);
    expect(await tableOf(page, 'By recipient domain')).to.deep.equal(
      domains.map((row) => [row.domain, row.sent, row.peopleOpened, row.humanClicked, row.bounced].map(String)),
    );
    const [ofTemplate] = await tableOf(page, 'By template');
    const { sent, peopleOpened, humanClicked, bounced } = campaign;
    expect(ofTemplate).to.deep.equal(['Offer', ...[sent, peopleOpened, humanClicked, bounced].map(String)]);

    const results = await open(`/campaigns/${campaignId}?tab=domains`);
    const opened = (await tableOf(results, 'By domain')).map(([, , , cell = '']) => Number.parseInt(cell, 10));
    expect(opened.reduce((sum, people) => sum + people, 0)).to.equal(campaign.peopleOpened);
    const above = await results.locator('[data-reaction=peopleOpenedCount]').innerText();
    expect(above).to.equal(String(campaign.peopleOpened));

    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV', exact: true }).click(),
    ]);
    const lines = (await contentOf(csv)).toString('utf8').trim().split('\r\n');
    expect(lines).to.have.lengthOf(31);
    const column = (index: number) => lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[index]), 0);
    expect([column(1), column(3)]).to.deep.equal([await count('sent_at', start), 4]);
    const [picture] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export picture' }).click(),
    ]);
    const bytes = await contentOf(picture);
    expect(bytes.subarray(0, 4)).to.deep.equal(PNG);
    expect(bytes.length).to.be.above(5_000);
    expect(await axeFindings(page)).to.deep.equal([]);

    await page.getByLabel('Period', { exact: true }).selectOption('7');
    await page.waitForURL(/days=7/);
    await eventually(async () => (await page.locator('[data-before="sent"]').innerText()).startsWith('0'));
  });

  it('shows figures on Home that equal a recount', async () => {
    const of = { projectId: project.id };
    const { id: contactId, email } = await app.db('contacts').where(of).first('id', 'email');
    const mail = { ...of, contactId, toEmail: email };
    const old = new Date(Date.now() - 9 * DAY);
    await addMailRows(app.db, [
      ...['UNKNOWN', 'UNKNOWN', 'FAILED', 'FAILED', 'FAILED'].map((status) => ({ id: newId(), ...mail, status })),
      { id: '01000000-0000-7000-8000-000000000001', ...mail, status: 'FAILED', createdAt: old },
      { id: newId(), ...mail, blockedDomain: 'lost.example' },
    ]);
    const { id: workflowId } = (await project.server.post('/workflows', { name: 'Trial', eventName: 'x' })).body;
    const execution = { ...of, workflowId, contactId, version: 1, afterPosition: 0, oncePerContact: false };
    await app
      .db('executions')
      .insert([
        ...['FAILED', 'FAILED', 'COMPLETED'].map((status) => ({ id: newId(), ...execution, status })),
        { id: newId(), ...execution, status: 'WAITING', wakeAt: new Date(Date.now() + DAY) },
      ]);
    const draft = {
      name: 'Paused',
      subject: 's',
      body: 'b',
      from: `news@${project.senderDomain}`,
      audienceType: 'ALL',
    };
    const pausedId = (await project.server.post('/campaigns', draft)).body.data.id;
    await app.db('campaigns').where({ id: pausedId }).update({ status: 'SENDING', paused: true, pausedBy: 'USER' });
    const later = { ...draft, name: 'Later' };
    const laterId = (await project.server.post('/campaigns', later)).body.data.id;
    const scheduled = { status: 'SCHEDULED', scheduledFor: new Date(Date.now() + DAY) };
    await app.db('campaigns').where({ id: laterId }).update(scheduled);
    await project.server.post('/domains', { domain: 'pending.example' });
    const { id: endpointId } = (
      await project.server.post('/webhook-endpoints', { url: 'https://hook.example/x', types: ['*'] })
    ).body;
    await app.db('webhookEndpoints').where({ id: endpointId }).update({ failingSince: new Date() });

    const page = await open('');
    const start = new Date(new Date(new Date().toISOString().slice(0, 10)).getTime() - 29 * DAY);
    const figures = {
      sent: 'sent_at',
      delivered: 'delivered_at',
      bounced: 'bounced_at',
      peopleOpened: 'least(human_opened_at, human_clicked_at)',
      humanClicked: 'human_clicked_at',
    };
    await page.locator('[data-figure="sent"]').waitFor();
    expect(await page.locator('[data-figure]').count()).to.equal(Object.keys(figures).length);
    for (const [name, time] of Object.entries(figures))
      expect(await page.locator(`[data-figure="${name}"]`).innerText(), name).to.equal(
        String(await count(time, start)),
      );

    const week = new Date(Date.now() - 7 * DAY);
    const sentInWeek = await count('sent_at', week);
    const bounced = await count('bounced_at', week);
    const complained = await count('complained_at', week);
    expect(bounced).to.equal(1);
    const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });
    for (const [label, number] of [
      ['Bounces, 7 days', bounced],
      ['Spam complaints, 7 days', complained],
    ] as const) {
      const text = await page.locator('.record').filter({ hasText: label }).locator('.big-number').innerText();
      expect(text, label).to.equal(percent.format(number / sentInWeek));
    }

    const { unknown, blocked, failed, executions } = await countTrouble(app.db, project.id);
    expect({ unknown, blocked, failed, executions }).to.deep.equal({
      unknown: 2,
      blocked: 1,
      failed: 3,
      executions: 2,
    });
    const panel = (name: string) => page.locator('section').filter({ has: page.getByRole('heading', { name }) });
    await panel('Needs attention').getByRole('listitem').first().waitFor();
    expect(await panel('Needs attention').getByRole('listitem').allInnerTexts()).to.deep.equal([
      `${unknown} mails have an unknown outcome`,
      `${blocked} mail is blocked`,
      `${failed} mails failed in the last 7 days`,
      `${executions} journeys have failed`,
      'The webhook endpoint at hook.example is failing',
      'The campaign Paused is paused',
      'pending.example is not verified yet',
    ]);
    const upcoming = await panel('Upcoming').getByRole('link').allInnerTexts();
    const [people, campaign] = upcoming.sort();
    expect(people).to.equal('1 person continues in Trial');
    expect(campaign).to.match(/^Campaign Later to \d+ recipients$/);
  });

  it('shows no number of deliveries where the relay reports none', async () => {
    const other = await app.project();
    const { body: contact } = await other.server.post('/contacts', { email: 'ann@a.example' });
    const id = newId();
    await addMailRows(app.db, { id, projectId: other.id, contactId: contact.id, toEmail: contact.email });
    await setMails(app.db, { id }, { status: 'SENT', sentAt: new Date() });
    await addUnpublishedResult(app.db, id, contact.id);
    await publishResults(app.db);
    for (const path of ['', '/analytics']) {
      const page = await app.open(`/app/p/${other.id}${path}`, { cookie: other.cookie });
      await page.getByText('The relay has reported no deliveries').waitFor();
      expect(await page.locator('[data-figure="sent"]').innerText()).to.equal('1');
      expect(await page.locator('[data-figure="delivered"]').innerText()).to.equal('—');
    }
  });

  it('shows activity as it happens, and filters it by type and person', async () => {
    const page = await open('/activity');
    await page.getByText('purchase', { exact: true }).waitFor();
    await project.browser.post('/v1/track', { email: 'p1@a.example', event: 'refund' });
    await page.getByText('refund', { exact: true }).waitFor();

    await setCampaigns(app.db, { id: campaignId }, { sentAt: new Date() });
    await page.getByLabel('Type').selectOption('campaigns');
    await page.getByRole('link', { name: 'Spring', exact: true }).waitFor();

    await page.getByLabel('Type').selectOption('reading');
    await page.waitForURL(/type=reading/);
    const rows = page.getByRole('table', { name: 'Activity' }).locator('tbody tr');
    const { rows: expected } = await app.db.raw(
      `select count(*)::int as count from events where project_id = ? and name in ('email.open', 'email.click')`,
      [project.id],
    );
    await eventually(async () => (await rows.count()) === expected[0].count);
    expect(await page.getByText('by a machine').count()).to.equal(4);

    await page.getByLabel('Person').fill('nobody@a.example');
    await page.getByRole('button', { name: 'Search' }).last().click();
    await page.getByText('No contact has this address.').waitFor();
    await page.getByLabel('Person').fill('p1@a.example');
    await page.getByRole('button', { name: 'Search' }).last().click();
    await page.getByText('Only p1@a.example').waitFor();
    await eventually(async () => (await rows.count()) === 2);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Show everybody' }).click();
    await eventually(async () => (await rows.count()) === expected[0].count);
  });

  it('shows how many notifications are unread at the bell, and lists them with their settings', async () => {
    await completeCampaign(app.db, campaignId);
    const page = await open('');
    await page.getByRole('link', { name: 'Notifications, 2 unread' }).click();
    await page.getByRole('link', { name: 'The campaign Spring has finished' }).first().waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('switch', { name: 'A campaign has finished: Here' }).waitFor();
  });

  for (const [path, width] of [
    ['/analytics', 375],
    ['/analytics', 1280],
    ['/activity', 375],
    ['/notifications', 375],
  ] as const)
    it(`does not scroll sideways at ${width} px: ${path}`, async () => {
      const page = await open(path, width);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
    });
});
