import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, client, type TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { carryOutSubmissions, decideSubmissions } from '../support/forms.ts';
import { loadPage } from '../support/page-forms.ts';
import { setSubmissions } from '../support/rows/forms.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { ReceivedMail, SmtpStandIn } from '../support/smtp.ts';
import { relayWebhooks, webhookEvents } from '../support/webhooks.ts';

const HOUR_MS = 3_600_000;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const MAX_SCRIPT_BYTES = 6 * 1024;

const textOf = (mail: ReceivedMail | undefined): string =>
  (mail?.raw.toString('utf8') ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=');

describe('submissions of forms', () => {
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

  const addressOf = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const createForm = async (body: object = {}) => {
    const from = `news@${project.senderDomain}`;
    const answer = await project.server.post('/forms', { name: 'Newsletter', from, ...body });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const submit = async (name: string, more: object = {}) => {
    const answer = await project.server.post('/v1/subscribe', { form: 'newsletter', email: addressOf(name), ...more });
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
  };
  const work = async () => {
    await decideSubmissions(api.db);
    await worker.send();
  };
  const linkIn = (name: string, kind: 'confirm' | 'decline'): string => {
    const mail = smtp.mails.findLast(({ to }) => to.includes(addressOf(name)));
    return new RegExp(`/${kind}/[\\w-]+`).exec(textOf(mail))?.[0] ?? 'none';
  };
  const press = (path: string) => client(api.url, FORM).post(path, '');
  const list = async (id: string, query = '') => (await project.server.get(`/forms/${id}/submissions${query}`)).body;
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS);

  describe('GET /forms/:id/submissions', () => {
    it('lists the newest first, by cursor and by status', async () => {
      const { id } = await createForm();
      const visitor = { ip: '203.0.113.7', userAgent: 'Test', pageUrl: 'https://shop.example/' };
      for (const name of ['ann', 'bob', 'cem']) await submit(name, visitor);
      await work();
      await press(linkIn('bob', 'confirm'));
      await press(linkIn('cem', 'decline'));
      const first = await list(id, '?limit=2');
      expect(first).to.include({ total: 3, hasMore: true });
      const second = await list(id, `?limit=2&cursor=${encodeURIComponent(first.cursor)}`);
      expect(second).to.include({ hasMore: false, cursor: null });
      const all = [...first.data, ...second.data];
      expect(all.map(({ email, status }) => [email, status])).to.deep.equal([
        [addressOf('cem'), 'DECLINED'],
        [addressOf('bob'), 'CONFIRMED'],
        [addressOf('ann'), 'PENDING'],
      ]);
      const [ann] = (await list(id, '?status=PENDING')).data;
      expect(ann).to.deep.equal({
        id: ann.id,
        status: 'PENDING',
        reason: null,
        email: addressOf('ann'),
        ip: visitor.ip,
        pageUrl: visitor.pageUrl,
        createdAt: ann.createdAt,
        sentAt: ann.sentAt,
        remindedAt: null,
        confirmedAt: null,
        contactId: null,
      });
      const [bob] = (await list(id, '?status=CONFIRMED')).data;
      expect(bob.contactId).to.be.a('string');
      expect(bob.confirmedAt).to.be.a('string');
    });

    it('is 404 for another project', async () => {
      const { id } = await createForm();
      const stranger = await api.project();
      expect(await stranger.server.get(`/forms/${id}/submissions`)).to.have.status(404);
      expect(await stranger.server.get(`/forms/${id}/stats`)).to.have.status(404);
      expect(await stranger.server.get(`/forms/${id}/embed`)).to.have.status(404);
    });
  });

  describe('POST /forms/:id/submissions/:submissionId/resend', () => {
    const resend = (id: string, submissionId: string) =>
      project.server.post(`/forms/${id}/submissions/${submissionId}/resend`);

    it('sends the confirmation again once an hour, within the limit of the address', async () => {
      const { id } = await createForm();
      await submit('ann');
      await work();
      const [{ id: submissionId }] = (await list(id)).data;
      expect(await resend(id, submissionId)).to.have.status(429);
      await setSubmissions(api.db, project.id, { lastSentAt: hoursAgo(1.1) });
      const again = await resend(id, submissionId);
      expect([again.status, again.body]).to.deep.equal([202, { status: 'PENDING' }]);
      await worker.send();
      expect(smtp.mails).to.have.length(2);
      expect(await resend(id, submissionId)).to.have.status(429);
      for (const expected of [202, 429]) {
        await setSubmissions(api.db, project.id, { lastSentAt: hoursAgo(1.1) });
        expect(await resend(id, submissionId)).to.have.status(expected);
      }
      // The link of each of them confirms.
      expect(await press(linkIn('ann', 'confirm'))).to.have.status(200);
      expect((await list(id)).data[0]).to.include({ status: 'CONFIRMED' });
    });

    it('is 409 unless the submission is PENDING, and 404 for an unknown one', async () => {
      const { id } = await createForm();
      await submit('ann');
      const [{ id: submissionId }] = (await list(id)).data;
      expect(await resend(id, submissionId)).to.have.status(409);
      await work();
      await press(linkIn('ann', 'confirm'));
      expect(await resend(id, submissionId)).to.have.status(409);
      expect(await resend(id, newId())).to.have.status(404);
      const other = await createForm({ name: 'Other' });
      expect(await resend(other.id, submissionId)).to.have.status(404);
    });
  });

  it('are counted by when they were made, by reason and by page', async () => {
    const { id } = await createForm();
    const stats = async (query = '') => (await project.server.get(`/forms/${id}/stats${query}`)).body;
    expect(await stats()).to.deep.equal({
      views: 0,
      submitted: 0,
      confirmed: 0,
      declined: 0,
      expired: 0,
      already: 0,
      refused: {},
      confirmRate: null,
      byPage: [],
    });
    await project.server.post('/suppressions', { email: addressOf('sam'), reason: 'MANUAL' });
    await project.server.post('/contacts', { email: addressOf('known'), subscribed: true });
    for (const name of ['ann', 'bob', 'cem', 'sam']) await submit(name, { pageUrl: 'https://shop.example/' });
    await submit('known');
    await work();
    await press(linkIn('ann', 'confirm'));
    await press(linkIn('bob', 'decline'));
    for (let n = 0; n < 2; n++) expect((await loadPage(`${api.url}/f/${id}`)).status).to.equal(200);
    const found = await stats();
    expect(found.confirmRate).to.be.closeTo(1 / 3, 0.001);
    expect({ ...found, confirmRate: 0 }).to.deep.equal({
      views: 2,
      submitted: 5,
      confirmed: 1,
      declined: 1,
      expired: 0,
      already: 1,
      refused: { suppressed: 1 },
      confirmRate: 0,
      byPage: [
        { pageUrl: 'https://shop.example/', submitted: 4, confirmed: 1 },
        { pageUrl: null, submitted: 1, confirmed: 0 },
      ],
    });
    const earlier = await stats('?startDate=2026-01-01&endDate=2026-01-31');
    expect(earlier).to.include({ views: 0, submitted: 0, confirmRate: null });
  });

  it('come from code to embed: a form without script, a small script, a frame', async () => {
    const { id, urls } = await createForm({ name: 'A "form"', fields: [{ key: 'plan', label: '<b>Plan' }] });
    const { html, script, iframe, url } = (await project.server.get(`/forms/${id}/embed`)).body;
    expect(url).to.equal(urls.page);
    expect(html).to.include(`action="${urls.page}"`).and.include('&lt;b&gt;Plan').and.not.include('<script');
    expect(html).not.to.include('_token');
    expect(script).to.equal(`<script src="${urls.script}" async></script>`);
    expect(iframe).to.include('title="A &quot;form&quot;"');
    const code = await loadPage(`${api.url}/f/${id}.js`);
    expect(code.status).to.equal(200);
    expect(gzipSync(code.body).length).to.be.lessThan(MAX_SCRIPT_BYTES);
    await project.owner.patch(`/users/@me/projects/${project.id}`, { language: 'de' });
    const german = (await project.server.get(`/forms/${id}/embed`)).body;
    expect(german.html).to.include('E-Mail-Adresse').and.include('name="lang" value="de"');
  });

  it('queue webhooks for what happens to them', async () => {
    const { id } = await createForm({ fields: [{ key: 'plan', label: 'Plan' }] });
    const endpoint = { url: 'https://hooks.example/forms', types: ['form.*'] };
    expect(await project.server.post('/webhook-endpoints', endpoint)).to.have.status(201);
    const pageUrl = 'https://shop.example/';
    for (const name of ['ann', 'bob', 'cem']) await submit(name, { pageUrl, data: { plan: 'pro' } });
    await work();
    await press(linkIn('ann', 'confirm'));
    await press(linkIn('bob', 'decline'));
    await api
      .db('formSubmissions')
      .where({ projectId: project.id, status: 'PENDING' })
      .update({ expiresAt: hoursAgo(1), dueAt: hoursAgo(1) });
    await carryOutSubmissions(api.db);
    await relayWebhooks(api.db);
    const byName = new Map<string, string>();
    for (const { id: submissionId, email } of (await list(id)).data) byName.set(email, submissionId);
    const of = (name: string, email: string | null) => ({
      formId: id,
      key: 'newsletter',
      submissionId: byName.get(addressOf(name)),
      email,
      pageUrl,
      projectId: project.id,
    });
    const events = await webhookEvents(api.db, project.id);
    const dataOf = (type: string) =>
      events.filter((event) => event.type === type).map(({ data: { position: _, ...data } }) => data);
    expect(dataOf('form.newsletter.submitted')).to.deep.equal(
      ['ann', 'bob', 'cem'].map((name) => of(name, addressOf(name))),
    );
    const [confirmed] = dataOf('form.newsletter.confirmed');
    expect(confirmed).to.deep.include({ ...of('ann', addressOf('ann')), fields: { plan: 'pro' } });
    expect(confirmed).to.have.keys(...Object.keys(of('', null)), 'fields', 'eventId', 'contactId');
    expect(dataOf('form.newsletter.declined')).to.deep.equal([of('bob', null)]);
    expect(dataOf('form.newsletter.expired')).to.deep.equal([of('cem', null)]);
    expect(events).to.have.length(6);
  });

  it('leave nothing of an address that did not confirm after seven days', async () => {
    await createForm();
    const endpoint = { url: 'https://hooks.example/forms', types: ['form.*'] };
    expect(await project.server.post('/webhook-endpoints', endpoint)).to.have.status(201);
    await submit('ann', { ip: '203.0.113.7', userAgent: 'Test', pageUrl: 'https://shop.example/' });
    await work();
    const { data } = (await project.server.get('/emails')).body;
    const reason = `550 <${addressOf('ann')}>: no such user`;
    const at = new Date();
    const attempt = { number: 1, startedAt: at, endedAt: at, relay: null, outcome: 'refused', answer: reason };
    await api
      .db('emails')
      .where({ id: data[0].id })
      .update({ reason, attemptLog: JSON.stringify([attempt]) });
    await press(linkIn('ann', 'decline'));
    await setSubmissions(api.db, project.id, { dueAt: hoursAgo(1) });
    await carryOutSubmissions(api.db);
    const tables = ['formSubmissions', 'emails', 'emailContents', 'webhookEvents', 'consents', 'contacts'];
    for (const table of tables) {
      const rows = await api.db(table).where({ projectId: project.id });
      expect(JSON.stringify(rows), table).not.to.include(addressOf('ann')).and.not.include('203.0.113.7');
    }
    const [row] = await api.db('formSubmissions').where({ projectId: project.id });
    expect(row.addressHash).to.have.length(32);
  });

  it('do not send a confirmation that still waits when the address is erased', async () => {
    await createForm();
    await submit('ann');
    await decideSubmissions(api.db);
    await setSubmissions(api.db, project.id, { expiresAt: hoursAgo(1), dueAt: hoursAgo(1) });
    await carryOutSubmissions(api.db);
    await setSubmissions(api.db, project.id, { dueAt: hoursAgo(1) });
    await carryOutSubmissions(api.db);
    await worker.send();
    expect(smtp.mails).to.deep.equal([]);
    const { data } = (await project.server.get('/emails')).body;
    expect(data[0]).to.include({ status: 'CANCELLED', reason: 'submission expired', to: null });
  });

  it('erase with a deleted contact what its webhooks and emails contain', async () => {
    await createForm();
    const endpoint = { url: 'https://hooks.example/forms', types: ['form.*'] };
    expect(await project.server.post('/webhook-endpoints', endpoint)).to.have.status(201);
    await submit('ann');
    await work();
    await press(linkIn('ann', 'confirm'));
    await relayWebhooks(api.db);
    const { data } = (await project.server.get(`/contacts?search=${addressOf('ann')}`)).body;
    expect(await project.server.delete(`/contacts/${data[0].id}`)).to.have.status(204);
    for (const table of ['formSubmissions', 'emails', 'emailContents', 'webhookEvents', 'consents', 'events']) {
      const rows = await api.db(table).where({ projectId: project.id });
      expect(JSON.stringify(rows), table).not.to.include(addressOf('ann'));
    }
  });

  it('reserve form.<key>.confirmed where the form exists', async () => {
    const track = (event: string) => project.browser.post('/v1/track', { email: addressOf('ann'), event });
    const name = 'form.newsletter.confirmed';
    expect(await track(name)).to.have.status(200);
    await createForm();
    expect(await track(name)).to.have.validationError('event', 'reserved_event');
    expect(await track('form.newsletter.submitted')).to.have.status(200);
    expect(await track('form.other.confirmed')).to.have.status(200);
  });

  it('keep the template of their confirmation from losing the last sender with 409', async () => {
    const from = `news@${project.senderDomain}`;
    const body = { name: 't', subject: 's', body: '{{confirmUrl}}', type: 'TRANSACTIONAL' };
    const { id } = (await project.server.post('/templates', body)).body;
    await project.server.patch(`/templates/${id}`, { from });
    const form = await createForm({ confirmationTemplateId: id, from: null });
    const remove = () => project.server.patch(`/templates/${id}`, { from: null });
    const restore = () => project.server.post(`/templates/${id}/versions/1/restore`, {});
    expect(await remove()).to.be.envelope(409, 'CONFLICT');
    expect(await restore()).to.be.envelope(409, 'CONFLICT');
    expect((await project.server.get(`/templates/${id}`)).body).to.include({ from });
    await project.server.patch(`/forms/${form.id}`, { status: 'PAUSED' });
    expect(await remove()).to.have.status(200);
    await project.server.patch(`/templates/${id}`, { from });
    await project.server.patch(`/forms/${form.id}`, { status: 'ACTIVE', from });
    expect(await restore()).to.have.status(200);
  });

  it('keep the template of their confirmation from being deleted with 409', async () => {
    const from = `news@${project.senderDomain}`;
    const create = async (): Promise<string> => {
      const body = { name: 't', subject: 's', body: '{{confirmUrl}}', type: 'TRANSACTIONAL', from };
      return (await project.server.post('/templates', body)).body.id;
    };
    const [ofForm, ofTopic] = [await create(), await create()];
    const { id } = await createForm({ confirmationTemplateId: ofForm });
    const confirmation = { templateId: ofTopic };
    const topic = await project.server.post('/topics', { name: 'News', doubleOptIn: true, confirmation });
    expect(topic, JSON.stringify(topic.body)).to.have.status(201);
    for (const template of [ofForm, ofTopic])
      expect(await project.server.delete(`/templates/${template}`)).to.be.envelope(409, 'CONFLICT');
    expect((await project.server.get(`/templates/${ofForm}/usage`)).body).to.deep.equal({
      campaigns: [],
      workflowSteps: [],
      confirmations: [{ type: 'FORM', id, name: 'Newsletter' }],
      canDelete: false,
    });
    await project.server.delete(`/forms/${id}`);
    await project.server.patch(`/topics/${topic.body.id}`, { doubleOptIn: false, confirmation: null });
    for (const template of [ofForm, ofTopic])
      expect(await project.server.delete(`/templates/${template}`)).to.have.status(204);
  });

  it('show options, topics and consent texts in the language of the visitor, and record what was shown', async () => {
    const topic = async (name: string, de: object) =>
      (await project.server.post('/topics', { name, consentText: `${name} weekly.`, translations: { de } })).body.id;
    const topicIds = [
      await topic('News', { name: 'Neues', consentText: 'Neues, wöchentlich.' }),
      await topic('Offers', { name: 'Angebote' }),
    ];
    const { id } = await createForm({
      topicIds,
      consentText: 'I agree.',
      fields: [{ key: 'size', label: 'Size', type: 'SELECT', options: ['small', 'large'] }],
      translations: {
        de: {
          name: 'Rundbrief',
          consentText: 'Ich stimme zu.',
          labels: { size: 'Größe' },
          options: { size: { small: 'klein' } },
        },
      },
    });
    const page = await loadPage(`${api.url}/f/${id}`, { 'accept-language': 'de-AT,de;q=0.9' });
    for (const text of ['Rundbrief', 'Ich stimme zu.', 'Größe', 'Neues, wöchentlich.', 'Angebote', 'Offers weekly.'])
      expect(page.body).to.include(text);
    expect(page.body).to.match(/<option value="small">klein<\/option>\s*<option value="large">large<\/option>/);
    expect((await loadPage(`${api.url}/f/${id}?lang=en`)).body)
      .to.include('I agree.')
      .and.not.include('klein');
    await submit('ann', { lang: 'de-AT', data: { size: 'small' } });
    await work();
    expect(textOf(smtp.mails.at(-1)))
      .to.include('Rundbrief')
      .and.include('Neues');
    await press(linkIn('ann', 'confirm'));
    const { data } = (await project.server.get(`/consents?email=${addressOf('ann')}&topicId=${topicIds[0]}`)).body;
    expect(data.map(({ action, text }: { action: string; text: string }) => [action, text])).to.deep.equal([
      ['CONFIRMED', 'Ich stimme zu.\nNeues, wöchentlich.'],
      ['REQUESTED', 'Ich stimme zu.\nNeues, wöchentlich.'],
    ]);
  });

  it('do not offer a topic that has been archived since', async () => {
    const ids: string[] = [];
    for (const name of ['News', 'Offers']) ids.push((await project.server.post('/topics', { name })).body.id);
    const { id } = await createForm({ topicIds: ids });
    await project.server.patch(`/topics/${ids[1]}`, { archived: true });
    expect((await loadPage(`${api.url}/f/${id}`)).body).not.to.include('Offers');
    const named = await project.server.post('/v1/subscribe', {
      form: id,
      email: addressOf('ann'),
      topics: ['offers'],
    });
    expect(named).to.have.validationError('topics', 'custom');
    await submit('ann');
    const [row] = await api.db('formSubmissions').where({ projectId: project.id });
    expect(row.topicIds).to.deep.equal([ids[0]]);
  });
});
