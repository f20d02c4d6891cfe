import { EverpostError } from './errors.ts';

interface StoredMail {
  contact: { id: string };
  email: string;
}

/**
 * Returns the answer of an earlier attempt with the same Idempotency-Key. The API keeps its ids, without addresses; the
 * mails of `/v1/send` are in the order of its recipients.
 */
export function recoveredAnswer(error: Error, path: string, body: unknown): object | undefined {
  if (!(error instanceof EverpostError) || error.code !== 'IDEMPOTENCY_KEY_REUSED') return undefined;
  const { originalRequest, originalRequestAt: timestamp, originalResponse } = error.details;
  if (originalRequest !== `POST ${path}` || typeof originalResponse !== 'object' || !originalResponse) return undefined;
  const { emails, ...ids } = originalResponse as { emails?: StoredMail[] };
  // Only answers under /v1 have an envelope.
  if (!path.startsWith('/v1/')) return { ...ids, timestamp };
  if (!emails) return { success: true, data: { ...ids, timestamp } };
  const addresses = addressesOf(body as { to?: unknown });
  const mails = emails.map(({ contact, email }, index) => ({
    contact: { ...contact, email: addresses[index] ?? '' },
    email,
  }));
  return { success: true, data: { emails: mails, timestamp } };
}

const addressesOf = ({ to }: { to?: unknown }): string[] =>
  (Array.isArray(to) ? to : [to]).map((one: string | { email: string }) => (typeof one === 'string' ? one : one.email));
