import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { type Notice, recordNotices } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { addCampaignDomains, setCampaigns, storedCampaignDomains } from '../support/rows/campaigns.ts';
import { addMailRows, addUnpublishedResult, waitingNotices } from '../support/rows/mails.ts';
import { eventually } from '../support/waiting.ts';

const BODY = '<a href="https://shop.example/a?x=1&amp;y=2">a</a> <a href="https://shop.example/me?id={{ id }}">b</a>';
const none = {
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  humanOpened: 0,
  humanClicked: 0,
  peopleOpened: 0,
  bounced: 0,
  complained: 0,
  failed: 0,
};

describeApi('counts by template, recipient domain and link', (api) => {
  let project: ApiProject;
  let stranger: ApiProject;
  let campaignId: string;

  beforeEach(async () => {
    project = await api.project();
    stranger = await api.project();
    const from = `news@${project.senderDomain}`;
    const template = { name: 'Welcome', subject: 's', body: 'b', type: 'MARKETING', from };
    const { body } = await project.server.post('/templates', template);
    const draft = { name: 'c', subject: 's', body: BODY, from, audienceType: 'ALL', templateId: body.id };
    campaignId = (await project.server.post('/campaigns', draft)).body.data.id;
  });

  /** Adds mails of the campaign with a result, as sending leaves them, and publishes the results. */
  async function send(emails: string[], status = 'SENT', of: string | null = campaignId): Promise<string[]> {
    const ids: string[] = [];
    for (const email of emails) {
      const id = newId();
      const { body: contact } = await project.server.post('/contacts', { email });
      await addMailRows(api.db, {
        id,
        projectId: project.id,
        contactId: contact.id,
        status,
        toEmail: email,
        reason: null,
        ...(of ? { campaignId: of, sourceType: 'CAMPAIGN' } : {}),
        sentAt: status === 'SENT' ? new Date() : null,
      });
      await addUnpublishedResult(api.db, id, contact.id);
      ids.push(id);
    }
    await publishResults(api.db);
    return ids;
  }
  async function notice(id: string | undefined, kind: Notice['kind'], more: Partial<Notice> = {}): Promise<void> {
    await recordNotices(api.db, [{ mail: { id: id ?? '' }, kind, agent: 'NONE', ...more }]);
    await eventually(async () => {
      await applyNotices(api.db);
      return (await waitingNotices(api.db)).length === 0;
    });
  }
  const get = async (path: string) => {
    await aggregateEventCounts(api.db);
    const { status, body } = await project.server.get(path);
    expect(status).to.equal(200);
    return body;
  };

  it('counts each mail once by the domain of its recipient, whatever is repeated', async () => {
    const [ann] = await send(['ann@a.example', 'bob@a.example', 'eve@b.example']);
    await send(['fay@b.example'], 'FAILED');
    for (const kind of ['delivery', 'open', 'open', 'click'] as const)
      await notice(ann, kind, { link: 'https://shop.example/a?x=1&y=2' });
    await notice(ann, 'complaint');
    expect(await get(`/campaigns/${campaignId}/domains`)).to.deep.equal({
      data: [
        { domain: 'a.example', ...none, sent: 2, delivered: 1, opened: 1, clicked: 1, complained: 1 },
        { domain: 'b.example', ...none, sent: 1, failed: 1 },
      ],
    });
  });

  it('counts clicks and recipients by link, and shows a link made for one recipient as the campaign has it', async () => {
    const [ann, bob] = await send(['ann@a.example', 'bob@a.example']);
    const link = 'https://shop.example/a?x=1&y=2';
    for (const id of [ann, ann, bob]) await notice(id, 'click', { link });
    await notice(ann, 'click', { link: 'https://shop.example/me?id=secret' });
    await notice(ann, 'click', { link: 'https://other.example/x?id=secret' });
    const none = { humanClicks: 0, uniqueHumanClicks: 0, firstAt: null, lastAt: null };
    const { data } = await get(`/campaigns/${campaignId}/links`);
    expect(data.map(({ linkId: _, ...counts }: { linkId: string }) => counts)).to.deep.equal([
      { link, text: 'a', index: 0, clicks: 3, uniqueClicks: 2, ...none },
      { link: 'https://other.example/x', text: null, index: null, clicks: 1, uniqueClicks: 1, ...none },
      { link: 'https://shop.example/me?id={{ id }}', text: 'b', index: 1, clicks: 1, uniqueClicks: 1, ...none },
    ]);
    await notice(bob, 'click', { link });
    expect((await get(`/campaigns/${campaignId}/links`)).data[0]).to.deep.include({
      link,
      clicks: 4,
      uniqueClicks: 2,
      humanClicks: 0,
    });
    expect((await get(`/campaigns/${campaignId}/links?limit=1`)).data).to.have.lengthOf(1);
  });

  it('counts at most 1,000 domains of a campaign separately', async () => {
    await addCampaignDomains(api.db, campaignId, 999, 5);
    await send(['x@one.example', 'y@two.example', 'z@d1.example']);
    const { data } = await get(`/campaigns/${campaignId}/domains?limit=2000`);
    expect(data).to.have.lengthOf(1_000);
    await aggregateEventCounts(api.db);
    const rows = (await storedCampaignDomains(api.db, campaignId)).filter(({ sent }) => Number(sent) !== 5);
    expect(rows.map(({ domain, sent }) => [domain, Number(sent)])).to.deep.equal([
      ['d1.example', 6],
      ['one.example', 1],
      ['other', 1],
    ]);
  });

  it('answers empty lists for a campaign without mail, and 404 to another project', async () => {
    for (const what of ['links', 'domains']) {
      expect(await get(`/campaigns/${campaignId}/${what}`)).to.deep.equal({ data: [] });
      expect(await stranger.server.get(`/campaigns/${campaignId}/${what}`)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
      expect(await project.server.get(`/campaigns/${campaignId}/${what}?limit=0`)).to.have.status(400);
    }
  });

  it('sums templates and domains over the days of a range, the largest first', async () => {
    const [ann] = await send(['ann@a.example', 'bob@a.example', 'eve@b.example']);
    await notice(ann, 'bounce', { bounceType: 'Permanent' });
    await send(['sue@c.example'], 'SENT', null);
    const [template, ...others] = await get('/analytics/by-template');
    expect(others).to.deep.equal([]);
    expect(template).to.deep.include({ name: 'Welcome', ...none, sent: 3, bounced: 1 });
    expect(template.templateId).to.be.a('string');
    expect(await get('/analytics/by-domain')).to.deep.equal([
      { domain: 'a.example', ...none, sent: 2, bounced: 1 },
      { domain: 'b.example', ...none, sent: 1 },
      { domain: 'c.example', ...none, sent: 1 },
    ]);
    expect(await get('/analytics/by-domain?limit=1')).to.deep.equal([
      { domain: 'a.example', ...none, sent: 2, bounced: 1 },
    ]);
    const past = 'startDate=2020-01-01&endDate=2020-01-31';
    for (const what of ['by-template', 'by-domain']) {
      expect(await get(`/analytics/${what}?${past}`)).to.deep.equal([]);
      expect((await stranger.server.get(`/analytics/${what}`)).body).to.deep.equal([]);
      expect(await project.server.get(`/analytics/${what}?startDate=never`)).to.be.envelope(400, 'BAD_REQUEST');
    }
  });

  it('keeps the counts of a deleted template without its name', async () => {
    await send(['ann@a.example']);
    const [{ templateId }] = await get('/analytics/by-template');
    await setCampaigns(api.db, { id: campaignId }, { templateId: null });
    expect(await project.server.delete(`/templates/${templateId}`)).to.have.status(204);
    expect((await get('/analytics/by-template'))[0]).to.deep.include({ templateId, name: null, sent: 1 });
  });

  it('counts no mail twice when two processes aggregate at once', async () => {
    await send(Array.from({ length: 20 }, (_, n) => `u${n}@a.example`));
    await Promise.all([aggregateEventCounts(api.db), aggregateEventCounts(api.db), aggregateEventCounts(api.db)]);
    expect((await get(`/campaigns/${campaignId}/domains`)).data[0].sent).to.equal(20);
  });
});
