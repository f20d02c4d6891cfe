import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiAnswer, type ApiProject, describeApi } from '../support/api.ts';

interface Row {
  key: string;
  state: string;
  source: string;
}

describeApi('what contacts receive', (api) => {
  let project: ApiProject;
  let contactId: string;

  beforeEach(async () => {
    project = await api.project();
    contactId = await createContact({ email: 'ada@example.com' });
  });

  const createContact = async (body: object): Promise<string> => {
    const answer = await project.server.post('/contacts', body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const createTopic = async (body: object): Promise<string> => {
    const answer = await project.server.post('/topics', body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const read = async (id = contactId) => (await project.server.get(`/contacts/${id}/topics`)).body;
  const change = (body: object, by = project.server) => by.patch(`/contacts/${contactId}/topics`, body);
  const statesOf = ({ data }: { data: Row[] }) => Object.fromEntries(data.map(({ key, state }) => [key, state]));
  const recordsOf = async (id = contactId) => (await project.server.get(`/contacts/${id}/consents`)).body.data;
  const fieldOf = ({ body }: ApiAnswer): string => body.error.errors[0].field;

  describe('PATCH /contacts/:id/topics', () => {
    it('writes choices by key or id, each with a record that says who and how', async () => {
      const news = await createTopic({ name: 'News' });
      await createTopic({ name: 'Offers' });
      const answer = await change({ topics: { [news]: 'SUBSCRIBED', offers: 'UNSUBSCRIBED' } });
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal(await read());
      expect(answer.body.data.map(({ key, state, source }: Row) => [key, state, source])).to.deep.equal([
        ['news', 'SUBSCRIBED', 'CHOICE'],
        ['offers', 'UNSUBSCRIBED', 'CHOICE'],
      ]);
      await change({ topics: { news: 'UNSUBSCRIBED' } }, project.owner);
      const [left, ...joined] = await recordsOf();
      expect(left).to.deep.include({ topicId: news, action: 'WITHDRAWN', method: 'MEMBER', email: 'ada@example.com' });
      expect(left.actor).to.deep.equal({ type: 'USER', id: project.userId });
      expect(joined.map(({ action, method }: Record<string, string>) => [action, method])).to.deep.equal([
        ['WITHDRAWN', 'API'],
        ['GRANTED', 'API'],
      ]);
      expect((await read()).data[0].consentId).to.equal(left.id);
    });

    it('asks for a confirmation where the topic needs one, unless the caller proves that it has', async () => {
      await createTopic({ name: 'News', doubleOptIn: true, confirmation: { from: `news@${project.senderDomain}` } });
      expect(statesOf((await change({ topics: { news: 'SUBSCRIBED' } })).body)).to.deep.equal({ news: 'PENDING' });
      expect(statesOf((await change({ topics: { news: 'UNSUBSCRIBED' } })).body)).to.deep.equal({
        news: 'UNSUBSCRIBED',
      });
      const consent = { at: '2026-01-02T03:04:05Z', source: 'Order form', text: 'Yes', ip: '192.0.2.1' };
      const skipped = await change({ topics: { news: 'SUBSCRIBED' }, consent, confirmation: 'SKIP' });
      expect(statesOf(skipped.body)).to.deep.equal({ news: 'SUBSCRIBED' });
      const records = await recordsOf();
      expect(records[0]).to.deep.include({ action: 'GRANTED', evidence: consent });
      expect(records.map(({ action }: { action: string }) => action)).to.deep.equal([
        'GRANTED',
        'WITHDRAWN',
        'REQUESTED',
      ]);
    });

    it('asks who is SUBSCRIBED by default for no confirmation', async () => {
      const news = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      const confirmation = { from: `news@${project.senderDomain}` };
      const later = { defaultState: 'UNSUBSCRIBED', doubleOptIn: true, confirmation };
      expect(await project.server.patch(`/topics/${news}`, later)).to.have.status(200);
      expect(statesOf((await change({ topics: { news: 'SUBSCRIBED' } })).body)).to.deep.equal({ news: 'SUBSCRIBED' });
    });

    it('snoozes, limits the frequency and ends both; only the snooze is recorded', async () => {
      const snoozedUntil = new Date(Date.now() + 86_400_000).toISOString();
      const frequency = { count: 1, per: 'WEEK' };
      expect((await change({ snoozedUntil, frequency })).body).to.deep.include({ snoozedUntil, frequency });
      const ended = await change({ snoozedUntil: null, frequency: null });
      expect(ended.body).to.deep.include({ snoozedUntil: null, frequency: null });
      expect((await recordsOf()).map(({ action }: { action: string }) => action)).to.deep.equal(['SNOOZED', 'SNOOZED']);
    });

    it('makes consent to one topic no consent to the rest', async () => {
      await createTopic({ name: 'News' });
      await createTopic({ name: 'Offers', defaultState: 'SUBSCRIBED' });
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const id = await createContact({
        email: 'eve@example.com',
        topics: { news: 'SUBSCRIBED' },
        consent: { source: 'Form' },
      });
      const states = { news: 'SUBSCRIBED', offers: 'UNSUBSCRIBED', orders: 'SUBSCRIBED' };
      expect(statesOf(await read(id))).to.deep.equal(states);
      await project.server.patch(`/contacts/${contactId}`, { subscribed: false });
      await change({ topics: { news: 'SUBSCRIBED' } });
      expect(await read()).to.include({ subscribed: false });
      await change({ topics: { news: 'UNSUBSCRIBED' } });
      const agreed = await change({ topics: { news: 'SUBSCRIBED' }, consent: { source: 'Form' } });
      expect(agreed.body).to.include({ subscribed: true });
      expect(statesOf(agreed.body)).to.deep.equal(states);
    });

    it('rejects bad input with 422 and unknown topics and contacts with 404, writing nothing', async () => {
      await createTopic({ name: 'News', doubleOptIn: true, confirmation: { from: `news@${project.senderDomain}` } });
      const day = 86_400_000;
      const cases: [object, string][] = [
        [{ topics: { news: 'PENDING' } }, 'topics.news'],
        [{ frequency: { count: 0, per: 'DAY' } }, 'frequency.count'],
        [{ frequency: { count: 32, per: 'DAY' } }, 'frequency.count'],
        [{ snoozedUntil: new Date(Date.now() - day).toISOString() }, 'snoozedUntil'],
        [{ snoozedUntil: new Date(Date.now() + 800 * day).toISOString() }, 'snoozedUntil'],
        [{ topics: { news: 'SUBSCRIBED' }, confirmation: 'SKIP' }, 'confirmation'],
        [{ topics: { news: 'SUBSCRIBED' }, confirmation: 'SKIP', consent: { source: 'x' } }, 'confirmation'],
        [{ consent: { at: new Date(Date.now() + day).toISOString() } }, 'consent.at'],
        [{ consent: { at: '2026-01-31T09:00:00+01' } }, 'consent.at'],
        [{ consent: { note: 'x'.repeat(501) } }, 'consent.note'],
      ];
      for (const [body, field] of cases) {
        const answer = await change(body);
        expect(answer, JSON.stringify(body)).to.have.status(422);
        expect(fieldOf(answer), JSON.stringify(body)).to.equal(field);
      }
      const unknown = await change({
        topics: { news: 'SUBSCRIBED', other: 'SUBSCRIBED' },
        frequency: { count: 1, per: 'DAY' },
      });
      expect(unknown).to.have.status(404);
      expect(await project.server.patch(`/contacts/${newId()}/topics`, {})).to.have.status(404);
      const stranger = await api.project();
      expect(await stranger.server.patch(`/contacts/${contactId}/topics`, {})).to.have.status(404);
      expect(await recordsOf()).to.deep.equal([]);
      expect(await read()).to.include({ frequency: null });
    });
  });

  it('finds contacts by the state of a topic', async () => {
    const id = await createTopic({ name: 'News' });
    const other = await createContact({ email: 'eve@example.com' });
    await change({ topics: { news: 'SUBSCRIBED' } });
    const find = async (query: string) => {
      const answer = await project.server.get(`/contacts?${query}`);
      expect(answer).to.have.status(200);
      expect(answer.body.total).to.equal(answer.body.data.length);
      return answer.body.data.map((contact: { id: string }) => contact.id);
    };
    expect(await find('topic=news')).to.deep.equal([contactId]);
    expect(await find(`topic=${id}&topicState=UNSUBSCRIBED&sort=email`)).to.deep.equal([other]);
    expect(await find('topic=news&topicState=PENDING')).to.deep.equal([]);
    expect(await project.server.get('/contacts?topic=other')).to.have.status(404);
  });

  it('rejects topics on /v1/track with 422 where the project has some', async () => {
    const track = () =>
      project.browser.post('/v1/track', { email: 'ada@example.com', event: 'x', topics: { news: 'SUBSCRIBED' } });
    expect(await track()).to.have.status(200);
    await createTopic({ name: 'News' });
    const refused = await track();
    expect(refused).to.have.status(422);
    expect(fieldOf(refused)).to.equal('topics');
  });

  describe('the events', () => {
    it('are reserved only where the topic exists', async () => {
      const track = (event: string) => project.browser.post('/v1/track', { email: 'ada@example.com', event });
      expect(await track('topic.news.subscribed')).to.have.status(200);
      await createTopic({ name: 'News' });
      const refused = await track('topic.news.subscribed');
      expect(refused).to.have.status(422);
      expect(refused.body.error.errors[0].code).to.equal('reserved_event');
      expect(await track('topic.other.subscribed')).to.have.status(200);
    });

    it('are in the feed of the contact, with the record', async () => {
      const topicId = await createTopic({ name: 'News' });
      await change({ topics: { news: 'SUBSCRIBED' } });
      const { data } = (await project.server.get(`/activity?contactId=${contactId}&types=topic.subscribed`)).body;
      expect(data.map(({ type }: { type: string }) => type)).to.deep.equal(['topic.subscribed']);
      const events = (await project.server.get(`/events?contactId=${contactId}`)).body;
      expect(JSON.stringify(events)).to.contain('topic.news.subscribed').and.to.contain(topicId);
    });
  });

  describe('GET /consents', () => {
    it('finds records by address, topic, action and method, also after the contact is deleted', async () => {
      const topicId = await createTopic({ name: 'News' });
      await change({ topics: { news: 'SUBSCRIBED' } });
      await project.server.patch(`/contacts/${contactId}`, { subscribed: false });
      const find = async (query: string) => (await project.server.get(`/consents?${query}`)).body;
      expect((await find('email=Ada@example.com')).data).to.have.length(2);
      expect((await find(`topicId=${topicId}`)).data).to.have.length(1);
      expect((await find('action=WITHDRAWN&method=API')).data).to.have.length(1);
      expect((await find('method=FORM')).data).to.deep.equal([]);
      expect((await find('since=2020-01-01&until=2020-02-01')).data).to.deep.equal([]);
      const page = await find('limit=1');
      expect(page).to.include({ hasMore: true, total: 2 });
      const next = await find(`limit=1&cursor=${page.cursor}`);
      expect(next.data[0].id).to.not.equal(page.data[0].id);
      await project.server.delete(`/contacts/${contactId}`);
      const { data } = await find('email=ada@example.com');
      expect(data.map(({ email }: { email: null }) => email)).to.deep.equal([null, null]);
      const stranger = await api.project();
      expect((await stranger.server.get('/consents?email=ada@example.com')).body.data).to.deep.equal([]);
    });

    it('exports all of them as CSV', async () => {
      await project.server.patch(`/contacts/${contactId}`, { subscribed: false });
      const answer = await project.server.get('/consents/export');
      expect(answer).to.have.status(200);
      expect(answer.body)
        .to.match(/^id,at,contactId,email/)
        .and.to.contain('WITHDRAWN');
    });
  });

  it('starts an address that had left UNSUBSCRIBED when it is created again', async () => {
    await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
    await change({ topics: { news: 'UNSUBSCRIBED' } });
    await project.server.patch(`/contacts/${contactId}`, { subscribed: false });
    await project.server.delete(`/contacts/${contactId}`);
    const again = await createContact({ email: 'ada@example.com' });
    expect(statesOf(await read(again))).to.deep.equal({ news: 'UNSUBSCRIBED' });
    expect(await read(again)).to.include({ subscribed: false });
    await project.server.delete(`/contacts/${again}`);
    const asked = await createContact({ email: 'ada@example.com', subscribed: true });
    expect(await read(asked)).to.include({ subscribed: true });
  });

  describe('GET /contacts/:id/proof', () => {
    it('shows choices and records as a page, and says that there are none', async () => {
      const page = async () => project.server.get(`/contacts/${contactId}/proof`);
      expect((await page()).body).to.contain('There is no consent record');
      await createTopic({ name: 'News <b>' });
      await change({ topics: { 'news-b': 'SUBSCRIBED' }, consent: { source: 'Order form' } });
      const answer = await page();
      expect(answer).to.have.status(200);
      expect(answer.body).to.contain('News &lt;b&gt;').and.to.contain('Source: Order form');
      expect(answer.body).to.contain('<dd>Agreed</dd>').and.to.contain('<dd>Secret key of the project</dd>');
    });

    it('shows it in the language of the project', async () => {
      await project.owner.patch(`/users/@me/projects/${project.id}`, { language: 'fr' });
      await createTopic({ name: 'News' });
      await change({ topics: { news: 'SUBSCRIBED' } }, project.owner);
      const { body } = await project.server.get(`/contacts/${contactId}/proof`);
      expect(body).to.contain('<dd>Accordé</dd>').and.to.contain('<dd>Membre du projet</dd>');
    });
  });

  it('is part of the export of the contact', async () => {
    await createTopic({ name: 'News' });
    await change({ topics: { news: 'SUBSCRIBED' } });
    const { body } = await project.server.get(`/contacts/${contactId}/export`);
    expect(body.consents).to.have.length(1);
    expect(statesOf({ data: body.preferences.topics })).to.deep.equal({ news: 'SUBSCRIBED' });
  });

  it('rejects what is wrong about topics on POST /contacts with the plain 400', async () => {
    await createTopic({ name: 'News', doubleOptIn: true, confirmation: { from: `news@${project.senderDomain}` } });
    const body = { email: 'x@example.com', topics: { news: 'SUBSCRIBED' }, confirmation: 'SKIP' };
    for (const wrong of [body, { email: 'x@example.com', topics: { news: 'PENDING' } }]) {
      const answer = await project.server.post('/contacts', wrong);
      expect(answer, JSON.stringify(answer.body)).to.have.status(400);
      expect(answer.body.error).to.be.a('string');
    }
  });

  it('answers 404 to an unknown topic on POST and PATCH /contacts, writing nothing', async () => {
    const topics = { unknown: 'SUBSCRIBED' };
    const created = await project.server.post('/contacts', { email: 'x@example.com', topics });
    expect(created).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    const changed = await project.server.patch(`/contacts/${contactId}`, { subscribed: false, topics });
    expect(changed).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    const { data } = (await project.server.get('/contacts')).body;
    expect(data.map(({ id, subscribed }: { id: string; subscribed: boolean }) => [id, subscribed])).to.deep.equal([
      [contactId, true],
    ]);
  });
});
