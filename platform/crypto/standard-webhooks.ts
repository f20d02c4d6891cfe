import { createHmac, createSecretKey, randomBytes } from 'node:crypto';

// Signs webhooks as specified by https://www.standardwebhooks.com, for which receivers find libraries in many languages.

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export interface SignedMessage {
  /** The same for every attempt, so that receivers can detect a repetition. */
  id: string;
  sentAt: Date;
  body: string;
}

export type SignatureHeaders = Record<(typeof SIGNATURE_HEADERS)[number], string>;

export const SIGNATURE_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** Several secrets sign side by side while one replaces another: a receiver accepts any signature that it can verify. */
export const signatureHeaders = (secrets: string | string[], message: SignedMessage): SignatureHeaders =>
  createSigner([secrets].flat())(message);

/** As `signatureHeaders`, for many messages. */
export function createSigner(secrets: string[]): (message: SignedMessage) => SignatureHeaders {
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64')));
  return ({ id, sentAt, body }) => {
    const timestamp = String(Math.floor(sentAt.getTime() / 1000));
    const signed = `${id}.${timestamp}.${body}`;
    const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
  };
}
