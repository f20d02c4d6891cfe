import type Stripe from 'stripe';
import { ApiError } from '../errors.ts';
import type { StripeSettings } from '../settings.ts';

const TIMEOUT_MS = 15_000;

/** Loads the package of Stripe, of two hundred files, only where billing is on. */
const load = async (): Promise<typeof Stripe> => (await import('stripe')).default;

/** Returns undefined when billing is off. */
export async function createStripe(settings: StripeSettings | undefined): Promise<Stripe | undefined> {
  if (!settings) return undefined;
  const Client = await load();
  const apiUrl = settings.apiBase ? new URL(settings.apiBase) : undefined;
  return new Client(settings.secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 2,
    telemetry: false,
    appInfo: { name: 'Everpost' },
    ...(apiUrl && {
      host: apiUrl.hostname,
      protocol: apiUrl.protocol === 'http:' ? 'http' : 'https',
      ...(apiUrl.port && { port: apiUrl.port }),
    }),
  });
}

/** Answers errors of Stripe with a 502, because the API client did not cause them. */
export async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { errors } = await load();
    if (!(error instanceof errors.StripeError)) throw error;
    throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', `The billing provider returned an error: ${error.message}`, {
      suggestion: 'Try again later. If the problem persists, contact the operator.',
    });
  }
}

/** Stripe has an event with this identifier: an earlier attempt succeeded. */
export async function isRepeated(error: unknown): Promise<boolean> {
  const { errors } = await load();
  return error instanceof errors.StripeInvalidRequestError && /already exists/i.test(error.message);
}
