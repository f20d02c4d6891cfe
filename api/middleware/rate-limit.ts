import { ApiError } from '../../platform/errors.ts';
import type { RateLimiter, RateVerdict } from '../../services/projects/rate-limiter.ts';
import type { Context } from '../http/context.ts';

/** Far from the limit it is settled from memory, and nobody waits. */
export function limitRate(ctx: Context, limiter: RateLimiter, projectId: string): undefined | Promise<void> {
  const taken = limiter.take(projectId);
  if (taken instanceof Promise) return taken.then((verdict) => enforce(ctx, verdict));
  enforce(ctx, taken);
  return undefined;
}

/** Sets its headers first, so that every answer from here on carries them, an error too. */
function enforce({ res }: Context, { allowed, limit, remaining, resetSeconds }: RateVerdict): void {
  res.setHeader('RateLimit-Limit', limit);
  res.setHeader('RateLimit-Remaining', remaining);
  res.setHeader('RateLimit-Reset', resetSeconds);
  if (!allowed)
    throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `More than ${limit} requests in a minute by this project.`, {
      suggestion: `Send it again in ${resetSeconds} s.`,
      headers: { 'Retry-After': String(resetSeconds) },
    });
}
