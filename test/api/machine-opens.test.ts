// Opens and clicks by machines and people, through the pixel and the links, compared with a recount of the ledger.
import { expect } from 'chai';
import { aggregateCounters } from '../../db/models/counters.ts';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { MailLinks } from '../../services/emails/links.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readEventsOfMail } from '../support/reading.ts';
import { addPendingDelta, setCampaigns } from '../support/rows/campaigns.ts';
import { addMailRows, addUnpublishedResult, markSent, waitingNotices } from '../support/rows/mails.ts';
import { campaignMailFigures, mailFigures } from '../support/rows/recounts.ts';
import { eventually } from '../support/waiting.ts';

const BROWSER = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0';
const APPLE = 'Mozilla/5.0';
const GMAIL = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const SCANNER = 'Mozilla/5.0 (compatible; BarracudaCentral; +http://www.barracudacentral.org)';
const LINK = 'https://shop.example/offer?a=1';
const HOUR = 3_600_000;
const SECRET_KEY = 'a key of sixteen or more';

describeApi('opens and clicks by machines', { env: { RATE_LIMIT_PER_MINUTE: '100000', SECRET_KEY } }, (api) => {
  let project: ApiProject;
  let stranger: ApiProject;
  let campaignId: string;
  let people = 0;

  beforeEach(async () => {
    project = await api.project();
    stranger = await api.project();
    const from = `news@${project.senderDomain}`;
    const template = { name: 'Offer', subject: 's', body: 'b', type: 'MARKETING', from };
    const { id: templateId } = (await project.server.post('/templates', template)).body;
    const body = `<a href="${LINK}">Offer</a>`;
    const draft = { name: 'c', subject: 's', body, from, audienceType: 'ALL', templateId };
    campaignId = (await project.server.post('/campaigns', draft)).body.data.id;
    await setCampaigns(api.db, { id: campaignId }, { status: 'SENT', startedAt: new Date() });
  });

  /** A mail that was sent `agoMs` ago, as sending leaves it. */
  async function sent(agoMs: number, of: string | null = campaignId): Promise<string> {
    const id = newId();
    const email = `p${++people}@a.example`;
    const { body: contact } = await project.server.post('/contacts', { email });
    const campaign = of ? { campaignId: of, sourceType: 'CAMPAIGN' } : {};
    // Freezing the audience counts the recipient.
    if (of) await addPendingDelta(api.db, of);
    await addMailRows(api.db, { id, projectId: project.id, contactId: contact.id, toEmail: email, ...campaign });
    await markSent(api.db, id, { sentAt: new Date(Date.now() - agoMs) });
    await addUnpublishedResult(api.db, id, contact.id);
    await publishResults(api.db);
    return id;
  }
  const urlsOf = (id: string) => {
    const links = new MailLinks({ baseUrl: api.url, secretKeys: [SECRET_KEY] });
    const tracked = links.tracked.of({ id, projectId: project.id });
    return { openUrl: tracked.openUrl, clickUrl: tracked.clickUrl(LINK) ?? '' };
  };
  const visit = async (url: string, userAgent: string, headers = {}): Promise<void> => {
    const before = (await waitingNotices(api.db)).length;
    const { status } = await fetch(url, { headers: { 'user-agent': userAgent, ...headers }, redirect: 'manual' });
    expect(status).to.be.oneOf([200, 302]);
    // The answer does not wait long for a slow database.
    await eventually(async () => (await waitingNotices(api.db)).length > before, { what: 'the notice' });
  };
  const open = (id: string, agent: string) => visit(urlsOf(id).openUrl, agent);
  const click = (id: string, agent: string) => visit(urlsOf(id).clickUrl, agent);
  /** Moves the sending of a mail, so that its open was recorded that many seconds later. */
  const openedAfter = (id: string, seconds: number) =>
    api.db.raw(
      `update emails set sent_at = at - make_interval(secs => ?) from email_notices where email_id = emails.id and emails.id = ?`,
      [seconds, id],
    );
  const apply = () =>
    eventually(async () => {
      await applyNotices(api.db);
      return (await waitingNotices(api.db)).length === 0;
    });
  const eventsOf = async (id: string) =>
    (await readEventsOfMail(project, id)).filter(({ name }) => name === 'email.open' || name === 'email.click');
  const get = async (path: string, of = project) => {
    const answer = await of.server.get(path);
    expect(answer, path).to.have.status(200);
    return answer.body;
  };

  it('are recorded with machine, class and seconds after sending', async () => {
    const begun = Date.now();
    const id = await sent(HOUR);
    await open(id, APPLE);
    await apply();
    await open(id, BROWSER);
    await click(id, SCANNER);
    await click(id, BROWSER);
    await apply();
    const events = await eventsOf(id);
    expect(
      events.map(({ name, data }) => [name, data.machine, data.isFirst, data.isFirstHuman, data.userAgentClass]),
    ).to.deep.equal([
      ['email.open', true, true, false, 'PRIVACY_PROXY'],
      ['email.open', false, false, true, 'CLIENT'],
      ['email.click', true, true, false, 'SCANNER'],
      ['email.click', false, false, true, 'CLIENT'],
    ]);
    const most = 3600 + (Date.now() - begun) / 1_000;
    for (const { data } of events) expect(data.secondsAfterSending).to.be.within(3600, most);
  });

  it('include a browser right after the mail was sent, and an image proxy within ten seconds', async () => {
    const fresh = await sent(HOUR);
    const early = await sent(HOUR);
    const late = await sent(HOUR);
    await open(fresh, BROWSER);
    await open(early, GMAIL);
    await open(late, GMAIL);
    await openedAfter(fresh, 1);
    await openedAfter(early, 9);
    await openedAfter(late, 11);
    await apply();
    const machine = async (id: string) => (await eventsOf(id)).map(({ data }) => data.machine);
    expect([await machine(fresh), await machine(early), await machine(late)]).to.deep.equal([[true], [true], [false]]);
  });

  for (const headers of [{ 'sec-purpose': 'prefetch' }, { purpose: 'prefetch' }, { 'x-moz': 'prefetch' }])
    it(`include a browser that loads in advance: ${JSON.stringify(headers)}`, async () => {
      const id = await sent(HOUR);
      await visit(urlsOf(id).openUrl, BROWSER, headers);
      await visit(urlsOf(id).clickUrl, BROWSER, headers);
      await apply();
      await click(id, BROWSER);
      await apply();
      expect((await eventsOf(id)).map(({ name, data }) => [name, data.machine, data.userAgentClass])).to.deep.equal([
        ['email.open', true, 'PREFETCH'],
        ['email.click', true, 'PREFETCH'],
        ['email.click', false, 'CLIENT'],
      ]);
    });

  it('do not hide a person among many machines of one batch', async () => {
    const id = await sent(HOUR);
    for (let n = 0; n < 12; n++) await open(id, APPLE);
    await open(id, BROWSER);
    await open(id, BROWSER);
    await apply();
    const events = await eventsOf(id);
    expect(events.filter(({ data }) => data.isFirstHuman)).to.have.lengthOf(1);
    expect(events.filter(({ data }) => data.machine)).to.have.lengthOf(10);
    await aggregateEventCounts(api.db);
    expect((await get('/analytics/by-domain'))[0]).to.include({ opened: 1, humanOpened: 1 });
  });

  it('count in the existing figures only; the new ones equal a recount of the ledger at any time', async () => {
    const mails: string[] = [];
    for (let n = 0; n < 9; n++) mails.push(await sent(HOUR, n < 6 ? campaignId : null));
    const agents = [APPLE, BROWSER, SCANNER];
    for (const [n, id] of mails.entries()) {
      if (n < 8) await open(id, agents[n % 3] ?? '');
      if (n % 2 === 0) await click(id, agents[(n >> 1) % 3] ?? '');
      if (n === 0) await open(id, BROWSER);
    }
    await apply();
    const { opened, clicked, humanOpened, humanClicked, peopleOpened } = await mailFigures(api.db, {
      projectId: project.id,
    });
    const ofCampaigns = await campaignMailFigures(api.db, project.id);
    const campaign = {
      openedCount: ofCampaigns.opened,
      clickedCount: ofCampaigns.clicked,
      humanOpenedCount: ofCampaigns.humanOpened,
      humanClickedCount: ofCampaigns.humanClicked,
      peopleOpenedCount: ofCampaigns.peopleOpened,
    };
    expect({ opened, clicked, humanOpened, humanClicked, peopleOpened }).to.deep.equal({
      opened: 8,
      clicked: 5,
      humanOpened: 4,
      humanClicked: 2,
      peopleOpened: 6,
    });
    expect(campaign).to.include({ humanOpenedCount: 3, peopleOpenedCount: 4 });
    for (const state of ['before', 'after', 'after all are aggregated twice']) {
      if (state !== 'before') {
        await aggregateEventCounts(api.db);
        await Promise.all([aggregateCounters(api.db), aggregateCounters(api.db)]);
      }
      expect(await get(`/campaigns/${campaignId}`), state).to.include(campaign);
      expect(await get(`/campaigns/${campaignId}/stats`), state).to.include({
        ...campaign,
        humanOpenRate: campaign.humanOpenedCount / 6,
      });
      expect(await get('/analytics/campaign-stats'), state).to.include(campaign);
      const [top] = await get('/analytics/top-campaigns?metric=humanOpens');
      expect(top, state).to.include({ id: campaignId, ...campaign });
      expect(await get('/activity/stats'), state).to.include({
        totalEmailsOpened: opened,
        totalEmailsHumanOpened: humanOpened,
        totalEmailsHumanClicked: humanClicked,
        humanOpenRate: humanOpened / 9,
      });
      const { data } = await get('/analytics/timeseries');
      for (const [kind, count] of Object.entries({ opened, clicked, humanOpened, humanClicked, peopleOpened }))
        expect(
          data.reduce((sum: number, point: Record<string, number>) => sum + (point[kind] ?? 0), 0),
          kind,
        ).to.equal(count);
    }
    const { openedCount, clickedCount, humanOpenedCount, humanClickedCount, peopleOpenedCount } = campaign;
    const ofCampaign = {
      opened: openedCount,
      clicked: clickedCount,
      humanOpened: humanOpenedCount,
      humanClicked: humanClickedCount,
      peopleOpened: peopleOpenedCount,
    };
    expect((await get(`/campaigns/${campaignId}/domains`)).data[0]).to.include({ domain: 'a.example', ...ofCampaign });
    expect((await get('/analytics/by-template'))[0]).to.include({ name: 'Offer', ...ofCampaign });
    expect((await get('/analytics/by-domain'))[0]).to.include({
      opened,
      clicked,
      humanOpened,
      humanClicked,
      peopleOpened,
    });
  });

  for (const order of ['open, then click', 'click, then open', 'both in one batch', 'a click only'])
    it(`count an email once as opened or clicked by a person: ${order}`, async () => {
      const id = await sent(HOUR, campaignId);
      if (order === 'open, then click') await open(id, BROWSER);
      else await click(id, BROWSER);
      if (order !== 'both in one batch') await apply();
      await aggregateEventCounts(api.db);
      if (order === 'open, then click') await click(id, BROWSER);
      else if (order !== 'a click only') await open(id, BROWSER);
      await apply();
      await aggregateEventCounts(api.db);
      const domains = (await get(`/campaigns/${campaignId}/domains`)).data;
      expect(domains).to.have.lengthOf(1);
      expect(domains[0]).to.include({ peopleOpened: 1, humanClicked: 1 });
      expect(await get(`/campaigns/${campaignId}`)).to.include({ peopleOpenedCount: 1, humanClickedCount: 1 });
      expect((await get('/analytics/by-template'))[0]).to.include({ peopleOpened: 1 });
      expect((await get('/analytics/by-domain'))[0]).to.include({ peopleOpened: 1 });
    });

  describe('GET /analytics/top-links', () => {
    it('lists links by the clicks of people, of campaigns and of other mail, and equals a recount of the events', async () => {
      const one = await sent(HOUR);
      const two = await sent(HOUR, null);
      await click(one, BROWSER);
      await click(one, SCANNER);
      await click(two, BROWSER);
      await apply();
      await aggregateEventCounts(api.db);
      const links = await get('/analytics/top-links');
      // Only the campaign's body shows that the query of the link is not personal.
      expect(links).to.deep.equal([
        { link: LINK, clicks: 2, humanClicks: 1 },
        { link: 'https://shop.example/offer', clicks: 1, humanClicks: 1 },
      ]);
      const { rows } = await api.db.raw(
        `select count(*)::int as clicks, count(*) filter (where not (data ->> 'machine')::boolean)::int as "humanClicks"
         from events where project_id = ? and name = 'email.click'`,
        [project.id],
      );
      const sum = (key: 'clicks' | 'humanClicks') =>
        links.reduce((total: number, link: Record<typeof key, number>) => total + link[key], 0);
      expect({ clicks: sum('clicks'), humanClicks: sum('humanClicks') }).to.deep.equal(rows[0]);
      const clicked = (await get(`/campaigns/${campaignId}/links`)).data;
      expect(clicked).to.have.length(1);
      const counts = { clicks: 2, uniqueClicks: 1, humanClicks: 1, uniqueHumanClicks: 1 };
      expect(clicked[0]).to.include({ link: LINK, ...counts, index: 0, text: 'Offer' });
      expect(await get('/analytics/top-links?limit=1')).to.deep.equal(links.slice(0, 1));
      // As many clicks as the one before: the order of addresses decides.
      await click(two, SCANNER);
      await apply();
      await aggregateEventCounts(api.db);
      const expected = [
        { link: 'https://shop.example/offer', clicks: 2, humanClicks: 1 },
        { link: LINK, clicks: 2, humanClicks: 1 },
      ];
      expect(await get('/analytics/top-links')).to.deep.equal(expected);
      expect(await get('/analytics/top-links?limit=1')).to.deep.equal(expected.slice(0, 1));
      expect(await get('/analytics/top-links?startDate=2020-01-01&endDate=2020-01-31')).to.deep.equal([]);
      expect(await get('/analytics/top-links', stranger)).to.deep.equal([]);
    });

    it('rejects a limit of 0 and a bad date with 400', async () => {
      for (const query of ['limit=0', 'startDate=never'])
        expect(await project.server.get(`/analytics/top-links?${query}`), query).to.have.status(400);
    });
  });
});
