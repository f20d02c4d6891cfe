import { expect } from 'chai';
import type { ApiProject, TestApi } from '../support/api.ts';
import type { CampaignWorker } from '../support/campaigns.ts';
import { type SendingApi, startSendingApi } from '../support/sending-api.ts';
import type { SmtpStandIn } from '../support/smtp.ts';

describe('email with a topic', () => {
  let sending: SendingApi;
  let api: TestApi;
  let smtp: SmtpStandIn;
  let worker: CampaignWorker;
  let project: ApiProject;
  let contacts: Record<string, string>;

  before(async () => {
    sending = await startSendingApi();
    ({ api, smtp, worker } = sending);
  });
  after(() => sending?.stop());
  beforeEach(async () => {
    project = await api.project();
    smtp.mails.length = 0;
    contacts = {};
    for (const name of ['ann', 'bob', 'cem']) {
      const answer = await project.server.post('/contacts', { email: addressOf(name) });
      contacts[name] = answer.body.id;
    }
  });

  const addressOf = (name: string) => `${name}-${project.id.slice(-8)}@example.com`;
  const createTopic = async (body: object): Promise<string> => {
    const answer = await project.server.post('/topics', body);
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const choose = async (name: string, change: object) => {
    const answer = await project.server.patch(`/contacts/${contacts[name]}/topics`, change);
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
  };
  const leave = (name: string, key: string) => choose(name, { topics: { [key]: 'UNSUBSCRIBED' } });
  const snooze = (name: string) => choose(name, { snoozedUntil: new Date(Date.now() + 3_600_000).toISOString() });
  const template = async (type: string, more: object = {}): Promise<string> => {
    const from = `news@${project.senderDomain}`;
    const answer = await project.server.post('/templates', { name: 't', subject: 's', body: 'b', type, from, ...more });
    expect(answer, JSON.stringify(answer.body)).to.have.status(201);
    return answer.body.id;
  };
  const draftBody = (more: object = {}) => ({
    name: 'c',
    subject: 's',
    body: '<p>b</p>',
    from: `news@${project.senderDomain}`,
    audienceType: 'ALL',
    ...more,
  });
  const draft = async (more: object = {}): Promise<string> => {
    const answer = await project.server.post('/campaigns', draftBody(more));
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    return answer.body.data.id;
  };
  const send = (names: string[], more: object) =>
    project.server.post('/v1/send', { to: names.map(addressOf), ...more });
  const inline = () => ({ from: `shop@${project.senderDomain}`, subject: 's', body: 'b' });
  /** Who of this project got email; tests before may have left some due. */
  const receivers = () =>
    smtp.mails
      .flatMap(({ to }) => to)
      .filter((address) => address.includes(project.id.slice(-8)))
      .map((address) => address.split('-')[0])
      .sort();
  const emailOf = async (id: string) => (await project.server.get(`/emails/${id}`)).body;

  describe('of a campaign', () => {
    it('reaches who joined, counts them before, and skips who leaves or snoozes after the freeze', async () => {
      const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      await leave('ann', 'news');
      const id = await draft({ topicId });
      expect((await project.server.get(`/campaigns/${id}`)).body).to.include({ totalRecipients: 2, topicId });
      await project.server.post(`/campaigns/${id}/send`);
      await worker.advance(id);
      await leave('bob', 'news');
      await worker.run(id);
      expect(receivers()).to.deep.equal(['cem']);
      const { data } = (await project.server.get(`/campaigns/${id}/recipients?status=SKIPPED`)).body;
      expect(data.map(({ reason }: { reason: string }) => reason)).to.deep.equal(['topic unsubscribed']);
      expect((await project.server.get(`/campaigns/${id}`)).body).to.include({
        totalRecipients: 2,
        sentCount: 1,
        skippedCount: 1,
      });
    });

    it('leaves out who snoozes, with and without a topic, and TRANSACTIONAL email does not', async () => {
      await snooze('ann');
      const total = async (more: object) => {
        const id = await draft(more);
        return (await project.server.get(`/campaigns/${id}`)).body.totalRecipients;
      };
      expect(await total({})).to.equal(2);
      expect(await total({ type: 'TRANSACTIONAL' })).to.equal(3);
      const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      expect(await total({ topicId })).to.equal(2);
      const notices = await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      await leave('bob', 'orders');
      expect(await total({ topicId: notices, type: 'TRANSACTIONAL' })).to.equal(2);
    });

    it('rejects a topic of the other kind with 422, and sending one that is archived or missing but required with 400', async () => {
      const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      const wrong = await project.server.post('/campaigns', draftBody({ topicId, type: 'TRANSACTIONAL' }));
      expect(wrong).to.have.status(422);
      const id = await draft({ topicId });
      expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(409);
      await project.server.patch(`/topics/${topicId}`, { archived: true });
      expect(await project.server.post(`/campaigns/${id}/send`)).to.have.status(400);
      expect(await project.server.post('/campaigns', draftBody({ topicId }))).to.have.status(422);
      const saved = await project.server.put(`/campaigns/${id}`, draftBody({ topicId }));
      expect(saved, 'it keeps what it has').to.have.status(200);
      const required = await project.owner.patch(`/users/@me/projects/${project.id}`, { topicRequired: true });
      expect(required.body).to.include({ topicRequired: true });
      expect(await project.server.post(`/campaigns/${await draft()}/send`)).to.have.status(400);
    });

    it('keeps a topic from being archived while it is scheduled', async () => {
      const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      const id = await draft({ topicId });
      const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
      expect(await project.server.post(`/campaigns/${id}/send`, { scheduledFor })).to.have.status(200);
      expect(await project.server.patch(`/topics/${topicId}`, { archived: true })).to.have.status(409);
    });
  });

  describe('of /v1/send', () => {
    it('is recorded SKIPPED for who left the topic, and the others get it', async () => {
      await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      await leave('ann', 'orders');
      const answer = await send(['ann', 'bob'], { ...inline(), topic: 'orders' });
      expect(answer, JSON.stringify(answer.body)).to.have.status(200);
      const [ann, bob] = answer.body.data.emails;
      expect(ann).to.include({ skipped: 'topic unsubscribed' });
      expect(bob).to.not.have.property('skipped');
      await worker.send();
      expect(receivers()).to.deep.equal(['bob']);
      expect(await emailOf(ann.email)).to.include({ status: 'SKIPPED', reason: 'topic unsubscribed' });
    });

    it('skips who leaves between the answer and the beginning', async () => {
      const topic = await createTopic({ name: 'Orders', kind: 'NOTIFICATION' });
      const answer = await send(['ann', 'bob'], { ...inline(), topic });
      await leave('ann', 'orders');
      await worker.send();
      expect(receivers()).to.deep.equal(['bob']);
      expect(await emailOf(answer.body.data.emails[0].email)).to.include({
        status: 'SKIPPED',
        reason: 'topic unsubscribed',
      });
    });

    it('with a MARKETING topic skips the unsubscribed instead of failing; without one it stays 400', async () => {
      const topicId = await createTopic({ name: 'News', defaultState: 'SUBSCRIBED' });
      await project.server.patch(`/contacts/${contacts.ann}`, { subscribed: false });
      const plain = await template('MARKETING');
      expect(await send(['ann', 'bob'], { template: plain })).to.have.status(400);
      for (const request of [
        { template: plain, topic: 'news' },
        { template: await template('MARKETING', { topicId }) },
      ]) {
        const answer = await send(['ann', 'bob'], request);
        expect(answer, JSON.stringify(answer.body)).to.have.status(200);
        expect(answer.body.data.emails.map(({ skipped }: { skipped?: string }) => skipped)).to.deep.equal([
          'unsubscribed',
          undefined,
        ]);
      }
    });

    it('records email to who snoozes as SKIPPED, without a topic too', async () => {
      await snooze('ann');
      const answer = await send(['ann', 'bob'], { template: await template('MARKETING') });
      expect(answer, JSON.stringify(answer.body)).to.have.status(200);
      expect(answer.body.data.emails[0]).to.include({ skipped: 'snoozed' });
      expect((await send(['ann'], inline())).body.data.emails[0]).to.not.have.property('skipped');
    });

    it('skips MARKETING email to a contact who unsubscribed in the meantime', async () => {
      const answer = await send(['ann'], { template: await template('MARKETING') });
      await project.server.patch(`/contacts/${contacts.ann}`, { subscribed: false });
      await worker.send();
      expect(receivers()).to.deep.equal([]);
      expect(await emailOf(answer.body.data.emails[0].email)).to.include({ status: 'SKIPPED', reason: 'unsubscribed' });
    });

    it('rejects an unknown topic with 404, one of the other kind or archived with 422, and none with 400 where required', async () => {
      const topicId = await createTopic({ name: 'News' });
      expect(await send(['ann'], { ...inline(), topic: 'other' })).to.have.status(404);
      expect(await send(['ann'], { ...inline(), topic: 'news' })).to.have.status(422);
      const plain = await template('MARKETING');
      await project.server.patch(`/topics/${topicId}`, { archived: true });
      expect(await send(['ann'], { template: plain, topic: topicId })).to.have.status(422);
      await project.owner.patch(`/users/@me/projects/${project.id}`, { topicRequired: true });
      expect(await send(['ann'], { template: plain })).to.have.status(400);
      expect(await send(['ann'], inline())).to.have.status(200);
    });
  });

  it('of /v1/send takes choices of its recipients, and obeys them', async () => {
    await createTopic({ name: 'News' });
    const marketing = await template('MARKETING');
    const request = { template: marketing, topic: 'news', topics: { news: 'SUBSCRIBED' }, consent: { source: 'Form' } };
    const answer = await send(['ann', 'dan'], request);
    expect(answer, JSON.stringify(answer.body)).to.have.status(200);
    expect(answer.body.data.emails.map(({ skipped }: { skipped?: string }) => skipped)).to.deep.equal([
      undefined,
      undefined,
    ]);
    await worker.send();
    expect(receivers()).to.deep.equal(['ann', 'dan']);
    const left = await send(['ann'], { template: marketing, topic: 'news', topics: { news: 'UNSUBSCRIBED' } });
    expect(left.body.data.emails[0]).to.include({ skipped: 'topic unsubscribed' });
    const broken = await send(['ann'], { ...inline(), topics: { news: 'SUBSCRIBED' }, confirmation: 'SKIP' });
    expect(broken).to.have.status(422);
  });

  it('of templates goes with the kind of the topic only', async () => {
    const topicId = await createTopic({ name: 'News' });
    const from = `news@${project.senderDomain}`;
    const body = { name: 't', subject: 's', body: 'b', type: 'TRANSACTIONAL', from, topicId };
    expect(await project.server.post('/templates', body)).to.have.status(422);
    const id = await template('MARKETING', { topicId });
    expect((await project.server.get(`/templates/${id}`)).body).to.include({ topicId });
    expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(409);
    const cleared = await project.server.patch(`/templates/${id}`, { topicId: null });
    expect(cleared.body).to.include({ topicId: null });
    expect(await project.server.delete(`/topics/${topicId}`)).to.have.status(204);
  });
});
