import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret } from '../../../platform/crypto/standard-webhooks.ts';
import { type OutboundHttp, outboundHttp } from '../../../platform/http/outbound-http.ts';
import { createResolver } from '../../../platform/http/resolver.ts';
import { callWebhook, outcomeOf, type WebhookRequest } from '../../../services/workflows/webhook-call.ts';
import { type HttpReceiver, startHttpReceiver } from '../../support/http-receiver.ts';

describe('a webhook call', () => {
  let receiver: HttpReceiver;
  let http: OutboundHttp;
  let now: Date;
  const secret = newWebhookSecret();

  before(async () => {
    receiver = await startHttpReceiver();
    http = outboundHttp({ resolver: createResolver({ servers: [] }), allowedHosts: [receiver.host] });
  });
  after(() => receiver.stop());
  beforeEach(() => {
    // The library compares the time of the call with the clock, so it is read per call.
    now = new Date();
    receiver.requests.splice(0);
    receiver.answer({});
  });

  const request = (change: Partial<WebhookRequest> = {}): WebhookRequest => ({
    method: 'POST',
    url: receiver.url,
    headers: { 'Content-Type': 'application/json' },
    body: '{"name":"Änne"}',
    ...change,
  });

  it('has a signature that the official library verifies with the right secret only', async () => {
    await callWebhook(http, { id: 'msg_1', projectId: 'p', secret, now, request: request() });
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.requests;
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).to.deep.equal({ name: 'Änne' });
    const other = new Webhook(newWebhookSecret());
    expect(() => other.verify(body, headers as Record<string, string>)).to.throw();
    expect(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>)).to.throw();
  });

  it('has the same id and a new time on every attempt', async () => {
    for (const minutes of [0, 2])
      await callWebhook(http, {
        projectId: 'p',
        id: 'msg_1',
        secret,
        now: new Date(now.getTime() + minutes * 60_000),
        request: request(),
      });
    const [first, second] = receiver.requests;
    expect(first?.headers['webhook-id']).to.equal(second?.headers['webhook-id']);
    expect(Number(second?.headers['webhook-timestamp']) - Number(first?.headers['webhook-timestamp'])).to.equal(120);
  });

  it('ignores signature headers of the config', async () => {
    await callWebhook(http, {
      id: 'msg_1',
      projectId: 'p',
      secret,
      now,
      request: request({ headers: { 'Webhook-Id': 'forged' } }),
    });
    expect(receiver.requests[0]?.headers['webhook-id']).to.equal('msg_1');
  });

  it('completes with the response on any 2xx', async () => {
    receiver.answer({ status: 202, body: 'thanks\0' });
    expect(await callWebhook(http, { id: '1', projectId: 'p', secret, now, request: request() })).to.deep.equal({
      kind: 'completed',
      output: { status: 202, body: 'thanks', truncated: false },
    });
  });

  it('keeps only the beginning of a long response', async () => {
    receiver.answer({ body: 'x'.repeat(2_000_000) });
    const outcome = await callWebhook(http, { id: '1', projectId: 'p', secret, now, request: request() });
    expect(outcome).to.have.nested.property('output.truncated', true);
    expect(outcome).to.have.nested.property('output.body').with.length(16_384);
  });

  it('is retried after 408, 429, 5xx and when there is no response', async () => {
    for (const status of [408, 429, 500, 502, 503]) {
      receiver.answer({ status });
      const outcome = await callWebhook(http, { id: '1', projectId: 'p', secret, now, request: request() });
      expect(outcome, String(status)).to.have.property('kind', 'retry');
      expect(outcome).to.have.nested.property('output.status', status);
    }
    receiver.answer({ instead: 'drop' });
    expect(await callWebhook(http, { id: '1', projectId: 'p', secret, now, request: request() })).to.include({
      kind: 'retry',
    });
  });

  it('fails finally on any other 4xx, a redirect without target and a forbidden address', async () => {
    for (const status of [400, 401, 404, 410, 304]) {
      receiver.answer({ status });
      const outcome = await callWebhook(http, { id: '1', projectId: 'p', secret, now, request: request() });
      expect(outcome, String(status)).to.have.property('kind', 'failed');
    }
    const inside = request({ url: 'http://127.0.0.1:1/' });
    const outcome = await callWebhook(http, { id: '1', projectId: 'p', secret, now, request: inside });
    expect(outcome).to.include({ kind: 'failed' }).and.to.have.property('reason').that.includes('127.0.0.1');
  });

  it('honours Retry-After in seconds or as a date, up to a day', () => {
    const waiting = (value: string) =>
      outcomeOf({ kind: 'answered', status: 503, headers: { 'retry-after': value }, body: '', cut: false }, now);
    const soon = new Date(Math.ceil(now.getTime() / 1000) * 1000 + 60_000);
    expect(waiting('120')).to.include({ retryAfterMs: 120_000 });
    expect(waiting(soon.toUTCString())).to.include({ retryAfterMs: soon.getTime() - now.getTime() });
    expect(waiting('99999999')).to.include({ retryAfterMs: 86_400_000 });
    for (const value of ['soon', '-5', '0', new Date(0).toUTCString()])
      expect(waiting(value), value).to.not.have.property('retryAfterMs');
  });
});
