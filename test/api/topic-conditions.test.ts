import { expect } from 'chai';
import { applyContactChanges } from '../../services/segments/changes.ts';
import { reconcileDue } from '../../services/segments/sweep.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { build, type GraphSketch, makeTemplate } from '../support/workflow-building.ts';

const ann = 'ann@example.com';
const bob = 'bob@example.com';

describeApi('conditions on topics', (api) => {
  let project: ApiProject;
  let topicId: string;

  beforeEach(async () => {
    project = await api.project();
    topicId = (await post('/topics', { name: 'News' })).id;
    await post('/contacts', { email: ann, topics: { news: 'SUBSCRIBED' } });
    await post('/contacts', { email: bob });
  });

  async function post(path: string, body: object) {
    const answer = await project.server.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 202);
    return answer.body;
  }
  const on = (name: string, operator: string, rest: object = {}) => ({
    logic: 'AND',
    groups: [{ filters: [{ field: `topic.${name}`, operator, ...rest }] }],
  });
  const segment = (condition: object, trackMembership = false) =>
    post('/segments', { name: 'Readers', condition, trackMembership });
  async function members({ id }: { id: string }) {
    const { body } = await project.server.get(`/segments/${id}/contacts`);
    return body.data.map(({ email }: { email: string }) => email).sort();
  }
  const contactId = async (email: string) =>
    (await project.server.get(`/contacts?search=${email}`)).body.data[0].id as string;
  const choose = async (email: string, state: string) =>
    project.server.patch(`/contacts/${await contactId(email)}/topics`, { topics: { news: state } });
  const applyAll = async () => {
    for (let applied = 1; applied > 0; ) applied = await applyContactChanges(api.db);
  };

  it('match the effective state, by key and by id', async () => {
    for (const name of ['news', topicId, topicId.toUpperCase()]) {
      expect(await members(await segment(on(name, 'subscribed')))).to.deep.equal([ann]);
      expect(await members(await segment(on(name, 'unsubscribed')))).to.deep.equal([bob]);
      expect(await members(await segment(on(name, 'pending')))).to.deep.equal([]);
      expect(await members(await segment(on(name, 'changedWithin', { value: 1, unit: 'hours' })))).to.deep.equal([ann]);
      const older = on(name, 'changedOlderThan', { value: 1, unit: 'hours' });
      expect(await members(await segment(older))).to.deep.equal([]);
    }
  });

  it('need a topic of the project, an operator of topics and a span: 400, on campaigns 422', async () => {
    const cases: [object, string][] = [
      [on('other', 'subscribed'), 'field'],
      [on('news', 'equals', { value: true }), 'operator'],
      [on('news', 'changedWithin', { value: 1 }), 'unit'],
      [on('a b', 'subscribed'), 'field'],
    ];
    for (const [condition, part] of cases) {
      const created = await project.server.post('/segments', { name: 'A', condition });
      const previewed = await project.server.post('/contacts/bulk', { action: 'DELETE', condition, expectedCount: 0 });
      // Segments answer with a text.
      for (const { status, body } of [created, previewed])
        expect([status, JSON.stringify(body.error).includes(`condition.groups.0.filters.0.${part}`)]).to.deep.equal([
          400,
          true,
        ]);
      const { status, body } = await project.server.post('/campaigns', {
        name: 'A',
        subject: 's',
        body: 'b',
        from: `a@${project.senderDomain}`,
        audienceType: 'FILTERED',
        audienceCondition: condition,
      });
      expect([status, body.error.errors[0].field]).to.deep.equal([422, `audienceCondition.groups.0.filters.0.${part}`]);
    }
  });

  it('leave events of topics to event operators', async () => {
    const joined = { logic: 'AND', groups: [{ filters: [{ field: 'topic.news.subscribed', operator: 'triggered' }] }] };
    expect(await members(await segment(joined))).to.deep.equal([ann]);
  });

  it('keep tracked segments up to date, whether they name the key or the id', async () => {
    const tracked = [await segment(on('news', 'subscribed'), true), await segment(on(topicId, 'subscribed'), true)];
    const counts = async () => {
      const found = [];
      for (const { id } of tracked) found.push((await project.server.get(`/segments/${id}`)).body.memberCount);
      return found;
    };
    expect(await counts()).to.deep.equal([1, 1]);
    await choose(bob, 'SUBSCRIBED');
    await applyAll();
    await reconcileDue(api.db);
    expect(await counts()).to.deep.equal([2, 2]);
    await choose(ann, 'UNSUBSCRIBED');
    await applyAll();
    await reconcileDue(api.db);
    expect(await counts()).to.deep.equal([1, 1]);
    const entries = await api.db('events').where({ projectId: project.id, name: 'segment.readers.exit' });
    expect(entries).to.have.length(1);
  });

  it('match nothing once the topic is deleted, and make tracked segments empty', async () => {
    const plain = await segment(on('news', 'unsubscribed'));
    const tracked = await segment(on('news', 'subscribed'), true);
    expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(204);
    expect(await members(plain)).to.deep.equal([]);
    await reconcileDue(api.db);
    expect(await members(tracked)).to.deep.equal([]);
    await post('/topics', { name: 'News', key: 'news', defaultState: 'SUBSCRIBED' });
    await reconcileDue(api.db);
    expect(await members(tracked)).to.deep.equal([ann, bob]);
  });

  describe('in a simulation', () => {
    const condition = { type: 'CONDITION', config: { field: 'topic.news', operator: 'subscribed' } };
    const mailed = async () => ({
      type: 'SEND_EMAIL',
      config: { templateId: await makeTemplate(project, { topicId, type: 'MARKETING' }) },
    });
    const simulate = async (steps: GraphSketch['steps'], contact: object, events: object[] = []) => {
      const names = Object.keys(steps);
      const transitions = names.slice(1).map((name, n): [string, string] => [names[n] ?? '', name]);
      const { id } = await build(project, { steps, transitions });
      return project.server.post(`/workflows/${id}/simulate`, { contact, events });
    };
    const branchOf = async (contact: object) => (await simulate({ condition }, contact)).body.path[0].branch;

    it('takes the topics of the contact: stored, given or the present default', async () => {
      expect(await branchOf({ email: ann })).to.equal('yes');
      expect(await branchOf({ email: bob })).to.equal('no');
      expect(await branchOf({ id: await contactId(ann), topics: { news: 'PENDING' } })).to.equal('no');
      expect(await branchOf({ email: 'new@example.com', topics: { [topicId]: 'SUBSCRIBED' } })).to.equal('yes');
      expect(await branchOf({ email: 'new@example.com', subscribed: true })).to.equal('no');
      const unknown = await simulate({ condition }, { email: ann, topics: { other: 'SUBSCRIBED' } });
      expect(unknown).to.have.status(404);
    });

    it('changes topics by steps and events, and skips email accordingly', async () => {
      const send = await mailed();
      const update = { type: 'UPDATE_CONTACT', config: { topics: { news: 'SUBSCRIBED' } } };
      const contact = { email: 'new@example.com', subscribed: true };
      const reasonOf = ({ body }: { body: { path: { reason: string | null }[] } }) => body.path.at(-1)?.reason;
      expect(reasonOf(await simulate({ send }, contact))).to.equal('topic unsubscribed');
      expect(reasonOf(await simulate({ update, send }, contact))).to.equal(null);
      const events = [{ name: 'topic.news.subscribed' }];
      expect(reasonOf(await simulate({ send }, contact, events))).to.equal(null);
      const other = { ...contact, topics: { news: 'PENDING' } };
      expect(reasonOf(await simulate({ send }, other))).to.equal('topic pending');
    });
  });
});
