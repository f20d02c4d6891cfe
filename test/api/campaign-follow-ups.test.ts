import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import type { Notice } from '../../services/emails/notices.ts';
import { publishResults } from '../../services/emails/publish-results.ts';
import { updateProject } from '../../services/projects/update.ts';
import type { ApiAnswer, ApiProject, TestApi } from '../support/api.ts';
import { addContacts, type CampaignWorker, recipientTo } from '../support/campaigns.ts';
import { reactTo } from '../support/reactions.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

const LINK = 'https://shop.example/spring';
const BODY = `<a href="${LINK}">Spring</a> <a href="https://shop.example/all">All</a> <a href="${LINK}">Again</a>`;
const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

describe('follow-ups and click maps', () => {
  let sending: SendingApi;
  let api: TestApi;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: ApiProject;

  before(async () => {
    sending = await startSendingApi();
    ({ api, smtp, worker } = sending);
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    smtp.behave();
    smtp.mails.length = 0;
  });

  const post = (id: string, action: string, body: object = {}) =>
    project.server.post(`/campaigns/${id}/${action}`, body);
  const get = async (id: string, what = ''): Promise<ApiAnswer['body']> => {
    const answer = await project.server.get(`/campaigns/${id}${what}`);
    expect(answer, what).to.have.status(200);
    return answer.body;
  };
  const draft = async (more: object = {}): Promise<string> => {
    const campaign = {
      name: 'Spring',
      subject: 'Hi',
      body: BODY,
      from: `news@${project.senderDomain}`,
      audienceType: 'ALL',
    };
    return (await project.server.post('/campaigns', { ...campaign, ...more })).body.data.id;
  };
  const deliver = async (id: string): Promise<void> => {
    await worker.run(id);
    await publishResults(api.db);
  };
  const sent = async (more: object = {}): Promise<string> => {
    const id = await draft(more);
    expect(await post(id, 'send')).to.have.status(200);
    await deliver(id);
    return id;
  };
  const react = async (id: string, name: string, kind: Notice['kind'], more: Partial<Notice> = {}) =>
    reactTo(api.db, (await recipientTo(api.db, id, `${name}@example.com`)).id, kind, more);
  const followUp = async (id: string, body: object): Promise<ApiAnswer['body']> => {
    const answer = await post(id, 'follow-up', body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const recipientsOf = async (id: string): Promise<string> =>
    (await get(id, '/recipients')).data
      .map(({ email }: { email: string }) => email.split('@')[0])
      .sort()
      .join(' ');

  it('writes to those who did not open, with the content of the original', async () => {
    await addContacts(api.db, project, 4);
    const id = await sent({ description: 'For all', fromName: 'Shop' });
    await react(id, 'p0', 'open');
    await react(id, 'p1', 'click', { link: LINK });
    await react(id, 'p2', 'open', { agent: 'PRIVACY_PROXY' });
    const made = await followUp(id, { to: 'NOT_OPENED', subject: 'Once more' });
    expect(made).to.include({
      status: 'DRAFT',
      followUpOf: id,
      name: 'Spring (Follow-up)',
      subject: 'Once more',
      body: BODY,
      description: 'For all',
      fromName: 'Shop',
      audienceType: 'FILTERED',
      totalRecipients: 2,
    });
    expect(made.followUps).to.deep.equal([]);
    await post(made.id, 'send');
    await deliver(made.id);
    expect(await recipientsOf(made.id)).to.equal('p2 p3');
    await react(made.id, 'p3', 'click', { link: LINK });
    const original = await get(id);
    expect(original).to.deep.include({
      followUpOf: null,
      followUps: [{ id: made.id, name: 'Spring (Follow-up)', status: 'SENT' }],
      combined: { recipients: 4, opened: 3, clicked: 2 },
    });
    const listed = (await project.server.get('/campaigns')).body.data;
    expect(listed.map(({ followUpOf }: { followUpOf: string | null }) => followUpOf)).to.have.members([id, null]);
  });

  it('finds each group of recipients, within the audience of the original at that time', async () => {
    await addContacts(api.db, project, 6);
    const plan = (value: string) => ({
      logic: 'OR',
      groups: [{ filters: [{ field: 'email', operator: 'startsWith', value }] }],
    });
    const id = await sent({ audienceType: 'FILTERED', audienceCondition: plan('p') });
    await react(id, 'p0', 'open');
    await react(id, 'p1', 'click', { link: LINK });
    await react(id, 'p2', 'click', { link: 'https://shop.example/all' });
    await react(id, 'p5', 'bounce', { bounceType: 'Transient' });
    const groups: [to: string, expected: number, link?: string][] = [
      ['NOT_OPENED', 2],
      ['OPENED_NOT_CLICKED', 1],
      ['CLICKED', 2],
      ['CLICKED', 1, LINK],
      ['CLICKED', 2, 'https://shop.example/*'],
      ['NOT_CLICKED', 3],
      ['NOT_CLICKED', 4, LINK],
      ['NOT_RECEIVED', 1],
      ['HOLDOUT', 0],
    ];
    for (const [to, expected, link] of groups) {
      const made = await followUp(id, { to, ...(link && { link }) });
      expect(made.totalRecipients, `${to} ${link}`).to.equal(expected);
      expect(await project.server.delete(`/campaigns/${made.id}`)).to.have.status(204);
    }
    await project.server.delete(`/contacts/${(await recipientTo(api.db, id, 'p3@example.com')).contactId}`);
    expect((await followUp(id, { to: 'NOT_OPENED' })).totalRecipients).to.equal(1);
    expect(await get(id)).to.include({ totalRecipients: 6, sentCount: 6, bouncedCount: 1 });
  });

  it('can be scheduled before the original is sent, and determines its audience then', async () => {
    await addContacts(api.db, project, 3);
    const id = await draft();
    await post(id, 'send', { scheduledFor: inHours(2) });
    const early = await post(id, 'follow-up', { to: 'NOT_OPENED', scheduledFor: inHours(1) });
    expect(early).to.be.envelope(400, 'BAD_REQUEST');
    const made = await followUp(id, { to: 'NOT_OPENED', scheduledFor: inHours(3) });
    expect(made).to.include({ status: 'SCHEDULED', totalRecipients: 0 });
    await worker.advance(id, new Date(Date.now() + 2.5 * HOUR_MS));
    await deliver(id);
    await react(id, 'p0', 'open');
    await worker.advance(made.id, new Date(Date.now() + 4 * HOUR_MS));
    await deliver(made.id);
    expect(await recipientsOf(made.id)).to.equal('p1 p2');
    expect(await get(made.id)).to.include({ status: 'SENT' });
  });

  it('follows a change of the audience of an original that waits', async () => {
    await addContacts(api.db, project, 3);
    const id = await draft();
    await post(id, 'send', { scheduledFor: inHours(2) });
    const made = await followUp(id, { to: 'NOT_OPENED', scheduledFor: inHours(3) });
    const only = (value: string) => ({
      logic: 'AND',
      groups: [{ filters: [{ field: 'email', operator: 'startsWith', value }] }],
    });
    const { name, subject, body, from } = await get(id);
    const change = { name, subject, body, from, audienceType: 'FILTERED', audienceCondition: only('p1') };
    expect(await project.server.put(`/campaigns/${id}`, change)).to.have.status(200);
    const { audienceCondition } = await get(made.id);
    expect(audienceCondition.groups).to.deep.equal([
      { filters: [{ field: `campaign.${id}`, operator: 'notOpened' }] },
      ...only('p1').groups,
    ]);
  });

  it('ends with no recipients where the original is cancelled', async () => {
    await addContacts(api.db, project, 2);
    const id = await draft();
    await post(id, 'send', { scheduledFor: inHours(2) });
    const made = await followUp(id, { to: 'NOT_RECEIVED', scheduledFor: inHours(3) });
    await post(id, 'cancel');
    await worker.advance(made.id, new Date(Date.now() + 4 * HOUR_MS));
    await worker.run(made.id);
    expect(await get(made.id)).to.include({ status: 'SENT', totalRecipients: 0 });
    expect(await post(id, 'follow-up', { to: 'NOT_OPENED' })).to.be.envelope(409, 'CONFLICT');
  });

  it('answers 409 to a draft and to a fourth follow-up of a chain', async () => {
    await addContacts(api.db, project, 1);
    expect(await post(await draft(), 'follow-up', { to: 'NOT_OPENED' })).to.be.envelope(409, 'CONFLICT');
    const id = await sent();
    const first = await followUp(id, { to: 'NOT_OPENED' });
    await post(first.id, 'send');
    await deliver(first.id);
    const second = await followUp(first.id, { to: 'NOT_OPENED' });
    await followUp(id, { to: 'NOT_CLICKED' });
    for (const one of [id, first.id])
      expect(await post(one, 'follow-up', { to: 'NOT_OPENED' })).to.be.envelope(409, 'CONFLICT');
    expect((await get(id)).followUps).to.have.lengthOf(3);
    expect((await get(first.id)).followUps.map((one: { id: string }) => one.id)).to.deep.equal([second.id]);
  });

  it('answers 422 to bad input and to an email without tracking, 404 and 400 otherwise', async () => {
    await addContacts(api.db, project, 1);
    const id = await sent();
    const cases: [body: object, field: string][] = [
      [{}, 'to'],
      [{ to: 'ALL' }, 'to'],
      [{ to: 'NOT_OPENED', link: LINK }, 'link'],
      [{ to: 'NOT_OPENED', subject: '{{ broken' }, 'subject'],
      [{ to: 'NOT_OPENED', body: '{{ broken' }, 'body'],
      [{ to: 'NOT_OPENED', name: '' }, 'name'],
    ];
    for (const [body, field] of cases) {
      const answer = await post(id, 'follow-up', body);
      expect([answer.status, answer.body.error.errors?.[0]?.field], JSON.stringify(body)).to.deep.equal([422, field]);
    }
    for (const scheduledFor of ['tomorrow', new Date(0).toISOString()])
      expect(await post(id, 'follow-up', { to: 'NOT_OPENED', scheduledFor })).to.be.envelope(400, 'BAD_REQUEST');
    const stranger = await api.project();
    for (const path of ['follow-up', 'click-map'])
      expect(
        await (path === 'click-map'
          ? stranger.server.get(`/campaigns/${id}/${path}`)
          : stranger.server.post(`/campaigns/${id}/${path}`, { to: 'NOT_OPENED' })),
      ).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    expect(await post(newId(), 'follow-up', { to: 'NOT_OPENED' })).to.be.envelope(404, 'CAMPAIGN_NOT_FOUND');
    await updateProject(api.db, project.id, { tracking: 'DISABLED' });
    for (const to of ['NOT_OPENED', 'OPENED_NOT_CLICKED', 'CLICKED', 'NOT_CLICKED'])
      expect(await post(id, 'follow-up', { to }), to).to.be.envelope(422, 'VALIDATION_ERROR');
    await followUp(id, { to: 'NOT_RECEIVED' });
  });

  it('shows clicks by their place in the email', async () => {
    await addContacts(api.db, project, 3);
    const id = await sent();
    await react(id, 'p0', 'click', { link: LINK, linkIndex: 0 });
    await react(id, 'p0', 'click', { link: LINK, linkIndex: 0 });
    await react(id, 'p0', 'click', { link: LINK, linkIndex: 2 });
    await react(id, 'p1', 'click', { link: LINK, linkIndex: 2 });
    await react(id, 'p2', 'click', { link: LINK });
    await react(id, 'p2', 'click', { link: LINK, linkIndex: 0, agent: 'SCANNER' });
    const map = await get(id, '/click-map');
    const shown = map.links.map(({ index, text, uniqueHumanClicks, share }: Record<string, unknown>) => [
      index,
      text,
      uniqueHumanClicks,
      share,
    ]);
    expect(map.total).to.equal(4);
    expect(shown).to.deep.equal([
      [0, 'Spring', 1, 0.25],
      [1, 'All', 0, 0],
      [2, 'Again', 2, 0.5],
      [null, 'Spring', 1, 0.25],
    ]);
    const { data } = await get(id, '/links');
    expect(data).to.have.lengthOf(1);
    expect(data[0]).to.include({ linkId: map.links[0].linkId, index: 0, uniqueHumanClicks: 3 });
    const preview = await project.server.get(map.previewUrl.slice(map.previewUrl.indexOf('/previews/')));
    expect(preview).to.have.status(200);
    expect(String(preview.body)).to.match(/Again<span[^>]*>2 · 50%<\/span><\/a>/);
  });
});
