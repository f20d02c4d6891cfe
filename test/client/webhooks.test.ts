import { expect } from 'chai';
import { verifyWebhook, WebhookVerificationError } from '../../client/src/index.ts';
import { newWebhookSecret, signatureHeaders } from '../../platform/crypto/standard-webhooks.ts';

const event = { type: 'contact.deleted', timestamp: '2026-11-15T12:00:00.000Z', data: { id: 'a contact' } };
const body = JSON.stringify(event);

describe('verifyWebhook', () => {
  const secret = newWebhookSecret();
  const other = newWebhookSecret();
  const sign = (secrets: string | string[], sentAt = new Date()) => ({
    ...signatureHeaders(secrets, { id: 'msg_1', sentAt, body }),
  });
  const refusal = (request: Parameters<typeof verifyWebhook>[0]): Promise<unknown> =>
    verifyWebhook(request).then(
      () => expect.fail('it was accepted'),
      (error: unknown) => error,
    );

  it('returns the event of a signed request', async () => {
    const verified = await verifyWebhook({ body, headers: sign(secret), secret });
    expect(verified).to.deep.equal(event);
    if (verified.type === 'contact.deleted') expect(verified.data.id).to.equal('a contact');
    expect(await verifyWebhook({ body, headers: new Headers(sign(secret)), secret })).to.deep.equal(event);
  });

  it('accepts either secret during a rotation', async () => {
    for (const one of [secret, other])
      expect(await verifyWebhook({ body, headers: sign([secret, other]), secret: one })).to.deep.equal(event);
  });

  it('rejects another secret, a changed body, a missing header and garbage', async () => {
    for (const request of [
      { body, headers: sign(other), secret },
      { body: body.replace('a contact', 'b contact'), headers: sign(secret), secret },
      { body, headers: { ...sign(secret), 'webhook-id': undefined }, secret },
      { body, headers: { ...sign(secret), 'webhook-signature': 'v1,%%%' }, secret },
      { body, headers: { ...sign(secret), 'webhook-timestamp': 'now' }, secret },
    ])
      expect(await refusal(request)).to.be.instanceOf(WebhookVerificationError);
  });

  it('rejects a request of six minutes ago, unless a longer tolerance is given', async () => {
    const headers = sign(secret, new Date(Date.now() - 360_000));
    expect(await refusal({ body, headers, secret })).to.be.instanceOf(WebhookVerificationError);
    expect(await verifyWebhook({ body, headers, secret, toleranceSeconds: 600 })).to.deep.equal(event);
  });
});
