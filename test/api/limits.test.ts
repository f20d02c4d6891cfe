import { expect } from 'chai';
import { aggregateContactCounts } from '../../services/contacts/counts.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { type ApiAnswer, type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { readContacts, readEvents, readMails } from '../support/reading.ts';
import { storedBodies } from '../support/rows/mails.ts';
import { storedEventNameCount, storedFieldCount } from '../support/rows/recounts.ts';

const keys = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${from + n}`, n]));

const violation = (answer: ApiAnswer) => {
  const [{ field, code }] = answer.body.error.errors;
  return { status: answer.status, code: answer.body.error.code, field, violation: code };
};

const TOO_BIG = { status: 422, code: 'VALIDATION_ERROR', field: 'data', violation: 'too_big' };

describe('limits on data and names', () => {
  let api: TestApi;
  let project: ApiProject;
  let n = 0;

  before(async () => {
    api = await startTestApi({ env: { CUSTOM_FIELDS_PER_PROJECT: '20', EVENT_NAMES_PER_PROJECT: '6' } });
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  const email = () => `limits${++n}@example.com`;
  const mail = (data?: object) => ({
    to: email(),
    from: `a@${project.senderDomain}`,
    subject: 'Hello',
    body: '<p>Hello</p>',
    data,
  });
  const track = (event: string, data?: object) => project.browser.post('/v1/track', { email: email(), event, data });
  const trackAs = (event: string, data?: object) =>
    project.server.post('/events/track', { email: email(), event, data });
  const aggregate = async () => {
    await aggregateContactCounts(api.db);
    await aggregateEventCounts(api.db);
  };
  const fields = () => storedFieldCount(api.db, project.id);

  describe('a data object with 101 keys', () => {
    it('is rejected with 422 on /v1/track, /v1/send, /events/track and PATCH /contacts/:id', async () => {
      expect(violation(await track('a', keys(0, 101)))).to.deep.equal(TOO_BIG);
      expect(violation(await trackAs('a', keys(0, 101)))).to.deep.equal(TOO_BIG);
      expect(violation(await project.server.post('/v1/send', mail(keys(0, 101))))).to.deep.equal(TOO_BIG);
      const { body } = await project.server.post('/contacts', { email: email() });
      expect(violation(await project.server.patch(`/contacts/${body.id}`, { data: keys(0, 101) }))).to.deep.equal(
        TOO_BIG,
      );
      const byId = { contactId: body.id, name: 'a', data: keys(0, 101) };
      expect(violation(await project.server.post('/events/track', byId))).to.deep.equal(TOO_BIG);
      expect(await readEvents(project)).to.deep.equal([]);
    });

    it('is rejected with a plain 400 on POST /contacts', async () => {
      const answer = await project.server.post('/contacts', { email: email(), data: keys(0, 101) });
      expect(answer).to.have.status(400);
      expect(answer.body).to.deep.equal({ error: '"data" has more than 100 keys' });
    });
  });

  it('accepts 100 keys', async () => {
    const roomy = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
    try {
      const other = await roomy.project();
      expect(await other.server.post('/contacts', { email: email(), data: keys(0, 100) })).to.have.status(201);
      expect(await other.browser.post('/v1/track', { email: email(), event: 'a', data: keys(0, 100) })).to.have.status(
        200,
      );
    } finally {
      await roomy.stop();
    }
  });

  describe('a custom field beyond the limit', () => {
    beforeEach(async () => {
      await project.server.post('/contacts', { email: email(), data: keys(0, 20) });
      await aggregate();
      expect(await fields()).to.equal(20);
    });

    it('is rejected with 422 on /v1/send and /v1/track, and nothing is written', async () => {
      const before = await readContacts(project);
      expect(violation(await project.server.post('/v1/send', mail({ another: 1 })))).to.deep.equal(TOO_BIG);
      expect(violation(await track('a', { another: 1 }))).to.deep.equal(TOO_BIG);
      expect(await readContacts(project)).to.deep.equal(before);
      expect(await readMails(project)).to.deep.equal([]);
      expect(await readEvents(project)).to.deep.equal([]);
    });

    it('is rejected with 409 on POST and PATCH of contacts and on /events/track', async () => {
      const created = await project.server.post('/contacts', { email: email(), data: { another: 1 } });
      expect(created).to.have.status(409);
      expect(created.body.error.code).to.equal('CONFLICT');
      expect(await trackAs('a', { another: 1 })).to.have.status(409);
      const { body } = await project.server.post('/contacts', { email: email() });
      expect(await project.server.patch(`/contacts/${body.id}`, { data: { another: 1 } })).to.have.status(409);
      const byId = { contactId: body.id, name: 'a', data: { another: 1 } };
      const tracked = await project.server.post('/events/track', byId);
      expect(tracked).to.have.status(409);
      expect(tracked.body.error.code).to.equal('CONFLICT');
    });

    it('does not affect known fields, deletions and values that are not stored', async () => {
      expect(await track('a', { key1: 5, key2: 6 })).to.have.status(200);
      expect(await track('a', { another: null })).to.have.status(200);
      expect(await track('a', { another: { value: 1, persistent: false } })).to.have.status(200);
      expect(await project.server.post('/v1/send', mail(keys(0, 20)))).to.have.status(200);
      expect(await project.server.post('/contacts', { email: email(), data: keys(0, 20) })).to.have.status(201);
    });

    it('is accepted again once a field has been deleted', async () => {
      expect(await project.server.delete('/contacts/fields/key0')).to.have.status(200);
      expect(await fields()).to.equal(19);
      expect(await project.server.post('/contacts', { email: email(), data: { another: 1 } })).to.have.status(201);
    });

    it('rejects one of several concurrent tracks and accepts the others', async () => {
      const answers = await Promise.all([track('a', { key1: 1 }), track('a', { another: 1 }), track('a'), track('a')]);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 422, 200, 200]);
    });

    it('starts from zero after a reset', async () => {
      expect(await project.owner.post(`/users/@me/projects/${project.id}/reset`)).to.have.status(200);
      expect(await fields()).to.equal(0);
      expect(await project.server.post('/contacts', { email: email(), data: { another: 1 } })).to.have.status(201);
    });
  });

  it('rejects a call whose new fields together exceed the limit', async () => {
    await project.server.post('/contacts', { email: email(), data: keys(0, 19) });
    await aggregate();
    expect(await project.server.post('/contacts', { email: email(), data: keys(0, 21) })).to.have.status(409);
    expect(await project.server.post('/contacts', { email: email(), data: keys(0, 20) })).to.have.status(201);
  });

  it('lets the public key create half of the custom fields, and the secret key the rest', async () => {
    await track('a', keys(0, 10));
    await aggregate();
    const refused = await track('a', { another: 1 });
    expect(violation(refused)).to.deep.equal(TOO_BIG);
    expect(refused.body.error.errors[0].message).to.equal(
      '"data" has new custom fields: the public key may create custom fields until the project has 10',
    );
    expect(await trackAs('a', keys(10, 10))).to.have.status(200);
    await aggregate();
    expect(await fields()).to.equal(20);
    expect((await trackAs('a', { another: 1 })).body.error.message).to.equal(
      '"data" has new custom fields: a project may have up to 20 custom fields.',
    );
    expect(await track('a', { key15: 1 })).to.have.status(200);
  });

  it('lets the public key create half of the event names, and the secret key the rest', async () => {
    for (const name of ['a', 'b', 'c']) expect(await track(name)).to.have.status(200);
    await aggregate();
    const byPublicKey = await track('d');
    expect(violation(byPublicKey)).to.deep.equal({ ...TOO_BIG, field: 'event' });
    expect(byPublicKey.body.error.errors[0].message).to.equal(
      '"event" is a new name: the public key may create event names until the project has 3',
    );
    for (const name of ['d', 'e', 'f']) expect(await trackAs(name)).to.have.status(200);
    await aggregate();
    const refused = await trackAs('g');
    expect(refused).to.have.status(409);
    expect(refused.body.error.code).to.equal('CONFLICT');
    const { body } = await project.server.post('/contacts', { email: email() });
    expect(await project.server.post('/events/track', { contactId: body.id, name: 'g' })).to.have.status(409);
    expect(await project.server.post('/events/track', { contactId: body.id, name: 'f' })).to.have.status(200);
    expect(await track('f')).to.have.status(200);
  });

  it('does not count events of the service, and frees the name of a deleted event', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await trackAs(name);
    await project.server.post('/contacts', { email: 'same@example.com', subscribed: true });
    await project.server.post('/contacts', { email: 'same@example.com', subscribed: false });
    await aggregate();
    expect(await storedEventNameCount(api.db, project.id)).to.equal(6);
    expect(await trackAs('g')).to.have.status(409);
    expect(await project.server.delete('/events/a')).to.have.status(200);
    expect(await trackAs('g')).to.have.status(200);
  });
});

describe('limits on resources of a project', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi({
      env: {
        SEGMENTS_PER_PROJECT: '2',
        TEMPLATES_PER_PROJECT: '2',
        WORKFLOWS_PER_PROJECT: '2',
        OPEN_JOBS_PER_PROJECT: '2',
        PROJECTS_PER_USER: '3',
      },
    });
  });
  after(() => api.stop());
  beforeEach(async () => {
    project = await api.project();
  });

  const atOnce = async (create: (n: number) => Promise<ApiAnswer>): Promise<ApiAnswer[]> =>
    Promise.all(Array.from({ length: 5 }, (_, n) => create(n)));
  const expectTwo = (answers: ApiAnswer[], status: number) => {
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).to.deep.equal([status, status, 409, 409, 409]);
    const refused = answers.filter((answer) => answer.status === 409);
    for (const { body } of refused) expect(body.error.code).to.equal('CONFLICT');
  };
  const accepted = (answers: ApiAnswer[]) => answers.find((answer) => answer.status < 300);

  it('rejects a third segment with 409, also when five are created concurrently', async () => {
    const answers = await atOnce((n) => project.server.post('/segments', { name: `S${n}`, type: 'STATIC' }));
    expectTwo(answers, 201);
    await project.server.delete(`/segments/${accepted(answers)?.body.id}`);
    const { id } = (await project.server.post('/segments', { name: 'Again', type: 'STATIC' })).body;
    expect(await project.server.post(`/segments/${id}/freeze`)).to.be.envelope(409, 'CONFLICT');
    const from = `a@${project.senderDomain}`;
    const content = { name: 'C', subject: 's', body: 'b', audienceType: 'ALL', from };
    const campaign = (await project.server.post('/campaigns', content)).body.data;
    const ofRecipients = await project.server.post(`/campaigns/${campaign.id}/recipients/segment`, { name: 'R' });
    expect(ofRecipients).to.be.envelope(409, 'CONFLICT');
    expect((await project.server.get('/segments')).body).to.have.lengthOf(2);
  });

  it('rejects a third template with 409, created or duplicated, also concurrently', async () => {
    const template = { name: 'T', subject: 'Hello', body: '<p>Hello</p>', type: 'TRANSACTIONAL' };
    const answers = await atOnce(() => project.server.post('/templates', template));
    expectTwo(answers, 201);
    const { id } = accepted(answers)?.body ?? {};
    expect(await project.server.post(`/templates/${id}/duplicate`)).to.have.status(409);
    expect(await project.server.patch(`/templates/${id}`, { name: 'Changed' })).to.have.status(200);
  });

  it('rejects a third workflow with 409, created or duplicated, also concurrently', async () => {
    const answers = await atOnce(() => project.server.post('/workflows', { name: 'W', eventName: 'started' }));
    expectTwo(answers, 201);
    const { id } = accepted(answers)?.body ?? {};
    expect(await project.server.post(`/workflows/${id}/duplicate`)).to.have.status(409);
    const [recipe] = (await project.server.get('/workflows/recipes')).body.recipes;
    const from = `a@${project.senderDomain}`;
    const installed = await project.server.post('/workflows/recipes', { recipe: recipe.id, from });
    expect(installed).to.be.envelope(409, 'CONFLICT');
  });

  it('rejects a third open job with 409, import or bulk', async () => {
    const form = new FormData();
    form.append('file', new File(['email\na@example.com\n'], 'contacts.csv'));
    const contactIds = [project.id];
    expect(await project.server.post('/contacts/import', form)).to.have.status(202);
    expect(await project.server.post('/contacts/bulk-delete', { contactIds })).to.have.status(202);
    const refused = await project.server.post('/contacts/bulk-subscribe', { contactIds });
    expect(refused).to.have.status(409);
    expect(refused.body.error.code).to.equal('CONFLICT');
    expect(await project.server.post('/contacts/import', form)).to.have.status(409);
    for (const path of ['/imports', '/suppressions/import'])
      expect(await project.server.post(path, form), path).to.be.envelope(409, 'CONFLICT');
    for (const path of ['/contacts/bulk-unsubscribe', '/contacts/bulk-delete'])
      expect(await project.server.post(path, { contactIds }), path).to.be.envelope(409, 'CONFLICT');
    const document = { version: 1, content: [] };
    const block = (await project.server.post('/saved-blocks', { name: 'b', kind: 'SECTION', document })).body;
    for (const path of ['/brand-kit/apply', `/saved-blocks/${block.id}/apply`])
      expect(await project.server.post(path), path).to.be.envelope(409, 'CONFLICT');
    const { id } = (await project.server.post('/workflows', { name: 'W', eventName: 'started' })).body;
    const retry = await project.server.post(`/workflows/${id}/executions/retry-failed`, {});
    expect(retry).to.be.envelope(409, 'CONFLICT');
  });

  it('rejects a page of templates or campaigns with more than 64 MB of bodies with 413', async () => {
    const from = `a@${project.senderDomain}`;
    const template = { name: 'T', subject: 's', body: 'b', type: 'TRANSACTIONAL', from };
    const campaign = { name: 'C', subject: 's', body: 'b', audienceType: 'ALL', from };
    for (const [path, table, content] of [
      ['/templates', 'templates', template],
      ['/campaigns', 'campaigns', campaign],
    ] as const) {
      for (let n = 0; n < 2; n++) expect((await project.server.post(path, content)).status).to.be.oneOf([200, 201]);
      await api
        .db(table)
        .where({ projectId: project.id })
        .update({ body: 'x'.repeat(33 * 1024 * 1024) });
      expect(await project.server.get(path), path).to.be.envelope(413, 'PAYLOAD_TOO_LARGE');
    }
  });

  it('rejects a condition larger than 256 KB', async () => {
    const filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const condition = { logic: 'AND', groups: [{ filters: [filter] }], note: 'x'.repeat(256 * 1024) };
    const created = await project.server.post('/segments', { name: 'Large', condition });
    expect(created).to.have.status(400);
    expect(created.body).to.deep.equal({ error: '"condition" is larger than 256 KB' });
    const { body } = await project.server.post('/segments', {
      name: 'Small',
      condition: { ...condition, note: undefined },
    });
    const changed = await project.server.patch(`/segments/${body.id}`, { condition });
    expect(violation(changed)).to.deep.equal({ ...TOO_BIG, field: 'condition' });
  });

  it('rejects a step config larger than 256 KB, and a workflow whose steps are larger than 5 MB together', async () => {
    const { body: workflow } = await project.server.post('/workflows', { name: 'W', eventName: 'started' });
    const add = (note: string) =>
      project.server.post(`/workflows/${workflow.id}/steps`, { type: 'EXIT', config: { note } });
    expect(violation(await add('x'.repeat(256 * 1024)))).to.deep.equal({ ...TOO_BIG, field: 'config' });
    const answers = [];
    for (let n = 0; n < 22; n++) answers.push((await add('x'.repeat(250_000))).status);
    expect(answers.at(0)).to.equal(201);
    expect(answers.at(-1)).to.equal(400);
    expect((await project.server.get(`/workflows/${workflow.id}`)).body.steps).to.have.lengthOf(20);
  });

  it('accepts a large body for many recipients, because it is stored once', async () => {
    const answer = await project.server.post('/v1/send', {
      to: Array.from({ length: 100 }, (_, n) => `copy${n}@example.com`),
      from: `a@${project.senderDomain}`,
      subject: 'Hello',
      body: 'x'.repeat(8 * 1024 * 1024),
    });
    expect(answer).to.have.status(200);
    const bodies = await storedBodies(api.db, { projectId: project.id });
    expect(bodies.map(({ html }) => html.length)).to.deep.equal([8 * 1024 * 1024]);
  });

  it('rejects a fourth project of a user with 409, also concurrently', async () => {
    expectTwo(await atOnce(() => project.owner.post('/users/@me/projects', { name: 'Another' })), 201);
  });
});
