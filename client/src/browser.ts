// For web pages: records events with the public key. Imports nothing, so that its build stays below 2 kB.

export interface TrackerOptions {
  /** The address of the API, such as `https://mail.example.com`. */
  baseUrl: string;
  /** The public key of the project (`pk_...`). */
  publicKey: string;
  /** How often a failed call is repeated; 3 by default. */
  maxRetries?: number;
  /** The pause before the first repetition, doubled each time; 1,000 by default. */
  retryDelayMs?: number;
}

export interface TrackedEvent {
  email: string;
  event: string;
  /** Stored on the contact, except values such as `{ value: 3, persistent: false }`. */
  data?: Record<string, unknown>;
  subscribed?: boolean;
}

/** In UTF-16 units, of which each has at most three bytes. */
const KEEPALIVE_MAX = 20_000;

/**
 * Creates a function that records an event. It resolves to true once the event is recorded, also when the answer to an
 * earlier attempt was lost, and to false when the API refuses it or cannot be reached. It never throws: a page must not
 * fail because of it.
 */
export function createTracker({ baseUrl, publicKey, maxRetries = 3, retryDelayMs = 1000 }: TrackerOptions) {
  return async (event: TrackedEvent): Promise<boolean> => {
    // `crypto.randomUUID` is missing on pages without https.
    const key = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16)).join('-');
    const body = JSON.stringify(event);
    for (let number = 0; ; number++) {
      try {
        const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/v1/track`, {
          method: 'POST',
          headers: {
            Authorization: `Bearer ${publicKey}`,
            'Content-Type': 'application/json',
            'Idempotency-Key': key,
          },
          body,
          // The call goes on when the visitor leaves the page. Browsers refuse it for bodies above 64 kB.
          keepalive: body.length < KEEPALIVE_MAX,
        });
        const { ok, status } = response;
        if (ok) return true;
        if (status === 409 && number > 0) {
          const { error } = (await response.json()) as { error: { details: { originalRequest: string | null } } };
          // Null while the earlier attempt is still being worked on.
          if (error.details.originalRequest) return true;
        } else if (status !== 429 && status < 500) return false;
      } catch {
        // No answer.
      }
      if (number >= maxRetries) return false;
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs * 2 ** number));
    }
  };
}
