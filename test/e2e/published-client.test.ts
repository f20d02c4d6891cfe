// Runs the published npm client against an API process. A client has one key, so there is one for tracking and one for
// sending.
import { createRequire } from 'node:module';
import type plunk from '@plunk/node';
import { expect } from 'chai';
import { type ApiProject, createProjectWithClients } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type ServiceProcess, startApi } from '../support/processes.ts';

// Loaded with `require`, because ES module loaders differ in how they treat the default export of CommonJS.
const { default: Plunk } = createRequire(import.meta.url)('@plunk/node') as typeof plunk;

describe('@plunk/node', () => {
  let database: ConnectedDatabase;
  let api: ServiceProcess;
  let project: ApiProject;
  let tracking: InstanceType<typeof Plunk>;
  let sending: InstanceType<typeof Plunk>;

  before(async () => {
    database = await connectTestDatabase();
    api = await startApi({ DATABASE_URL: database.url });
    project = await createProjectWithClients(database.db, api.url);
    const options = { baseUrl: `${api.url}/v1/` };
    tracking = new Plunk(project.publicKey, options);
    sending = new Plunk(project.secretKey, options);
  });
  after(async () => {
    await api?.kill();
    await database?.close();
  });

  it('tracks events with persistent and non-persistent data', async () => {
    const answer = await tracking.events.track({
      event: 'signup',
      email: 'Ann@Example.com ',
      data: { plan: 'pro', code: { value: '4711', persistent: false } },
    });
    expect(answer).to.have.property('success', true);
    const { body } = await project.server.get('/events');
    expect(body.total).to.equal(1);
    expect(body.data[0]).to.deep.include({ name: 'signup', data: { plan: 'pro', code: '4711' } });
    const contact = await project.server.get(`/contacts/${body.data[0].contactId}`);
    expect(contact.body).to.deep.include({ email: 'ann@example.com', subscribed: true, data: { plan: 'pro' } });
  });

  it('unsubscribes a contact by an event', async () => {
    await tracking.events.track({ event: 'goodbye', email: 'ann@example.com', subscribed: false });
    const { body } = await project.server.get('/events?limit=2');
    expect(body.data.map(({ name }: { name: string }) => name)).to.deep.equal(['goodbye', 'contact.unsubscribed']);
  });

  it('sends mail to one and to several recipients', async () => {
    const mail = { subject: 'Hello', body: '<p>Hello</p>', from: `shop@${project.senderDomain}`, name: 'The Shop' };
    expect(await sending.emails.send({ ...mail, to: 'bob@example.com' })).to.have.property('success', true);
    await sending.emails.send({ ...mail, to: ['eve@example.com', 'dan@example.com'], type: 'html' });
    const { body } = await project.server.get('/emails');
    const addresses = body.data.map(({ to }: { to: string }) => to).sort();
    expect(addresses).to.deep.equal(['bob@example.com', 'dan@example.com', 'eve@example.com']);
  });

  it('throws for a wrong key and for a reserved event name', async () => {
    const failure = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: Error) => error,
      );
    const wrongKey = await failure(sending.events.track({ event: 'signup', email: 'ann@example.com' }));
    expect(wrongKey?.constructor.name).to.equal('TokenError');
    const mail = { to: 'a@example.com', subject: 'Hi', body: '<p>Hi</p>' };
    expect((await failure(tracking.emails.send(mail)))?.constructor.name).to.equal('TokenError');
    expect(await failure(tracking.events.track({ event: 'email.sent', email: 'ann@example.com' }))).to.be.instanceOf(
      Error,
    );
  });
});
