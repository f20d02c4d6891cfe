import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, client, describeApi } from '../support/api.ts';

describeApi('topics', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object) => {
    const answer = await project.server.post('/topics', body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body;
  };
  const list = async (query = '') => (await project.server.get(`/topics${query}`)).body;
  const keysOf = (topics: { key: string }[]) => topics.map(({ key }) => key);
  const violation = ({ body }: { body: { error: { errors: { field: string; code: string }[] } } }) => {
    const [first] = body.error.errors;
    return [first?.field, first?.code];
  };

  describe('POST /topics', () => {
    it('fills in the defaults of each kind', async () => {
      const topic = await create({ name: 'Product news' });
      expect(topic).to.deep.equal({
        id: topic.id,
        key: 'product-news',
        name: 'Product news',
        description: '',
        kind: 'MARKETING',
        defaultState: 'UNSUBSCRIBED',
        visibility: 'PUBLIC',
        doubleOptIn: false,
        confirmation: null,
        consentText: '',
        translations: {},
        position: 1,
        archived: false,
        counts: { subscribed: 0, unsubscribed: 0, pending: 0, estimated: false },
        projectId: project.id,
        createdAt: topic.createdAt,
        updatedAt: topic.updatedAt,
      });
      expect(await create({ name: 'Orders', kind: 'NOTIFICATION' })).to.include({
        defaultState: 'SUBSCRIBED',
        position: 2,
      });
      const confirmed = await create({
        name: 'Alarm',
        kind: 'NOTIFICATION',
        doubleOptIn: true,
        confirmation: { from: `news@${project.senderDomain}` },
      });
      expect(confirmed).to.include({ defaultState: 'UNSUBSCRIBED' });
    });

    it('makes a key of the name: numbered where it is taken, "topic" where nothing is left', async () => {
      for (const name of ['Café & Bar', 'cafe bar', '???', '!']) await create({ name });
      await create({ name: newId() });
      const keys = keysOf(await list());
      expect(keys.slice(0, 4)).to.deep.equal(['cafe-bar', 'cafe-bar-2', 'topic', 'topic-2']);
      expect(keys[4]).to.match(/^topic-/);
    });

    it('takes a confirmation with its defaults, texts of languages and a key of its own', async () => {
      const confirmation = { from: `news@${project.senderDomain}`, reminderAfterHours: null };
      const translations = { de: { name: 'Neues' }, 'pt-BR': { consentText: 'Sim' } };
      const topic = await create({ name: 'News', key: 'n-1', doubleOptIn: true, confirmation, translations });
      expect(topic).to.deep.include({
        key: 'n-1',
        translations,
        confirmation: {
          templateId: null,
          fromName: null,
          from: `news@${project.senderDomain}`,
          reminderAfterHours: null,
          expiresAfterHours: 168,
        },
      });
    });

    it('rejects what cannot be with 422, naming the field', async () => {
      const cases: [object, string][] = [
        [{}, 'name'],
        [{ name: 'x'.repeat(101) }, 'name'],
        [{ name: 'x', key: 'News' }, 'key'],
        [{ name: 'x', key: newId() }, 'key'],
        [{ name: 'x', description: 'x'.repeat(501) }, 'description'],
        [{ name: 'x', consentText: 'x'.repeat(5_001) }, 'consentText'],
        [{ name: 'x', doubleOptIn: true, defaultState: 'SUBSCRIBED' }, 'defaultState'],
        [{ name: 'x', defaultState: 'PENDING' }, 'defaultState'],
        [{ name: 'x', translations: { 'no locale': { name: 'x' } } }, 'translations'],
        [{ name: 'x', confirmation: { templateId: newId() } }, 'confirmation.templateId'],
        [
          { name: 'x', confirmation: { reminderAfterHours: 3, expiresAfterHours: 3 } },
          'confirmation.reminderAfterHours',
        ],
      ];
      for (const [body, field] of cases) {
        const answer = await project.server.post('/topics', body);
        expect(answer, JSON.stringify(body)).to.have.status(422);
        expect(violation(answer)[0], JSON.stringify(body)).to.equal(field);
      }
      expect(await list()).to.deep.equal([]);
    });

    it('rejects a taken key with 409, an unverified sender with 403 and a topic too many with 409', async () => {
      await create({ name: 'News', key: 'news' });
      expect(await project.server.post('/topics', { name: 'x', key: 'news' })).to.have.status(409);
      const confirmation = { from: 'news@elsewhere.example' };
      expect(await project.server.post('/topics', { name: 'x', confirmation })).to.have.status(403);
      for (let n = 1; n < 100; n++) await create({ name: `t ${n}` });
      expect(await project.server.post('/topics', { name: 'x' })).to.have.status(409);
    });
  });

  describe('PATCH /topics/:id', () => {
    it('changes everything but key and kind', async () => {
      const { id } = await create({ name: 'News' });
      const change = { name: 'Offers', description: 'Weekly', visibility: 'PRIVATE', key: 'x', kind: 'NOTIFICATION' };
      const answer = await project.server.patch(`/topics/${id}`, change);
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ ...change, key: 'news', kind: 'MARKETING' });
      expect((await project.server.get(`/topics/${id}`)).body).to.deep.equal(answer.body);
    });

    it('applies a later default to contacts that are created after it', async () => {
      const contact = async () =>
        (await project.server.post('/contacts', { email: `${newId()}@example.com` })).body.id as string;
      const stateOf = async (id: string) => (await project.server.get(`/contacts/${id}/topics`)).body.data[0].state;
      const early = await contact();
      const { id } = await create({ name: 'News', defaultState: 'SUBSCRIBED' });
      expect(await stateOf(early)).to.equal('SUBSCRIBED');
      await project.server.patch(`/topics/${id}`, { defaultState: 'UNSUBSCRIBED' });
      const late = await contact();
      expect([await stateOf(early), await stateOf(late)]).to.deep.equal(['SUBSCRIBED', 'UNSUBSCRIBED']);
      const { counts } = (await project.server.get(`/topics/${id}`)).body;
      expect(counts).to.deep.equal({ subscribed: 1, unsubscribed: 1, pending: 0, estimated: false });
    });

    it('rejects doubleOptIn with contacts SUBSCRIBED by default with 422, and a topic of another project with 404', async () => {
      const { id } = await create({ name: 'News', defaultState: 'SUBSCRIBED' });
      expect(await project.server.patch(`/topics/${id}`, { doubleOptIn: true })).to.have.status(422);
      const other = await api.project();
      expect(await other.server.patch(`/topics/${id}`, { doubleOptIn: true })).to.have.status(404);
      expect((await list())[0]).to.include({ doubleOptIn: false });
    });
  });

  describe('archived topics', () => {
    it('are listed apart, and refuse new use but let contacts leave', async () => {
      const { id } = await create({ name: 'News' });
      await project.server.patch(`/topics/${id}`, { archived: true });
      expect(await list()).to.deep.equal([]);
      expect(keysOf(await list('?archived=true'))).to.deep.equal(['news']);
      const contact = (await project.server.post('/contacts', { email: 'ada@example.com' })).body.id;
      const choose = (state: string) =>
        project.server.patch(`/contacts/${contact}/topics`, { topics: { news: state } });
      expect(await choose('SUBSCRIBED')).to.have.status(422);
      expect(await choose('UNSUBSCRIBED')).to.have.status(200);
    });
  });

  describe('POST /topics/reorder', () => {
    it('orders all topics in use, and rejects missing, doubled and unknown ones with 422', async () => {
      const [a, b, c] = [await create({ name: 'a' }), await create({ name: 'b' }), await create({ name: 'c' })];
      await project.server.patch(`/topics/${c.id}`, { archived: true });
      const answer = await project.server.post('/topics/reorder', { ids: [b.id, a.id] });
      expect(answer).to.have.status(200);
      expect(keysOf(answer.body)).to.deep.equal(['b', 'a']);
      for (const ids of [[b.id], [b.id, b.id], [a.id, b.id, c.id], [a.id, newId()]])
        expect(await project.server.post('/topics/reorder', { ids }), String(ids)).to.have.status(422);
      expect(keysOf(await list())).to.deep.equal(['b', 'a']);
    });
  });

  describe('DELETE /topics/:id', () => {
    it('deletes the choices and keeps the records', async () => {
      const { id } = await create({ name: 'News' });
      const contact = (await project.server.post('/contacts', { email: 'ada@example.com' })).body.id;
      await project.server.patch(`/contacts/${contact}/topics`, { topics: { news: 'SUBSCRIBED' } });
      expect(await project.server.delete(`/topics/${id}`)).to.have.status(204);
      expect(await project.server.get(`/topics/${id}`)).to.have.status(404);
      expect((await project.server.get(`/contacts/${contact}/topics`)).body.data).to.deep.equal([]);
      const { data } = (await project.server.get(`/contacts/${contact}/consents`)).body;
      expect(data.map(({ topicId }: { topicId: string }) => topicId)).to.deep.equal([id]);
      const again = await create({ name: 'News' });
      expect(again.counts).to.deep.equal({ subscribed: 0, unsubscribed: 1, pending: 0, estimated: false });
    });
  });

  it('need the scope of topics, and consents that of contacts', async () => {
    const { id } = await create({ name: 'News' });
    const key = await project.owner.post(`/projects/${project.id}/keys`, { name: 'k', scopes: ['topics:read'] });
    const scoped = client(api.url, { authorization: `Bearer ${key.body.key}` });
    expect(await scoped.get('/topics')).to.have.status(200);
    expect(await scoped.patch(`/topics/${id}`, { name: 'x' })).to.have.status(403);
    expect(await scoped.get('/consents')).to.have.status(403);
  });
});
