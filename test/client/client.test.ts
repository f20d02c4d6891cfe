import { expect } from 'chai';
import { createTracker } from '../../client/src/browser.ts';
import {
  createClient,
  type EverpostClient,
  EverpostConnectionError,
  EverpostError,
  isEverpostError,
  items,
  pages,
} from '../../client/src/index.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { startUnreliableHttp, type UnreliableHttp } from '../support/unreliable-http.ts';

describeApi('the TypeScript client', (api) => {
  let network: UnreliableHttp;
  let project: ApiProject;
  let everpost: EverpostClient;

  before(async () => {
    network = await startUnreliableHttp(api.url);
  });
  after(() => network?.stop());
  beforeEach(async () => {
    project = await api.project();
    const { secretKey, publicKey } = project;
    everpost = createClient({ baseUrl: `${network.url}/`, secretKey, publicKey, retryDelayMs: 1 });
    network.faults.splice(0);
    network.requests.splice(0);
  });

  const mail = () => ({
    to: ['ann@example.com', { email: 'bob@example.com', name: 'Bob' }],
    from: `shop@${project.senderDomain}`,
    subject: 'Hello',
    body: '<p>Hello</p>',
  });
  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => expect.fail('the call succeeded'),
      (error: unknown) => error,
    );

  for (const executionId of ['', '.', '..'])
    it(`refuses the path parameter "${executionId}" without a request`, async () => {
      const { body: workflow } = await project.server.post('/workflows', { name: 'w', eventName: 'x' });
      const path = { id: workflow.id, executionId };
      const call = async () => everpost.delete('/workflows/{id}/executions/{executionId}', { path });
      expect(await failure(call())).to.be.instanceOf(TypeError);
      expect(network.requests).to.have.lengthOf(0);
      expect(await project.server.get(`/workflows/${workflow.id}`)).to.have.status(200);
    });

  it('sends an encoded path parameter as it is', async () => {
    const error = await failure(everpost.get('/contacts/{id}', { path: { id: '%2e%2e' } }));
    expect(error).to.include({ status: 404, code: 'CONTACT_NOT_FOUND' });
    expect(network.requests[0]?.path).to.equal('/contacts/%252e%252e');
  });

  it('sends a mail once and returns its ids when the first answer is lost', async () => {
    network.faults.push('lose');
    const { data } = await everpost.post('/v1/send', { body: mail() });
    const keys = network.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).to.have.lengthOf(2);
    expect(keys[0]).to.be.a('string').and.equal(keys[1]);
    const stored = await items(everpost, '/emails');
    const ids: string[] = [];
    for await (const { id } of stored) ids.push(id);
    expect(ids).to.have.members(data.emails.map(({ email }) => email));
    expect(data.emails.map(({ contact }) => contact.email)).to.deep.equal(['ann@example.com', 'bob@example.com']);
    expect(new Date(data.timestamp).toISOString()).to.equal(data.timestamp);
  });

  it('records an event once with the public key when the first answer is lost', async () => {
    network.faults.push('lose', 503);
    const { data } = await everpost.post('/v1/track', { body: { email: 'ann@example.com', event: 'bought' } });
    const { body } = await project.server.get('/events');
    expect(body.data).to.have.lengthOf(1);
    expect(body.data[0]).to.include({ id: data.event, name: 'bought' });
  });

  it('recovers the lost answer of POST /events/track, which has no envelope', async () => {
    network.faults.push('lose');
    const recovered = await everpost.post('/events/track', { body: { email: 'ann@example.com', event: 'bought' } });
    const { body } = await project.server.get('/events');
    expect(body.data).to.have.lengthOf(1);
    expect(recovered).to.include({ event: body.data[0].id, contact: body.data[0].contactId });
    expect(recovered).to.have.all.keys('contact', 'event', 'timestamp');
  });

  it('refuses a key of the caller that was used before', async () => {
    await everpost.post('/v1/send', { body: mail(), idempotencyKey: 'order-17' });
    const error = await failure(everpost.post('/v1/send', { body: mail(), idempotencyKey: 'order-17' }));
    expect(isEverpostError(error, 'IDEMPOTENCY_KEY_REUSED')).to.equal(true);
  });

  it('does not repeat a change without an idempotency key whose answer is lost', async () => {
    network.faults.push('lose');
    const error = await failure(everpost.post('/contacts', { body: { email: 'ann@example.com' } }));
    expect(error).to.be.instanceOf(EverpostConnectionError);
    expect(network.requests).to.have.lengthOf(1);
  });

  it('repeats any call that was refused with 429', async () => {
    network.faults.push(429, 429);
    const { email } = await everpost.post('/contacts', { body: { email: 'ann@example.com' } });
    expect(email).to.equal('ann@example.com');
    expect(network.requests).to.have.lengthOf(3);
  });

  it('repeats a GET that failed, up to the limit', async () => {
    network.faults.push('lose', 503);
    expect((await everpost.get('/contacts')).data).to.deep.equal([]);
    network.faults.push(503, 503, 503, 503);
    const error = await failure(everpost.get('/contacts'));
    expect(error).to.be.instanceOf(EverpostError).and.include({ status: 503 });
  });

  it('stops between attempts when the caller aborts', async () => {
    network.faults.push(503);
    const abort = new AbortController();
    const patient = createClient({
      baseUrl: network.url,
      secretKey: project.secretKey,
      retryDelayMs: 60_000,
      fetch: async (...given) => {
        const { status } = await fetch(...given);
        // Runs when the client has seen the answer and pauses.
        setImmediate(() => abort.abort(new Error('enough')));
        return new Response(null, { status });
      },
    });
    expect(await failure(patient.get('/contacts', { signal: abort.signal }))).to.include({ message: 'enough' });
    expect(network.requests).to.have.lengthOf(1);
  });

  it('throws the code, the request id and the broken rules of a refused call', async () => {
    const error = await failure(everpost.post('/v1/send', { body: { ...mail(), to: 'nobody' } }));
    expect(isEverpostError(error, 'VALIDATION_ERROR')).to.equal(true);
    const { status, errors, requestId } = error as EverpostError;
    expect(status).to.equal(422);
    expect(errors.map(({ field }) => field)).to.deep.equal(['to']);
    expect(requestId).to.be.a('string');
  });

  it('throws the text of a plain error', async () => {
    const error = await failure(everpost.post('/contacts', { body: { email: 'nobody' } }));
    expect(error).to.be.instanceOf(EverpostError).and.include({ status: 400, code: undefined });
    expect((error as EverpostError).message).to.match(/email/);
  });

  it('fills in path parameters and returns nothing for 204', async () => {
    const { id } = await everpost.post('/contacts', { body: { email: 'ann@example.com' } });
    expect(await everpost.get('/contacts/{id}', { path: { id } })).to.include({ email: 'ann@example.com' });
    expect(await everpost.delete('/contacts/{id}', { path: { id } })).to.equal(undefined);
    const error = await failure(everpost.get('/contacts/{id}', { path: { id } }));
    expect(isEverpostError(error, 'CONTACT_NOT_FOUND')).to.equal(true);
  });

  it('names the key that is missing', async () => {
    const withoutKeys = createClient({ baseUrl: network.url });
    expect(await failure(withoutKeys.get('/contacts'))).to.match(/secretKey/);
    const event = { body: { email: 'ann@example.com', event: 'bought' } };
    expect(await failure(withoutKeys.post('/v1/track', event))).to.match(/publicKey/);
  });

  it('iterates over a list with cursors', async () => {
    const emails = Array.from({ length: 5 }, (_, index) => `c${index}@example.com`);
    for (const email of emails) await everpost.post('/contacts', { body: { email } });
    const found: string[] = [];
    for await (const { email } of items(everpost, '/contacts', { query: { limit: 2 } })) found.push(email);
    expect(found).to.have.members(emails).and.have.lengthOf(5);
    const sizes: number[] = [];
    for await (const { data } of pages(everpost, '/contacts', { query: { limit: 2 } })) sizes.push(data.length);
    expect(sizes).to.deep.equal([2, 2, 1]);
  });

  it('iterates over a list with page numbers', async () => {
    const names = ['One', 'Two', 'Three'];
    for (const name of names)
      await everpost.post('/templates', { body: { name, subject: 'Hi', body: '<p>Hi</p>', type: 'TRANSACTIONAL' } });
    const found: string[] = [];
    for await (const { name } of items(everpost, '/templates', { query: { pageSize: 2 } })) found.push(name);
    expect(found).to.have.members(names).and.have.lengthOf(3);
  });

  describe('in a browser', () => {
    const trackWith = (publicKey: string) => createTracker({ baseUrl: network.url, publicKey, retryDelayMs: 1 });

    it('records an event once when the first answer is lost', async () => {
      network.faults.push('lose', 503);
      const done = await trackWith(project.publicKey)({
        email: 'ann@example.com',
        event: 'seen',
        data: { plan: 'pro' },
      });
      expect(done).to.equal(true);
      expect((await project.server.get('/events')).body.data).to.have.lengthOf(1);
    });

    it('resolves to false when the API refuses the event or stays away', async () => {
      expect(await trackWith('pk_unknown')({ email: 'ann@example.com', event: 'seen' })).to.equal(false);
      expect(network.requests).to.have.lengthOf(1);
      network.faults.push(503, 503, 503, 503);
      expect(await trackWith(project.publicKey)({ email: 'ann@example.com', event: 'seen' })).to.equal(false);
    });
  });
});
