import { expect } from 'chai';
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { MailLinks } from '../../services/emails/links.ts';
import {
  deleteOldPreviews,
  previewPolicy,
  storePreview,
  withoutActiveContent,
  withoutTracking,
} from '../../services/emails/previews.ts';
import { type ApiProject, client, describeApi } from '../support/api.ts';
import { addContacts, startCampaign } from '../support/campaigns.ts';
import { readContacts, readMails } from '../support/reading.ts';
import { addMailRows, agePreviews, removeBodies, setAttemptLog } from '../support/rows/mails.ts';
import { countRows, lockTable } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const BASE_URL = 'http://app.test';
const POLICY = "sandbox; default-src 'none'; img-src https: data:; style-src 'unsafe-inline'; frame-ancestors 'self'";
const settings = { baseUrl: BASE_URL, secretKeys: ['everpost-development-secret-key'] as const };

describeApi('previews', (api) => {
  let db: Db;
  let project: ApiProject;
  let stranger: ApiProject;

  before(async () => {
    db = api.db;
    project = await api.project();
    stranger = await api.project();
  });

  const render = (body: object) => project.server.post('/render', body);
  const pathOf = (url: string) => url.slice(BASE_URL.length);

  it('are erased with their contact, and so is test mail that was sent before there was one', async () => {
    const own = await api.project();
    const email = 'tester@example.com';
    const campaign = { name: 'c', subject: 's', body: 'b', from: `a@${own.senderDomain}`, audienceType: 'ALL' };
    const { id } = (await own.server.post('/campaigns', campaign)).body.data;
    expect(await own.server.post(`/campaigns/${id}/test`, { email })).to.have.status(200);
    const [mail] = await readMails(own);
    const content = await own.server.get(`/emails/${mail?.id}/content`);
    expect(content.body.headers.To).to.equal(email);
    const { body: contact } = await own.server.post('/contacts', { email, data: { name: 'Ann' } });
    const rendered = await own.server.post('/render', { body: 'Dear {{ name }}', contactId: contact.id });
    const others = await own.server.post('/render', { body: 'Dear all' });
    expect(await own.server.delete(`/contacts/${contact.id}`)).to.have.status(204);
    for (const { body } of [content, rendered])
      expect(await own.server.get(pathOf(body.previewUrl))).to.have.status(404);
    expect(await own.server.get(pathOf(others.body.previewUrl))).to.have.status(200);
    expect(await own.server.get(`/emails/${mail?.id}/content`)).to.have.status(410);
    expect(JSON.stringify(await readMails(own))).not.to.include(email);
  });

  describe('POST /render', () => {
    it('shows the topic, and warns where the contact does not receive it', async () => {
      const translations = { de: { name: 'Neues' } };
      const { body: topic } = await project.server.post('/topics', { name: 'News', translations });
      const { body: orders } = await project.server.post('/topics', { name: 'Orders', kind: 'NOTIFICATION' });
      const { body: contact } = await project.server.post('/contacts', { email: 'render-topic@example.com' });
      const email = { type: 'MARKETING', body: '<p>{{ topicName }}</p>', topicId: topic.id, locale: 'de' };
      const { body } = await render({ ...email, contactId: contact.id });
      expect(body.html).to.contain('<p>Neues</p>').and.contain('„Neues“').and.contain('?all=1');
      expect(body.warnings.map(({ code }: { code: string }) => code)).to.include('topic_not_received');
      expect((await render(email)).body.warnings.map(({ code }: { code: string }) => code)).not.to.include(
        'topic_not_received',
      );
      expect(await render({ ...email, topicId: orders.id })).to.have.status(422);
      expect(await render({ ...email, topicId: newId() })).to.have.status(404);
      expect((await stranger.server.post('/render', email)).status).to.equal(404);
    });

    it('renders subject, body and text with given values', async () => {
      const { status, body } = await render({
        subject: 'Hi {{ name }}',
        body: '<p>Hello {{ name }} <a href="https://x.co/a">a</a></p>',
        data: { name: 'Ann & Co' },
      });
      expect(status).to.equal(200);
      expect(body).to.include({
        subject: 'Hi Ann & Co',
        html: '<p>Hello Ann &amp; Co <a href="https://x.co/a">a</a></p>',
      });
      expect(body.text).to.include('Hello Ann & Co');
      expect(body.size).to.equal(Buffer.byteLength(body.html));
      expect(body).to.deep.include({ faults: [], warnings: [] });
      const text = await render({ body: 'x', text: 'Dear {{ name }}', data: { name: 'A & B' } });
      expect(text.body.text).to.equal('Dear A & B');
    });

    it('renders as a contact, in its language, with the footer of MARKETING mail', async () => {
      const { body: contact } = await project.server.post('/contacts', {
        email: 'eva@x.co',
        data: { name: 'Eva', locale: 'de' },
      });
      const { body } = await render({
        body: '<p>{{ name }} {{ email }}</p>',
        contactId: contact.id,
        type: 'MARKETING',
      });
      expect(body.html).to.include('Eva eva@x.co').and.include('Abmelden');
      const french = await render({ body: 'x', contactId: contact.id, type: 'MARKETING', locale: 'fr' });
      expect(french.body.html).to.include('Se désabonner');
    });

    it('returns faults with their place instead of rejecting them', async () => {
      const { status, body } = await render({ subject: '{{ a', body: 'one\n{% if %}', text: '{{ x | nofilter }}' });
      expect(status).to.equal(200);
      expect(body.faults.map(({ part }: { part: string }) => part)).to.have.members(['subject', 'body', 'text']);
      const inBody = body.faults.find(({ part }: { part: string }) => part === 'body');
      expect(inBody).to.include({ line: 2 });
      expect(inBody.message).to.be.a('string');
    });

    it('warns about what mail programs do not show', async () => {
      const codes = async (body: object) =>
        (await render(body)).body.warnings.map(({ code }: { code: string }) => code);
      expect(await codes({ body: '<img src="http://x.co/a.png">' })).to.deep.equal(['insecure_image']);
      expect(await codes({ body: 'x'.repeat(110_000) })).to.deep.equal(['html_large']);
      expect(await codes({ subject: '{{ nothing }}', body: 'x' })).to.deep.equal(['subject_empty']);
      expect(await codes({ body: 'x', type: 'HEADLESS' })).to.deep.equal(['unsubscribe_missing']);
      expect(await codes({ body: '{% for i in range(100000000) %}x{% endfor %}' })).to.deep.equal(['limit_exceeded']);
    });

    it("answers 404 to another project's contact, 422 to an invalid body and 413 above 5 MB", async () => {
      const { body: contact } = await stranger.server.post('/contacts', { email: 'f@x.co' });
      expect(await render({ body: 'x', contactId: contact.id })).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      for (const body of [{}, { body: 1 }, { body: 'x', type: 'OTHER' }, { body: 'x', contactId: 'y' }])
        expect(await render(body)).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(await render({ body: 'x'.repeat(5 * 1024 * 1024) })).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    });

    it('sends and stores nothing but the preview', async () => {
      await render({ subject: 's', body: '{{ email }}' });
      expect(await readMails(project)).to.deep.equal([]);
    });
  });

  describe('GET /previews/:id', () => {
    it('shows the HTML in a sandbox, by key and by a session that names its project in the address', async () => {
      const { body } = await render({ body: '<script>alert(1)</script><p>x</p>' });
      const path = pathOf(body.previewUrl);
      expect(path).to.match(/^\/previews\/[0-9a-f-]{36}\?projectId=/);
      for (const caller of [project.server, client(api.url, { cookie: project.cookie })]) {
        const page = await caller.get(path);
        expect(page).to.have.status(200);
        expect(page.body).to.equal('<p>x</p>');
        expect(page.headers.get('content-security-policy')).to.equal(POLICY);
        expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
        expect(page.headers.get('x-frame-options')).to.equal(null);
        expect(page.headers.get('cache-control')).to.equal('no-store');
      }
    });

    it('answers 401 without credentials and 404 to another project', async () => {
      const path = pathOf((await render({ body: 'x' })).body.previewUrl);
      expect(await api.get(path)).to.have.status(401);
      expect(await stranger.server.get(path)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await client(api.url, { cookie: stranger.cookie }).get(path)).to.be.envelope(403, 'FORBIDDEN');
      expect(await project.server.get('/previews/nonsense')).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });

    it('ends after an hour', async () => {
      const path = pathOf((await render({ body: 'x' })).body.previewUrl);
      await agePreviews(db, 61);
      expect(await project.server.get(path)).to.have.status(404);
      await deleteOldPreviews(db);
      expect(await countRows(db, 'previews')).to.equal(0);
    });

    it('keeps the newest 50 MB of a project', async () => {
      const other = await api.project();
      const store = (letter: string) => storePreview(db, settings, other.id, letter.repeat(20 * 1024 * 1024));
      const urls = [await store('a'), await store('b'), await store('c')];
      const statuses = await Promise.all(urls.map(async (url) => (await other.server.get(pathOf(url))).status));
      expect(statuses).to.deep.equal([404, 200, 200]);
    });

    it('contains neither the pixel nor tracked links, and leads to their targets', async () => {
      const links = new MailLinks(settings);
      const mail = links.tracked.of({ id: project.id, projectId: project.id });
      const html = `<a href="${mail.clickUrl('https://x.co/?a=1&b=2')}">x</a><img src="${mail.openUrl}">`;
      const { body } = await render({ body: html });
      const page = (await project.server.get(pathOf(body.previewUrl))).body;
      expect(page).to.equal('<a href="https://x.co/?a&#61;1&#38;b&#61;2">x</a><img src="data:,">');
      expect(withoutTracking(`<a href="${BASE_URL}/t/c/forged">x</a>`, settings)).to.equal('<a href="#">x</a>');
    });

    it('shows own uploads where the API has no HTTPS', async () => {
      const upload = `<img src="${BASE_URL}/uploads/a.png">`;
      const policyOf = async (html: string) => {
        const { body } = await render({ body: html });
        const shown = await project.server.get(pathOf(body.previewUrl));
        expect(shown.body).to.equal(html);
        return shown.headers.get('Content-Security-Policy');
      };
      expect(await policyOf('<p>Text</p>')).to.equal(POLICY);
      expect(await policyOf(upload)).to.equal(POLICY.replace('data:', `data: ${BASE_URL}/uploads/`));
      expect(previewPolicy('<img src="https://app.test/uploads/a.png">', 'https://app.test')).to.equal(POLICY);
    });

    it('has no scripts, frames, handlers or images over http', () => {
      const cases = {
        '<p onclick="go()" title="a">x</p>': '<p title="a">x</p>',
        '<img src=x onerror="hack()">': '<img>',
        "<img src='http://a.example/b.png' alt=b>": '<img alt=b>',
        '<img src="https://a.example/b.png">': '<img src="https://a.example/b.png">',
        '<img src="data:image/png;base64,AA">': '<img src="data:image/png;base64,AA">',
        '<img src="http://app.test/uploads/a.png">': '<img src="http://app.test/uploads/a.png">',
        '<img src="http://app.test/t/o/a">': '<img>',
        '<SCRIPT>alert(1)</SCRIPT >y<script>never closed': 'y',
        '<iframe src="https://a.example"></iframe><base href="https://a.example">z': 'z',
        '<a href="javascript:alert(1)">k</a>': '<a href="#alert(1)">k</a>',
      };
      for (const [given, shown] of Object.entries(cases))
        expect(withoutActiveContent(given, BASE_URL), given).to.equal(shown);
    });
  });

  describe('GET /emails/:id/content', () => {
    const send = async (body: object) =>
      (await project.server.post('/v1/send', { from: `a@${project.senderDomain}`, to: 'ann@x.co', ...body })).body.data
        .emails[0].email as string;

    it('shows a mail without variables as it was sent', async () => {
      const id = await send({
        subject: 'Plain',
        body: '<p>Hi <a href="https://x.co">x</a></p>',
        headers: { 'X-Tag': 't' },
      });
      const { status, body } = await project.server.get(`/emails/${id}/content`);
      expect(status).to.equal(200);
      expect(body).to.include({ subject: 'Plain', html: '<p>Hi <a href="https://x.co">x</a></p>', reproduced: false });
      expect(body.text).to.include('Hi');
      expect(body.headers).to.include({
        To: 'ann@x.co',
        From: `a@${project.senderDomain}`,
        'X-Tag': 't',
        Subject: 'Plain',
      });
      const page = await project.server.get(pathOf(body.previewUrl));
      expect(page.body).to.equal(body.html);
      expect(page.headers.get('content-security-policy')).to.equal(POLICY);
    });

    it('renders a template again with the values of the request and the present data', async () => {
      const id = await send({
        subject: '{{ code }}',
        body: '{{ code }} {{ name }}',
        data: { name: 'Ann', code: { value: 7, persistent: false } },
      });
      await project.server.post('/contacts', { email: 'ann@x.co', data: { name: 'Anna' } });
      const { body } = await project.server.get(`/emails/${id}/content`);
      expect(body).to.include({ subject: '7', html: '7 Ann', reproduced: true });
    });

    it('shows the mail of a campaign as its recipient gets it, with placeholders for its pages', async () => {
      const own = await api.project();
      await addContacts(db, own, 1);
      const campaign = await startCampaign(db, own, { body: '<p>Hello {{ name }}</p><a href="https://x.co">x</a>' });
      await addMailRows(db, {
        id: campaign.id,
        projectId: own.id,
        campaignId: campaign.id,
        sourceType: 'CAMPAIGN',
        status: 'SENT',
        contactId: (await readContacts(own))[0].id,
      });
      const { body } = await own.server.get(`/emails/${campaign.id}/content`);
      expect(body.html).to.include('Hello Name 0').and.include('/unsubscribe/preview').and.not.include('/t/');
      expect(body).to.include({ reproduced: true, subject: 'Hello Name 0' });
      expect(body.headers['List-Unsubscribe']).to.include('/unsubscribe/preview');
    });

    it('answers 410 once the content is dropped, and 404 to another project', async () => {
      const id = await send({ subject: 's', body: 'b' });
      expect(await stranger.server.get(`/emails/${id}/content`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      await removeBodies(db, { id });
      expect(await project.server.get(`/emails/${id}/content`)).to.be.envelope(410, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('GET /emails/:id', () => {
    it('lists the attempts with relay and answer', async () => {
      const { body } = await project.server.post('/v1/send', {
        from: `a@${project.senderDomain}`,
        to: 'log@x.co',
        subject: 's',
        body: 'b',
      });
      const id = body.data.emails[0].email;
      const startedAt = '2027-01-01T00:00:00.000Z';
      const endedAt = '2027-01-01T00:00:01.000Z';
      const attemptLog = [
        { number: 1, startedAt, endedAt, relay: 'default', outcome: 'deferred', answer: '451 later' },
        { number: 2, startedAt, endedAt, relay: null, outcome: 'sent', answer: '250 ok' },
      ];
      await setAttemptLog(db, id, attemptLog);
      const { body: mail } = await project.server.get(`/emails/${id}`);
      expect(mail.attemptLog).to.deep.equal(attemptLog);
    });
  });

  describe('POST /segments/preview', () => {
    const condition = (value: string) => ({
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
    });

    it('counts the matching contacts and shows ten of them', async () => {
      const own = await api.project();
      for (let n = 0; n < 12; n++)
        await own.server.post('/contacts', { email: `p${n}@x.co`, data: { plan: n < 11 ? 'pro' : 'free' } });
      // The numbers are estimates while the database takes seconds for a statement.
      const counted = (value: string) =>
        eventually(
          async () => {
            const answer = await own.server.post('/segments/preview', { condition: condition(value) });
            expect(answer).to.have.status(200);
            return !answer.body.estimated && answer.body;
          },
          { what: 'a number that is no estimate' },
        );
      const body = await counted('pro');
      expect(body).to.include({ count: 11, estimated: false });
      expect(body.sample).to.have.lengthOf(10);
      expect(body.sample[0]).to.have.all.keys('id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt');
      expect(await counted('none')).to.deep.equal({ count: 0, estimated: false, sample: [] });
    });

    it('answers 400 to an invalid condition and 422 without one', async () => {
      expect(await project.server.post('/segments/preview', { condition: { logic: 'X' } })).to.be.envelope(
        400,
        'BAD_REQUEST',
      );
      expect(await project.server.post('/segments/preview', {})).to.be.envelope(422, 'VALIDATION_ERROR');
    });

    it('answers 400 with the path to a segment that the project does not have', async () => {
      const { body: foreign } = await stranger.server.post('/segments', {
        name: 'Theirs',
        condition: condition('pro'),
      });
      for (const id of [foreign.id, newId()])
        for (const operator of ['notMemberOfSegment', 'memberOfSegment']) {
          const tree = { logic: 'AND', groups: [{ filters: [{ field: `segment.${id}`, operator }] }] };
          const answer = await project.server.post('/segments/preview', { condition: tree });
          expect(answer).to.be.envelope(400, 'BAD_REQUEST');
          expect(answer.body.error.errors[0].field).to.equal('condition.groups.0.filters.0.field');
        }
    });

    it('answers with the number of all contacts when nothing can be counted in two seconds', async () => {
      const own = await api.project();
      await own.server.post('/contacts', { email: 'a@x.co', data: { plan: 'pro' } });
      const trx = await db.transaction();
      await lockTable(trx, 'contacts');
      const answer = await own.server
        .post('/segments/preview', { condition: condition('pro') })
        .finally(() => trx.rollback());
      expect(answer.body).to.deep.equal({ count: 1, estimated: true, sample: [] });
    });
  });
});
