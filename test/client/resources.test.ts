import { createHmac, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createClient, type EverpostClient } from '../../client/src/index.ts';
import { type ApiProject, describeApi } from '../support/api.ts';

describeApi('the resources of the TypeScript client', (api) => {
  let project: ApiProject;
  let everpost: EverpostClient;

  before(async () => {
    project = await api.project();
    const { secretKey, publicKey } = project;
    everpost = createClient({ baseUrl: api.url, secretKey, publicKey });
  });

  async function all<T>(list: AsyncGenerator<T, void>): Promise<T[]> {
    const found: T[] = [];
    for await (const item of list) found.push(item);
    return found;
  }
  const from = () => `shop@${project.senderDomain}`;
  const statusOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'succeeded',
      (error: { status: number }) => error.status,
    );

  it('sends emails and reads them', async () => {
    const sent = await everpost.emails.send({ to: 'ann@example.com', from: from(), subject: 'Hi', body: '<p>Hi</p>' });
    const id = sent.emails[0]?.email ?? '';
    expect((await all(everpost.emails.list())).map((email) => email.id)).to.deep.equal([id]);
    expect(await everpost.emails.get(id)).to.include({ id, status: 'PENDING', subject: 'Hi' });
    expect((await everpost.emails.content(id)).subject).to.equal('Hi');
    expect(await statusOf(everpost.emails.resend(id))).to.equal(409);
    expect(await everpost.emails.verifyAddress('ann@gmial.com')).to.include({ email: 'ann@gmial.com' });
  });

  it('creates, lists, changes and deletes contacts', async () => {
    const { id } = await everpost.contacts.create({ email: 'bob@example.com', data: { plan: 'pro' } });
    expect(await everpost.contacts.get(id)).to.include({ email: 'bob@example.com', subscribed: true });
    expect((await everpost.contacts.update(id, { subscribed: false })).subscribed).to.equal(false);
    const matching = everpost.contacts.list({ search: 'bob', subscribed: false });
    expect((await all(matching)).map((contact) => contact.id)).to.deep.equal([id]);
    expect(await everpost.contacts.lookUp(['bob@example.com', 'nobody@example.com'])).to.deep.equal({
      found: ['bob@example.com'],
      notFound: ['nobody@example.com'],
    });
    expect((await everpost.contacts.fields()).fields.map(({ field }) => field)).to.include('data.plan');
    expect(await everpost.contacts.delete(id)).to.equal(undefined);
    expect(await statusOf(everpost.contacts.get(id))).to.equal(404);
  });

  it('creates forms, submits them and lists what was submitted', async () => {
    const form = await everpost.forms.create({ name: 'Newsletter', from: from() });
    expect((await everpost.forms.list()).map(({ id }) => id)).to.deep.equal([form.id]);
    expect((await everpost.forms.update(form.id, { submitLabel: 'Join' })).version).to.equal(2);
    expect(await everpost.forms.get(form.id)).to.include({ submitLabel: 'Join' });
    const copy = await everpost.forms.duplicate(form.id);
    expect(copy.status).to.equal('PAUSED');
    expect(await everpost.forms.delete(copy.id)).to.equal(undefined);
    expect((await everpost.forms.embed(form.id)).url).to.equal(form.urls.page);
    const submission = { form: 'newsletter', email: 'dan@example.com' };
    expect(await everpost.forms.subscribe(submission)).to.deep.equal({ status: 'RECEIVED' });
    const [found] = await all(everpost.forms.submissions(form.id, { status: 'RECEIVED' }));
    expect(found).to.include({ email: 'dan@example.com', status: 'RECEIVED' });
    expect(await statusOf(everpost.forms.resend(form.id, found?.id ?? ''))).to.equal(409);
    expect(await everpost.forms.stats(form.id)).to.include({ submitted: 1, confirmRate: null });
  });

  it('starts jobs and follows them', async () => {
    const file = new Blob(['email\ncarl@example.com\n'], { type: 'text/csv' });
    const { jobId } = await everpost.contacts.import(file);
    expect(await everpost.jobs.get(jobId)).to.include({ id: jobId, type: 'IMPORT' });
    const { id: segmentId } = await everpost.segments.create({ name: 'Bulk', type: 'STATIC' });
    const bulk = await everpost.contacts.bulk({ action: 'SUBSCRIBE', segmentId, expectedCount: 0 });
    expect((await all(everpost.jobs.list())).map(({ id }) => id)).to.have.members([jobId, bulk.jobId]);
    expect((await everpost.jobs.cancel(jobId)).id).to.equal(jobId);
  });

  it('records events with either key', async () => {
    const { contact } = await everpost.events.track({ email: 'dora@example.com', event: 'signed_up' });
    await everpost.events.record({ contactId: contact, name: 'bought' });
    expect((await all(everpost.events.list({ eventName: 'bought' }))).map(({ contactId }) => contactId)).to.deep.equal([
      contact,
    ]);
    expect((await everpost.events.names()).names.map(({ name }) => name)).to.include.members(['signed_up', 'bought']);
  });

  it('prepares, sends and cancels campaigns', async () => {
    const end = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const draft = { name: 'Spring', subject: 'Hi', body: '<p>Hi</p>', from: from(), audienceType: 'ALL' } as const;
    const { id } = await everpost.campaigns.create(draft);
    expect((await everpost.campaigns.update(id, { ...draft, subject: 'Hello' })).subject).to.equal('Hello');
    expect((await everpost.campaigns.setRate(id, 60)).ratePerMinute).to.equal(60);
    expect((await everpost.campaigns.changeSending(id, { sendUntil: end })).sendUntil).to.equal(end);
    const inTwoDays = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16);
    expect((await everpost.campaigns.timing(id, inTwoDays)).late).to.equal(0);
    expect((await all(everpost.campaigns.list({ search: 'Spring' }))).map((one) => one.id)).to.deep.equal([id]);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect((await everpost.campaigns.send(id, { scheduledFor: later })).status).to.equal('SCHEDULED');
    expect((await everpost.campaigns.cancel(id)).status).to.equal('CANCELLED');
    expect((await everpost.campaigns.stats(id)).sentCount).to.equal(0);
    expect(await all(everpost.campaigns.recipients(id))).to.deep.equal([]);
    const now = await everpost.campaigns.create({ ...draft, name: 'Now' });
    expect((await everpost.campaigns.send(now.id)).status).to.equal('SENDING');
    expect((await everpost.campaigns.pause(now.id)).paused).to.equal(true);
    expect((await everpost.campaigns.resume(now.id)).paused).to.equal(false);
    expect((await everpost.campaigns.get(now.id)).name).to.equal('Now');
    const unsent = await everpost.campaigns.create({ ...draft, name: 'Never' });
    expect(await everpost.campaigns.test(unsent.id, { email: 'ann@example.com' })).to.deep.equal({ success: true });
    await everpost.campaigns.delete(unsent.id);
    expect(await statusOf(everpost.campaigns.get(unsent.id))).to.equal(404);
  });

  it('keeps templates and renders emails', async () => {
    const { id } = await everpost.templates.create({
      name: 'Hi',
      subject: 'Hi',
      body: '<p>Hi</p>',
      from: from(),
      type: 'TRANSACTIONAL',
    });
    expect((await everpost.templates.update(id, { subject: 'Hello {{name}}' })).subject).to.equal('Hello {{name}}');
    expect((await all(everpost.templates.list())).map((one) => one.id)).to.deep.equal([id]);
    const rendered = await everpost.templates.render({
      subject: 'Hello {{name}}',
      body: '<p>Hi</p>',
      data: { name: 'Ann' },
    });
    expect(rendered.subject).to.equal('Hello Ann');
    expect((await everpost.templates.get(id)).name).to.equal('Hi');
    expect(await everpost.templates.test(id, { email: 'ann@example.com' })).to.deep.equal({ success: true });
    await everpost.templates.delete(id);
    expect(await all(everpost.templates.list())).to.deep.equal([]);
  });

  it('keeps segments and their members', async () => {
    const { id } = await everpost.segments.create({ name: 'VIPs', type: 'STATIC' });
    expect(await everpost.segments.addMembers(id, { emails: ['dora@example.com'] })).to.include({ added: 1 });
    expect((await all(everpost.segments.contacts(id))).map(({ email }) => email)).to.deep.equal(['dora@example.com']);
    expect(await everpost.segments.removeMembers(id, { emails: ['dora@example.com'] })).to.deep.equal({ removed: 1 });
    const condition = {
      logic: 'AND' as const,
      groups: [{ filters: [{ field: 'email', operator: 'startsWith' as const, value: 'dora' }] }],
    };
    expect(await everpost.segments.preview(condition)).to.include({ count: 1 });
    expect((await everpost.segments.update(id, { name: 'Best' })).name).to.equal('Best');
    expect((await everpost.segments.list()).map(({ name }) => name)).to.include('Best');
    expect((await everpost.segments.get(id)).slug).to.equal('vips');
    await everpost.segments.delete(id);
    expect(await statusOf(everpost.segments.get(id))).to.equal(404);
  });

  it('builds, publishes and starts workflows', async () => {
    const { id } = await everpost.workflows.create({ name: 'Welcome', eventName: 'joined' });
    const { revision } = await everpost.workflows.draft(id);
    const wait = { id: randomUUID(), type: 'DELAY' as const, name: 'Wait', config: { amount: 1, unit: 'days' } };
    const graph = { steps: [wait], transitions: [] };
    const saved = await everpost.workflows.saveDraft(id, { graph, expectedRevision: revision });
    const published = await everpost.workflows.publish(id, { expectedRevision: saved.revision, migrate: 'NONE' });
    expect(published.version).to.be.greaterThan(1);
    expect((await everpost.workflows.update(id, { enabled: true })).enabled).to.equal(true);
    expect((await all(everpost.workflows.list())).map((one) => one.id)).to.deep.equal([id]);
    expect((await everpost.workflows.get(id)).steps).to.have.length.greaterThan(0);
    const { id: contactId } = await everpost.contacts.create({ email: 'emil@example.com' });
    expect((await everpost.workflows.simulate(id, { contactId })).status).to.be.a('string');
    const execution = await everpost.workflows.start(id, { contactId });
    expect((await all(everpost.workflows.executions(id))).map((one) => one.id)).to.deep.equal([execution.id]);
    expect((await everpost.workflows.execution(id, execution.id)).contactId).to.equal(contactId);
    expect((await everpost.workflows.cancelExecution(id, execution.id)).status).to.equal('CANCELLED');
    expect((await everpost.workflows.stats(id)).steps).to.be.an('object');
    await everpost.workflows.delete(id);
    expect(await all(everpost.workflows.list())).to.deep.equal([]);
  });

  it('adds and removes domains and suppressions', async () => {
    const { id } = await everpost.domains.create('mail.resources.example');
    expect((await everpost.domains.list(project.id)).map((domain) => domain.id)).to.include(id);
    await everpost.domains.delete(id);
    expect((await everpost.domains.list(project.id)).map((domain) => domain.id)).to.not.include(id);
    expect(await everpost.suppressions.create({ email: 'gone@example.com' })).to.include({ email: 'gone@example.com' });
    expect((await all(everpost.suppressions.list())).map(({ email }) => email)).to.deep.equal(['gone@example.com']);
    await everpost.suppressions.delete('gone@example.com');
    expect(await all(everpost.suppressions.list())).to.deep.equal([]);
  });

  it('keeps webhook endpoints and verifies webhooks', async () => {
    const { id, secret } = await everpost.webhooks.create({ url: 'https://hooks.example.com/in', types: ['email.*'] });
    expect((await everpost.webhooks.update(id, { description: 'CRM' })).description).to.equal('CRM');
    expect((await everpost.webhooks.list()).map((endpoint) => endpoint.id)).to.deep.equal([id]);
    expect((await everpost.webhooks.get(id)).types).to.deep.equal(['email.*']);
    const { deliveryId } = await everpost.webhooks.test(id);
    expect((await all(everpost.webhooks.deliveries(id))).map((delivery) => delivery.id)).to.deep.equal([deliveryId]);
    expect((await everpost.webhooks.delivery(deliveryId)).payload.type).to.equal('webhook.test');
    expect((await everpost.webhooks.replay(deliveryId)).deliveryId).to.be.a('string');
    expect((await everpost.webhooks.rotateSecret(id)).secret).to.not.equal(secret);
    const body = JSON.stringify({ type: 'contact.deleted', timestamp: new Date().toISOString(), data: { id } });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signature = createHmac('sha256', key).update(`msg.${timestamp}.${body}`).digest('base64');
    const headers = { 'webhook-id': 'msg', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
    expect((await everpost.webhooks.verify({ body, headers, secret })).type).to.equal('contact.deleted');
    await everpost.webhooks.delete(id);
    expect(await everpost.webhooks.list()).to.deep.equal([]);
  });

  it('fails before any request without the key that a call needs', async () => {
    const withoutKeys = createClient({ baseUrl: 'http://127.0.0.1:9' });
    const reason = (call: Promise<unknown>) => call.catch((error: Error) => error.message);
    expect(await reason(withoutKeys.emails.get('id'))).to.equal('/emails/{id} needs the secretKey of createClient.');
    expect(await reason(withoutKeys.events.track({ email: 'ann@example.com', event: 'x' }))).to.equal(
      '/v1/track needs the publicKey of createClient.',
    );
  });
});
