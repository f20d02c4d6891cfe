import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { readMails } from '../support/reading.ts';

describeApi('the header Idempotency-Key', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const track = (key: string) =>
    project.browser.post('/v1/track', { email: 'ann@example.com', event: 'e' }, { 'idempotency-key': key });
  const send = (key: string) =>
    project.server.post(
      '/v1/send',
      { to: 'ann@example.com', from: `hi@${project.senderDomain}`, subject: 'Hi', body: 'Hi' },
      { 'idempotency-key': key },
    );

  it('answers 409 to a repeated send, with the ids of the first one', async () => {
    const first = await send('order-1');
    expect(first).to.have.status(200);
    const second = await send('order-1');
    expect(second).to.have.status(409);
    const { code, details } = second.body.error;
    expect(code).to.equal('IDEMPOTENCY_KEY_REUSED');
    expect(details).to.deep.include({ key: 'order-1', originalRequest: 'POST /v1/send', originalStatusCode: 200 });
    const [{ contact, email }] = first.body.data.emails;
    expect(details.originalResponse.emails).to.deep.equal([{ contact: { id: contact.id }, email }]);
    expect(new Date(details.originalRequestAt).toISOString()).to.equal(details.originalRequestAt);
    expect(await readMails(project)).to.have.lengthOf(1);
  });

  it('stores ids and no address, which would outlive its contact', async () => {
    expect(await send('order-2')).to.have.status(200);
    const [kept] = await api.db('idempotencyKeys').where({ projectId: project.id, key: 'order-2' });
    expect(JSON.stringify(kept)).to.contain('emails').and.not.contain('ann@example.com');
  });

  it('is scoped to the project and not to the route, but shows ids to callers of the same route only', async () => {
    const pairs = [
      { key: 'tracked', first: track, second: send, originalRequest: 'POST /v1/track' },
      { key: 'sent', first: send, second: track, originalRequest: 'POST /v1/send' },
    ];
    for (const { key, first, second, originalRequest } of pairs) {
      expect(await first(key)).to.have.status(200);
      const answer = await second(key);
      expect(answer).to.be.envelope(409, 'IDEMPOTENCY_KEY_REUSED');
      const { details } = answer.body.error;
      expect(details).to.include({ key, originalRequest, originalStatusCode: 200, originalResponse: null });
    }
  });

  it('answers 409 to a repeated track, which counts once', async () => {
    const first = await track('visit-1');
    expect(first).to.have.status(200);
    const second = await track('visit-1');
    expect(second).to.be.envelope(409, 'IDEMPOTENCY_KEY_REUSED');
    expect(second.body.error.details).to.include({ key: 'visit-1', originalRequest: 'POST /v1/track' });
  });

  it('can be reused after a rejected request', async () => {
    const refused = await project.browser.post('/v1/track', { email: 'no' }, { 'idempotency-key': 'free' });
    expect(refused).to.have.status(422);
    expect(await track('free')).to.have.status(200);
  });

  it('is rejected when it is empty or too long', async () => {
    expect(await track('')).to.have.status(400);
    expect(await track('k'.repeat(256))).to.have.status(400);
  });
});
