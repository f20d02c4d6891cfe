import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import type { Notice } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { runSlice } from '../../services/jobs/run.ts';
import type { ApiAnswer, ApiProject, TestApi } from '../support/api.ts';
import { addContacts, type CampaignWorker, recipientTo } from '../support/campaigns.ts';
import { reactTo } from '../support/reactions.ts';
import { readAudit } from '../support/reading.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

const BODY =
  '<p>{{ name }}</p> <a href="https://shop.example/spring">Spring <b>offer</b></a> ' +
  '<a href="https://shop.example/shop?c={{ code }}&amp;x=1"><img alt="The shop" src="https://shop.example/p.png"></a>';

describe('the results of a campaign', () => {
  let sending: SendingApi;
  let api: TestApi;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: ApiProject;
  let stranger: ApiProject;

  before(async () => {
    sending = await startSendingApi();
    ({ api, smtp, worker } = sending);
    stranger = await api.project();
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    smtp.behave();
    smtp.mails.length = 0;
  });

  const post = (id: string, action: string, body?: object) => project.server.post(`/campaigns/${id}/${action}`, body);
  const get = async (id: string, what = ''): Promise<ApiAnswer['body']> => {
    const answer = await project.server.get(`/campaigns/${id}${what}`);
    expect(answer, what).to.have.status(200);
    return answer.body;
  };
  const draft = async (): Promise<string> => {
    const answer = await project.server.post('/campaigns', {
      name: 'Spring',
      subject: 'Hi',
      body: BODY,
      from: `news@${project.senderDomain}`,
      audienceType: 'ALL',
    });
    return answer.body.data.id;
  };
  const sentTo = async (count: number): Promise<string> => {
    await addContacts(api.db, project, count);
    const id = await draft();
    expect(await post(id, 'send')).to.have.status(200);
    await worker.run(id);
    await publishResults(api.db);
    return id;
  };
  const react = async (id: string, email: string, kind: Notice['kind'], more: Partial<Notice> = {}): Promise<void> => {
    await reactTo(api.db, (await recipientTo(api.db, id, email)).id, kind, more);
  };
  const addressesOf = async (id: string, query: string): Promise<string[]> =>
    (await get(id, `/recipients?${query}`)).data.map(({ email }: { email: string }) => email.split('@')[0]).sort();

  it('lists recipients by outcome, people only, with times and links', async () => {
    smtp.misbehave({ at: 'recipient', to: 'p5@example.com', do: { code: 550, text: 'no such user' } });
    const id = await sentTo(7);
    await react(id, 'p0@example.com', 'open');
    await react(id, 'p1@example.com', 'click', { link: 'https://shop.example/spring' });
    await react(id, 'p2@example.com', 'open', { agent: 'SCANNER' });
    await react(id, 'p3@example.com', 'bounce', { bounceType: 'Transient' });
    await react(id, 'p4@example.com', 'complaint');
    expect(await addressesOf(id, 'outcome=OPENED')).to.deep.equal(['p0', 'p1']);
    expect(await addressesOf(id, 'outcome=NOT_OPENED')).to.deep.equal(['p2', 'p4', 'p6']);
    expect(await addressesOf(id, 'outcome=CLICKED')).to.deep.equal(['p1']);
    expect(await addressesOf(id, 'outcome=NOT_CLICKED')).to.deep.equal(['p0', 'p2', 'p4', 'p6']);
    expect(await addressesOf(id, 'outcome=BOUNCED')).to.deep.equal(['p3', 'p5']);
    expect(await addressesOf(id, 'outcome=COMPLAINED')).to.deep.equal(['p4']);
    expect(await addressesOf(id, 'outcome=UNSUBSCRIBED')).to.deep.equal([]);
    const [clicked] = (await get(id, '/recipients?outcome=CLICKED')).data;
    const { data: links } = await get(id, '/links');
    expect(clicked.links).to.deep.equal([links[0].linkId]);
    expect(new Date(clicked.clickedAt).toISOString()).to.equal(clicked.clickedAt);
    expect(clicked).to.include({ openedAt: clicked.clickedAt, bouncedAt: null });
    const [scanned] = (await get(id, '/recipients?search=P2@')).data;
    expect(scanned).to.deep.include({ email: 'p2@example.com', openedAt: null, clickedAt: null, links: [] });
  });

  it('counts pages of a filtered list and binds its cursor to the filter', async () => {
    const id = await sentTo(3);
    const page = await get(id, '/recipients?outcome=NOT_OPENED&limit=2');
    expect(page).to.include({ total: 3, hasMore: true });
    expect((await get(id, `/recipients?outcome=NOT_OPENED&limit=2&cursor=${page.cursor}`)).data).to.have.lengthOf(1);
    const other = await project.server.get(`/campaigns/${id}/recipients?outcome=CLICKED&cursor=${page.cursor}`);
    expect(other).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('shows a link with variables as one entry, as the campaign has it, and who clicked it', async () => {
    const id = await sentTo(3);
    const first = 'https://shop.example/shop?c=AB12&x=1';
    await react(id, 'p0@example.com', 'click', { link: first });
    await react(id, 'p0@example.com', 'click', { link: first, agent: 'SCANNER' });
    await react(id, 'p1@example.com', 'click', { link: 'https://shop.example/shop?c=&x=1' });
    await react(id, 'p2@example.com', 'click', { link: 'https://shop.example/spring', agent: 'SCANNER' });
    const { data } = await get(id, '/links');
    expect(data.map(({ link }: { link: string }) => link)).to.deep.equal([
      'https://shop.example/shop?c={{ code }}&x=1',
      'https://shop.example/spring',
    ]);
    expect(data[0]).to.include({ clicks: 3, uniqueClicks: 2, humanClicks: 2, uniqueHumanClicks: 2 });
    expect(data[0]).to.include({ text: 'The shop', index: 1 });
    expect(data[0].firstAt <= data[0].lastAt).to.equal(true);
    expect(data[1]).to.include({ clicks: 1, uniqueHumanClicks: 0, firstAt: null, lastAt: null, text: 'Spring offer' });
    const link = encodeURIComponent(data[0].link);
    for (const asked of [data[0].linkId, link, encodeURIComponent('https://shop.example/sh*')]) {
      expect(await addressesOf(id, `link=${asked}`)).to.deep.equal(['p0', 'p1']);
      expect(await addressesOf(id, `outcome=NOT_CLICKED&link=${asked}`)).to.deep.equal(['p2']);
    }
    expect(await addressesOf(id, `link=${newId()}`)).to.deep.equal([]);
  });

  it('counts a recipient whose first click was a machine once a person clicks', async () => {
    const id = await sentTo(1);
    const link = 'https://shop.example/spring';
    await react(id, 'p0@example.com', 'click', { link, agent: 'SCANNER' });
    expect((await get(id, '/links')).data[0]).to.include({ uniqueClicks: 1, uniqueHumanClicks: 0 });
    await react(id, 'p0@example.com', 'click', { link });
    await react(id, 'p0@example.com', 'click', { link });
    expect((await get(id, '/links')).data[0]).to.include({ clicks: 3, uniqueClicks: 1, uniqueHumanClicks: 1 });
  });

  it('answers 400 to an unknown outcome, a link with another outcome, and too long a text', async () => {
    const id = await draft();
    for (const query of ['outcome=LOST', 'outcome=OPENED&link=x', 'link=', `search=${'x'.repeat(1_001)}`])
      for (const path of ['recipients', 'recipients/export'])
        expect(await project.server.get(`/campaigns/${id}/${path}?${query}`), query).to.be.envelope(400, 'BAD_REQUEST');
    for (const path of ['recipients/export', 'timeline', 'reasons'])
      expect(await stranger.server.get(`/campaigns/${id}/${path}`)).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    expect(await project.server.get(`/campaigns/${id}/timeline?granularity=week`)).to.be.envelope(400, 'BAD_REQUEST');
  });

  it('makes a static segment of the filtered recipients', async () => {
    const id = await sentTo(3);
    await react(id, 'p1@example.com', 'open');
    const answer = await post(id, 'recipients/segment', { name: 'Opened', outcome: 'OPENED' });
    expect(answer).to.have.status(201);
    expect(answer.body).to.include({ name: 'Opened', type: 'STATIC', memberCount: 1 });
    const { data } = (await project.server.get(`/segments/${answer.body.id}/contacts`)).body;
    expect(data.map(({ email }: { email: string }) => email)).to.deep.equal(['p1@example.com']);
    expect((await post(id, 'recipients/segment', { name: 'All' })).body.memberCount).to.equal(3);
    for (const body of [{}, { name: '' }, { name: 'x', outcome: 'LOST' }])
      expect(await post(id, 'recipients/segment', body)).to.be.envelope(422, 'VALIDATION_ERROR');
    const wrong = await post(id, 'recipients/segment', { name: 'x', outcome: 'BOUNCED', link: 'x' });
    expect(wrong).to.be.envelope(400, 'BAD_REQUEST');
    const foreign = await stranger.server.post(`/campaigns/${id}/recipients/segment`, { name: 'x' });
    expect(foreign).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
  });

  it('exports the filtered recipients as CSV and records it', async () => {
    const id = await sentTo(2);
    await react(id, 'p1@example.com', 'click', { link: 'https://shop.example/spring' });
    const answer = await project.server.get(`/campaigns/${id}/recipients/export?outcome=CLICKED`);
    expect(answer).to.have.status(200);
    const [header, row, ...rest] = String(answer.body).trim().split('\r\n');
    expect(header).to.equal('email,status,reason,sentAt,openedAt,clickedAt,bouncedAt,links,contactId,emailId');
    expect(row)
      .to.match(/^p1@example\.com,SENT,,/)
      .and.to.contain('https://shop.example/spring');
    expect(rest).to.deep.equal([]);
    expect(await readAudit(project, 'campaign.recipients_exported')).to.have.lengthOf(1);
  });

  it('shows the hours and days in which something happened', async () => {
    const id = await sentTo(3);
    await react(id, 'p0@example.com', 'open');
    await react(id, 'p0@example.com', 'click', { link: 'https://shop.example/spring' });
    await react(id, 'p1@example.com', 'click', { link: 'https://shop.example/spring' });
    await react(id, 'p2@example.com', 'open', { agent: 'PRIVACY_PROXY' });
    for (const granularity of ['hour', 'day']) {
      const { data } = await get(id, `/timeline?granularity=${granularity}`);
      const sum = (kind: string) =>
        data.reduce((all: number, point: Record<string, number>) => all + (point[kind] ?? 0), 0);
      expect([sum('sent'), sum('opened'), sum('clicked'), sum('bounced'), sum('unsubscribed')]).to.deep.equal([
        3, 2, 2, 0, 0,
      ]);
      expect(data[0].at).to.match(granularity === 'day' ? /T00:00:00\.000Z$/ : /:00:00\.000Z$/);
    }
    expect(await get(await draft(), '/timeline')).to.deep.equal({ data: [] });
  });

  describe('POST /campaigns/:id/unschedule', () => {
    it('makes a SCHEDULED campaign a draft, which can be sent later', async () => {
      await addContacts(api.db, project, 1);
      const id = await draft();
      const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
      await post(id, 'send', { scheduledFor });
      const answer = await post(id, 'unschedule');
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ id, status: 'DRAFT', scheduledFor: null });
      expect(await worker.advance(id, new Date(Date.now() + 7_200_000))).to.include({ kind: 'end' });
      expect(await post(id, 'unschedule')).to.be.envelope(409, 'CONFLICT');
      expect(await post(id, 'send')).to.have.status(200);
      await worker.run(id);
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 1 });
      expect(await post(id, 'unschedule')).to.be.envelope(409, 'CONFLICT');
    });

    it('answers 404 to another project', async () => {
      const answer = await stranger.server.post(`/campaigns/${await draft()}/unschedule`);
      expect(answer).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    });
  });

  describe('POST /campaigns/:id/recipients/resend', () => {
    const resend = async (id: string, body: object): Promise<ApiAnswer['body']> => {
      const answer = await post(id, 'recipients/resend', body);
      expect(answer).to.have.status(202);
      await runSlice(api.db, answer.body.jobId, () => false);
      return (await project.server.get(`/jobs/${answer.body.jobId}`)).body;
    };

    it('sends again to those that failed with this reason, without suppressed addresses', async () => {
      smtp.misbehave({ at: 'recipient', to: 'p0@example.com', do: { code: 554, text: 'closed today' } });
      smtp.misbehave({ at: 'recipient', to: 'p1@example.com', do: { code: 554, text: 'policy' } });
      smtp.misbehave({ at: 'recipient', to: 'p2@example.com', do: { code: 550, text: '5.1.1 no such user' } });
      const id = await sentTo(4);
      expect(await get(id)).to.include({ status: 'SENT', failedCount: 3 });
      const { data: reasons } = await get(id, '/reasons');
      expect(reasons.map(({ status, count }: { status: string; count: number }) => [status, count])).to.deep.equal([
        ['FAILED', 1],
        ['FAILED', 1],
        ['FAILED', 1],
      ]);
      const { reason } = reasons.find((one: { reason: string }) => one.reason.includes('closed today'));
      expect((await get(id, `/recipients?reason=${encodeURIComponent(reason)}`)).total).to.equal(1);
      smtp.behave();
      const job = await resend(id, { status: 'FAILED', reason });
      expect(job).to.include({ type: 'RESEND_RECIPIENTS', status: 'COMPLETED' });
      expect(job.result).to.deep.include({ requested: 1, changed: 1, unchanged: 0 });
      expect(await get(id)).to.include({ status: 'SENDING', pendingCount: 1 });
      await worker.run(id);
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 2, failedCount: 2 });
      expect((await resend(id, { status: 'FAILED' })).result).to.deep.include({ requested: 1, changed: 1 });
      await worker.run(id);
      expect(await get(id)).to.include({ status: 'SENT', sentCount: 3, failedCount: 1 });
      expect((await resend(id, { status: 'FAILED' })).result).to.deep.include({ requested: 0, changed: 0 });
      expect(await get(id)).to.include({ status: 'SENT' });
    });

    it('answers 409 in other states, 422 to another status and 404 to another project', async () => {
      const id = await draft();
      expect(await post(id, 'recipients/resend', { status: 'FAILED' })).to.be.envelope(409, 'CONFLICT');
      for (const body of [{ status: 'SENT' }, {}, { status: 'FAILED', reason: '' }])
        expect(await post(id, 'recipients/resend', body)).to.be.envelope(422, 'VALIDATION_ERROR');
      const foreign = await stranger.server.post(`/campaigns/${id}/recipients/resend`, { status: 'FAILED' });
      expect(foreign).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    });

    it('leaves a campaign alone that was cancelled after the order', async () => {
      smtp.misbehave({ at: 'recipient', to: 'p0@example.com', do: { code: 554, text: 'closed' } });
      const id = await sentTo(2);
      const { jobId } = (await post(id, 'recipients/resend', { status: 'FAILED' })).body;
      await api.db('campaigns').where({ id }).update({ status: 'CANCELLED' });
      await runSlice(api.db, jobId, () => false);
      const { result } = (await project.server.get(`/jobs/${jobId}`)).body;
      expect(result).to.deep.include({ requested: 1, changed: 0, unchanged: 1 });
    });
  });

  it('says who paused it', async () => {
    await addContacts(api.db, project, 1);
    const id = await draft();
    await post(id, 'send');
    expect(await get(id)).to.include({ pausedBy: null });
    await post(id, 'pause');
    expect(await get(id)).to.deep.include({ pausedBy: { type: 'KEY', name: 'Secret key' } });
    await post(id, 'resume');
    await project.owner.post(`/campaigns/${id}/pause`);
    const { email } = (await project.owner.get('/users/@me')).body;
    expect(await get(id)).to.deep.include({ pausedBy: { type: 'USER', name: email } });
    const [listed] = (await project.server.get('/campaigns')).body.data;
    expect(listed).to.deep.include({ id, pausedBy: { type: 'USER', name: email } });
  });
});
