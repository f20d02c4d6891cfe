import { expect } from 'chai';
import type { Email as ParsedMail } from 'postal-mime';
import type { ApiProject, TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

const UNSUBSCRIBE = /http:\/\/[^\s"<>]+(\/unsubscribe\/[\w-]+)/;

describe('links and headers of email with a topic', () => {
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
    smtp.mails.length = 0;
  });

  const address = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const createTopic = async (body: object): Promise<string> => (await project.server.post('/topics', body)).body.id;
  const addContact = async (name: string, body: object = {}): Promise<string> => {
    const answer = await project.server.post('/contacts', { email: address(name), ...body });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const template = async (type: string, body: string, topicId: string): Promise<string> => {
    const from = `news@${project.senderDomain}`;
    const answer = await project.server.post('/templates', { name: 't', subject: 's', body, type, from, topicId });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const sendTo = async (name: string, request: object): Promise<string> => {
    const answer = await project.server.post('/v1/send', { to: address(name), ...request });
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    await worker.send();
    return answer.body.data.emails[0].email;
  };
  const mailTo = async (name: string): Promise<ParsedMail> => {
    const [mail] = await smtp.received(1, { to: address(name) });
    if (!mail) throw new Error('no mail');
    return mail.parsed();
  };
  const header = ({ headers }: ParsedMail, name: string) => headers.find(({ key }) => key === name)?.value;
  const topicsOf = async (id: string) => (await project.server.get(`/contacts/${id}/topics`)).body;
  const post = (path: string) => fetch(api.url + path, { method: 'POST' });
  const pathIn = (text = ''): string => UNSUBSCRIBE.exec(text)?.[1] ?? '';

  it('of a MARKETING template: the footer names the topic in the language of the contact, with both links', async () => {
    const translations = { de: { name: 'Neues {{ name }} <b>' } };
    const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED', translations });
    const id = await addContact('ann', { data: { locale: 'de-AT', topicName: 'mine', unsubscribeAllUrl: 'mine' } });
    const body = '<p>{{ topicName }} <a href="{{ unsubscribeAllUrl }}">all</a></p>';
    const emailId = await sendTo('ann', { template: await template('MARKETING', body, topicId) });
    const mail = await mailTo('ann');
    expect(mail.html)
      .to.contain('<p>Neues {{ name }} &lt;b&gt; ')
      .and.contain('weil Sie „Neues &#123;&#123; name &#125;&#125; &lt;b&gt;“ abonniert haben')
      .and.not.contain('mine');
    expect(mail.text).to.contain('„Neues {{ name }} <b>“');
    expect([...(mail.html ?? '').matchAll(/\/unsubscribe\/[\w-]+\?all=1"/g)]).to.have.length(2);
    expect(header(mail, 'list-id')).to.equal(`<news.${project.id}.${project.senderDomain}>`);
    const url = header(mail, 'list-unsubscribe');
    expect(header(mail, 'list-unsubscribe-post')).to.equal('List-Unsubscribe=One-Click');
    const stored = (await project.server.get(`/emails/${emailId}/content`)).body;
    expect(stored.html).to.contain('Neues').and.contain('?all=1');
    expect(stored.headers).to.include({ 'List-Id': `<news.${project.id}.${project.senderDomain}>` });
    expect((await post(pathIn(url))).status).to.equal(200);
    expect(await topicsOf(id)).to.include({ subscribed: true });
    expect((await topicsOf(id)).data[0]).to.include({ state: 'UNSUBSCRIBED' });
    expect((await post(`${pathIn(url)}?all=1`)).status).to.equal(200);
    expect(await topicsOf(id)).to.include({ subscribed: false });
  });

  it('of TRANSACTIONAL email with a NOTIFICATION topic: the headers and no footer', async () => {
    await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
    const id = await addContact('bob');
    const request = { from: `shop@${project.senderDomain}`, subject: 's', body: '<p>Sent.</p>', topic: 'orders' };
    await sendTo('bob', request);
    const mail = await mailTo('bob');
    expect(mail.html).to.not.contain('unsubscribe');
    expect(header(mail, 'list-id')).to.equal(`<orders.${project.id}.${project.senderDomain}>`);
    await post(pathIn(header(mail, 'list-unsubscribe')));
    expect(await topicsOf(id)).to.include({ subscribed: true });
    expect((await topicsOf(id)).data[0]).to.include({ key: 'orders', state: 'UNSUBSCRIBED' });
  });

  it('of the request win over ours', async () => {
    await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
    await addContact('cem');
    const headers = { 'list-id': '<own.example.com>', 'List-Unsubscribe': '<mailto:x@example.com>' };
    const request = { from: `shop@${project.senderDomain}`, subject: 's', body: 'b', topic: 'orders', headers };
    await sendTo('cem', request);
    const mail = await mailTo('cem');
    expect(mail.headers.filter(({ key }) => key === 'list-id').map(({ value }) => value)).to.deep.equal([
      '<own.example.com>',
    ]);
    expect(header(mail, 'list-unsubscribe')).to.equal('<mailto:x@example.com>');
    expect(header(mail, 'list-unsubscribe-post')).to.equal(undefined);
  });

  it('of a campaign: the same for every recipient, each in its language', async () => {
    const translations = { de: { name: 'Neues' }, 'fr-CA': { name: 'Nouvelles' } };
    const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED', translations });
    const names = { ann: 'de', bob: 'fr-CA', cem: 'fr', dan: 'de', eve: 'en' };
    const ids: Record<string, string> = {};
    for (const [name, locale] of Object.entries(names)) ids[name] = await addContact(name, { data: { locale } });
    const from = `news@${project.senderDomain}`;
    const body = '<p>Hi {{ email }}, {{ topicName }}</p>';
    const draft = { name: 'c', subject: '{{ topicName }}', body, from, audienceType: 'ALL', topicId };
    const created = await project.server.post('/campaigns', draft);
    expect(created, JSON.stringify(created.body)).to.have.status(200);
    const campaignId = created.body.data.id;
    await project.server.post(`/campaigns/${campaignId}/send`);
    await worker.run(campaignId);
    for (const [name, expected] of [
      ['ann', 'Neues'],
      ['bob', 'Nouvelles'],
      ['cem', 'News'],
      ['dan', 'Neues'],
      ['eve', 'News'],
    ] as const) {
      const mail = await mailTo(name);
      expect(mail.subject, name).to.equal(expected);
      expect(mail.html)
        .to.contain(`${address(name)}, ${expected}</p>`)
        .and.match(/\?all=1"/);
      expect(header(mail, 'list-id')).to.equal(`<news.${project.id}.${project.senderDomain}>`);
    }
    await post(pathIn(header(await mailTo('dan'), 'list-unsubscribe')));
    expect(await topicsOf(ids.dan ?? '')).to.include({ subscribed: true });
    const stats = (await project.server.get(`/campaigns/${campaignId}/stats`)).body;
    expect(stats).to.include({ topicUnsubscribedCount: 1, unsubscribedCount: 0 });
  });

  it('of a test: those of its topic, also for an address that does not receive it', async () => {
    const topicId = await createTopic({ name: 'News', translations: { de: { name: 'Neues' } } });
    await addContact('ann', { data: { locale: 'de' } });
    const templateId = await template('MARKETING', '<p>{{ topicName }}</p>', topicId);
    for (const [name, expected] of [
      ['ann', 'Neues'],
      ['stranger', 'News'],
    ] as const) {
      const answer = await project.server.post(`/templates/${templateId}/test`, { email: address(name) });
      expect(answer, JSON.stringify(answer.body)).to.have.status(200);
      await worker.send();
      const mail = await mailTo(name);
      expect(mail.html)
        .to.contain(`<p>${expected}</p>`)
        .and.match(/\?all=1"/);
      expect(header(mail, 'list-id')).to.equal(`<news.${project.id}.${project.senderDomain}>`);
    }
  });

  it('of other email stay as they were', async () => {
    await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
    const id = await addContact('ann', { data: { topicName: 'mine' } });
    const body = '<p>{{ topicName }} {{ unsubscribeUrl }}</p>';
    await sendTo('ann', { from: `a@${project.senderDomain}`, subject: 's', body });
    const mail = await mailTo('ann');
    expect(mail.html).to.contain('<p>mine ');
    expect(header(mail, 'list-id')).to.equal(undefined);
    await post(pathIn(header(mail, 'list-unsubscribe')));
    expect(await topicsOf(id)).to.include({ subscribed: false });
  });
});
