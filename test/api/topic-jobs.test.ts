import { expect } from 'chai';
import { runSlice } from '../../services/jobs/run.ts';
import { type ApiProject, describeApi } from '../support/api.ts';

type Fields = Record<string, string>;

const ann = 'ann@example.com';
const bob = 'bob@example.com';

describeApi('topics in jobs', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  async function post(path: string, body: object) {
    const answer = await project.server.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.be.within(200, 202);
    return answer.body;
  }
  const topic = (body: object = {}) => post('/topics', { name: 'News', ...body });
  const idOf = async (email: string) => (await project.server.get(`/contacts?search=${email}`)).body.data[0].id;
  const preferences = async (email: string) => (await project.server.get(`/contacts/${await idOf(email)}/topics`)).body;
  const stateOf = async (email: string, key = 'news') =>
    (await preferences(email)).data.find((one: Fields) => one.key === key)?.state;
  const consentsOf = async (email: string) =>
    (await project.server.get(`/contacts/${await idOf(email)}/consents`)).body.data;
  const finish = async (jobId: string) => {
    for (let ended = false; !ended; ) ({ ended } = await runSlice(api.db, jobId, () => true));
  };

  describe('POST /contacts/bulk', () => {
    const everybody = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'contains', value: '@' }] }] };
    const bulk = (body: object) =>
      project.server.post('/contacts/bulk', { condition: everybody, expectedCount: 2, ...body });
    async function run(body: object) {
      const answer = await bulk(body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
      await finish(answer.body.jobId);
      return (await project.server.get(`/contacts/bulk/${answer.body.jobId}`)).body;
    }

    beforeEach(async () => {
      for (const email of [ann, bob]) await post('/contacts', { email });
    });

    it('subscribes to a topic and unsubscribes from it, with records that name the actor', async () => {
      const { id: topicId } = await topic();
      const { type, result } = await run({ action: 'TOPIC_SUBSCRIBE', topicId });
      expect(type).to.equal('BULK_TOPIC_SUBSCRIBE');
      expect(result).to.deep.include({ requested: 2, changed: 2, unchanged: 0, failed: 0 });
      expect([await stateOf(ann), await stateOf(bob)]).to.deep.equal(['SUBSCRIBED', 'SUBSCRIBED']);
      const again = await run({ action: 'TOPIC_SUBSCRIBE', topicId: topicId.toUpperCase() });
      expect(again.result).to.deep.include({ changed: 0, unchanged: 2 });
      await run({ action: 'TOPIC_UNSUBSCRIBE', topicId });
      expect(await stateOf(bob)).to.equal('UNSUBSCRIBED');
      const records = (await consentsOf(ann)).map(({ action, method, actor, topicId: of }: Record<string, unknown>) => [
        action,
        method,
        (actor as { type: string } | null)?.type,
        of,
      ]);
      expect(records).to.deep.equal([
        ['WITHDRAWN', 'API', 'KEY', topicId],
        ['GRANTED', 'API', 'KEY', topicId],
      ]);
    });

    it('names the actor of a global change too', async () => {
      await run({ action: 'UNSUBSCRIBE' });
      const [record] = await consentsOf(ann);
      expect(record).to.include({ action: 'WITHDRAWN', method: 'API', topicId: null });
      expect(record.actor).to.include({ type: 'KEY' });
    });

    it('makes contacts of a topic with doubleOptIn PENDING', async () => {
      const { id: topicId } = await topic({ doubleOptIn: true, confirmation: { from: `a@${project.senderDomain}` } });
      await run({ action: 'TOPIC_SUBSCRIBE', topicId });
      expect(await stateOf(ann)).to.equal('PENDING');
    });

    it('needs a topic that can be joined', async () => {
      const { id: topicId } = await topic();
      const stranger = await api.project();
      const foreign = (await stranger.server.post('/topics', { name: 'Other' })).body.id;
      expect(await bulk({ action: 'TOPIC_SUBSCRIBE', topicId: foreign })).to.have.status(404);
      const missing = await bulk({ action: 'TOPIC_SUBSCRIBE' });
      expect([missing.status, missing.body.error.errors[0].field]).to.deep.equal([422, 'topicId']);
      await project.server.patch(`/topics/${topicId}`, { archived: true });
      expect(await bulk({ action: 'TOPIC_SUBSCRIBE', topicId })).to.have.status(422);
      expect(await bulk({ action: 'TOPIC_UNSUBSCRIBE', topicId })).to.have.status(202);
    });

    it('reports contacts of a topic that was deleted meanwhile', async () => {
      const { id: topicId } = await topic();
      const { jobId } = (await bulk({ action: 'TOPIC_SUBSCRIBE', topicId })).body;
      expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(204);
      await finish(jobId);
      const { result } = (await project.server.get(`/contacts/bulk/${jobId}`)).body;
      expect(result).to.deep.include({ changed: 0, failed: 2 });
      expect(result.errors[0].error).to.contain('no longer exists');
    });
  });

  describe('imports', () => {
    const upload = (content: string, fields: Fields = {}) => {
      const data = new FormData();
      for (const [name, value] of Object.entries(fields)) data.set(name, value);
      data.set('file', new Blob([content], { type: 'text/csv' }), 'contacts.csv');
      return project.server.post('/contacts/import', data);
    };
    async function imported(content: string, fields?: Fields) {
      const { status, body } = await upload(content, fields);
      expect(status, JSON.stringify(body)).to.equal(202);
      await finish(body.jobId);
      return (await project.server.get(`/contacts/import/${body.jobId}`)).body.result;
    }
    const leave = async (email: string, body: object = { topics: { news: 'UNSUBSCRIBED' } }) =>
      project.server.patch(`/contacts/${await idOf(email)}/topics`, body);
    const dataOf = async (email: string) => (await project.server.get(`/contacts?search=${email}`)).body.data[0].data;
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();

    it('write the states of topic columns, with the columns of consent as evidence', async () => {
      const { id: topicId } = await topic();
      const result = await imported(
        `email,plan,Topic:News,consentAt,consentIp,consentSource,consentText\n` +
          `${ann},pro,subscribed,${yesterday},10.0.0.1,Fair,Yes\n${bob},free,false,,,,\nempty@example.com,free,,,,,\n`,
      );
      expect(result).to.deep.include({ created: 3, failed: 0, keptUnsubscribed: 0 });
      expect(await stateOf(ann)).to.equal('SUBSCRIBED');
      expect(await dataOf(ann)).to.deep.equal({ plan: 'pro' });
      const [record] = await consentsOf(ann);
      expect(record).to.deep.include({
        action: 'GRANTED',
        method: 'IMPORT',
        topicId,
        evidence: { at: yesterday, ip: '10.0.0.1', source: 'Fair', text: 'Yes' },
      });
      expect(record.actor).to.include({ type: 'KEY' });
      expect((await preferences('empty@example.com')).data[0]).to.include({ source: 'DEFAULT' });
    });

    it('keep their meaning as custom fields where the file has no topic and no consent', async () => {
      await imported(`email,topic:news,consentAt\n${ann},x,y\n`);
      expect(await dataOf(ann)).to.deep.equal({ 'topic:news': 'x', consentAt: 'y' });
      await topic();
      await imported(`email,consentAt\n${bob},y\n`);
      expect(await dataOf(bob)).to.deep.equal({ consentAt: 'y' });
      const unknown = await upload(`email,topic:other\n${ann},subscribed\n`);
      expect(unknown).to.have.status(400);
      expect(unknown.body.error.message).to.contain('topic:other');
      expect(await upload(`email,topic:news,Topic:NEWS\n${ann},true,true\n`)).to.have.status(400);
    });

    it('reject bad rows and keep the others', async () => {
      await topic();
      await topic({ name: 'Old' });
      const old = (await project.server.get('/topics')).body.find(({ key }: Fields) => key === 'old');
      await project.server.patch(`/topics/${old.id}`, { archived: true });
      const { failed, errors, created } = await imported(
        `email,topic:news,topic:old,consentAt\na@x.co,yes,,\nb@x.co,,,tomorrow\nc@x.co,,,2999-01-01\n` +
          `d@x.co,true,subscribed,\n${ann},true,unsubscribed,2026-01-31\n`,
      );
      expect([created, failed]).to.deep.equal([1, 4]);
      expect(errors.map(({ row, error }: { row: number; error: string }) => [row, error.split('"')[1]])).to.deep.equal([
        [2, 'topic:news'],
        [3, 'consentAt'],
        [4, 'consentAt'],
        [5, 'topic:old'],
      ]);
    });

    it('let the later act win, for topics and for all mail', async () => {
      await topic();
      for (const email of [ann, bob]) {
        await post('/contacts', { email, topics: { news: 'SUBSCRIBED' } });
        await leave(email);
      }
      const row = (email: string, at: string) => `${email},subscribed,${at}\n`;
      const now = () => new Date().toISOString();
      const header = 'email,topic:news,consentAt\n';
      expect(await imported(header + row(ann, yesterday) + row(bob, ''))).to.include({
        keptUnsubscribed: 2,
        unchanged: 2,
      });
      expect([await stateOf(ann), await stateOf(bob)]).to.deep.equal(['UNSUBSCRIBED', 'UNSUBSCRIBED']);
      expect(await imported(header + row(ann, now()))).to.include({ keptUnsubscribed: 0, updated: 1 });
      expect(await stateOf(ann)).to.equal('SUBSCRIBED');

      await project.server.patch(`/contacts/${await idOf(ann)}`, { subscribed: false });
      const all = 'email,subscribed,consentAt,topic:news\n';
      expect(await imported(`${all}${ann},true,${yesterday},\n`)).to.include({ keptUnsubscribed: 1 });
      expect((await preferences(ann)).subscribed).to.equal(false);
      expect(await imported(`${all}${ann},true,${now()},\n`)).to.include({ keptUnsubscribed: 0, updated: 1 });
      expect((await preferences(ann)).subscribed).to.equal(true);
    });

    it('do not subscribe to all mail by a topic who has left all mail since', async () => {
      await topic();
      await post('/contacts', { email: ann });
      await project.server.patch(`/contacts/${await idOf(ann)}`, { subscribed: false });
      const result = await imported(`email,topic:news,consentAt\n${ann},true,${yesterday}\n`);
      expect(result).to.include({ keptUnsubscribed: 1 });
      expect(await preferences(ann)).to.include({ subscribed: false });
      expect(await stateOf(ann)).to.equal('UNSUBSCRIBED');
    });

    it('ignore what the service itself set', async () => {
      await topic();
      await topic({ name: 'Tips' });
      await post('/contacts', { email: ann, topics: { tips: 'SUBSCRIBED' }, consent: { source: 'Fair' } });
      expect(await stateOf(ann)).to.equal('UNSUBSCRIBED');
      expect(await imported(`email,topic:news\n${ann},true\n`)).to.include({ keptUnsubscribed: 0, updated: 1 });
      expect(await stateOf(ann)).to.equal('SUBSCRIBED');
    });

    it('remember what a deleted contact had left', async () => {
      await topic();
      await post('/contacts', { email: ann, topics: { news: 'SUBSCRIBED' } });
      await leave(ann);
      await project.server.patch(`/contacts/${await idOf(ann)}`, { subscribed: false });
      expect(await project.server.delete(`/contacts/${await idOf(ann)}`)).to.have.status(204);
      const header = 'email,subscribed,topic:news,consentAt\n';
      expect(await imported(`${header}${ann},true,true,${yesterday}\n`)).to.include({
        created: 1,
        keptUnsubscribed: 1,
      });
      expect(await preferences(ann)).to.include({ subscribed: false });
      expect(await stateOf(ann)).to.equal('UNSUBSCRIBED');
      expect(await imported(`${header}${ann},true,true,${new Date().toISOString()}\n`)).to.include({ updated: 1 });
      expect(await preferences(ann)).to.include({ subscribed: true });
      expect(await stateOf(ann)).to.equal('SUBSCRIBED');
    });

    it('take consent of all rows, which is not consent to the other topics', async () => {
      await topic();
      await topic({ name: 'Tips', defaultState: 'SUBSCRIBED' });
      const consent = JSON.stringify({ at: yesterday, source: 'Fair' });
      await imported(`email,topic:news,consentSource\n${ann},true,Shop\n`, { consent });
      expect([await stateOf(ann), await stateOf(ann, 'tips')]).to.deep.equal(['SUBSCRIBED', 'UNSUBSCRIBED']);
      const evidence = (await consentsOf(ann)).map((one: { evidence: object | null }) => one.evidence);
      expect(evidence).to.deep.equal([null, { at: yesterday, source: 'Shop' }]);
      await imported(`email\n${bob}\n`, { consent });
      const [record] = await consentsOf(bob);
      expect(record).to.deep.include({ action: 'GRANTED', topicId: null, evidence: { at: yesterday, source: 'Fair' } });
      for (const bad of ['no', '{"at":"2999-01-01T00:00:00Z"}', '{"text":3}'])
        expect(await upload(`email\n${bob}\n`, { consent: bad }), bad).to.have.status(422);
    });

    it('make doubleOptIn PENDING unless SKIP comes with a time and a source', async () => {
      await topic({ doubleOptIn: true, confirmation: { from: `a@${project.senderDomain}` } });
      await imported(`email,topic:news\n${ann},true\n`);
      expect(await stateOf(ann)).to.equal('PENDING');
      const skipped = await imported(
        `email,topic:news,consentAt,consentSource\n${bob},true,${yesterday},Fair\n${ann},true,${yesterday},\n`,
        { confirmation: 'SKIP' },
      );
      expect(skipped).to.include({ created: 1, failed: 1 });
      expect(await stateOf(bob)).to.equal('SUBSCRIBED');
      expect(await upload(`email\n${bob}\n`, { confirmation: 'MAYBE' })).to.have.status(422);
    });

    it('say in a dry run what would happen, and write nothing', async () => {
      await topic();
      for (const email of [ann, bob]) await post('/contacts', { email });
      await leave(ann);
      const file = `email,topic:news\n${ann},true\n${bob},true\nnew@x.co,true\n`;
      const planned = await imported(file, { dryRun: 'true' });
      expect(planned).to.include({ created: 1, updated: 1, unchanged: 1, keptUnsubscribed: 1 });
      expect(await stateOf(bob)).to.equal('UNSUBSCRIBED');
      const { dryRun: _, ...counts } = planned;
      expect(await imported(file)).to.deep.equal(counts);
    });
  });
});
