import type { WebhookEvent } from './types.ts';

/** The request was not made by Everpost, or is too old. Answer it with 400. */
export class WebhookVerificationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
  }
}

export interface WebhookRequest {
  /** The body as it was received. Parsing it and writing it again breaks the signature. */
  body: string;
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The secret of the endpoint (`whsec_...`). */
  secret: string;
  /** How far the time of the request may be from now; 300 by default. */
  toleranceSeconds?: number;
}

/** Verifies the signature of a webhook (https://www.standardwebhooks.com) and returns its event. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds = 300 } = request;
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError('A header of the signature is missing.');
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds)) throw new WebhookVerificationError('The time of the webhook is too far from now.');
  const key = await crypto.subtle.importKey(
    'raw',
    bytesOf(secret.replace(/^whsec_/, '')),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  // Several signatures while one secret replaces another.
  for (const signature of signatures.split(' ')) {
    const [version, value = ''] = signature.split(',');
    if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, bytesOf(value), signed))) return JSON.parse(body);
  }
  throw new WebhookVerificationError('The signature does not match the secret and the body.');
}

function headerOf(headers: WebhookRequest['headers'], name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? undefined;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    throw new WebhookVerificationError('The secret or the signature is not base64.');
  }
}
