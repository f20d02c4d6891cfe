import Stripe from 'stripe';
import { ApiError } from '../errors.ts';
import type { StripeSettings } from '../settings.ts';

const TIMEOUT_MS = 15_000;

/** Returns undefined when billing is off. */
export function createStripe(settings: StripeSettings | undefined): Stripe | undefined {
  if (!settings) return undefined;
  const apiUrl = settings.apiBase ? new URL(settings.apiBase) : undefined;
  return new Stripe(settings.secretKey, {
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
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', `The billing provider answered: ${error.message}`, {
      suggestion: 'Try again in a while; if it stays, ask the operator.',
    });
  }
}
