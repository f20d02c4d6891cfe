import { ApiError } from '../../platform/errors.ts';
import type { RateLimiter } from '../../services/projects/rate-limiter.ts';
import type { Context } from '../http/context.ts';

/** Sets its headers first, so that every answer from here on carries them, an error too. */
export async function limitRate(ctx: Context, limiter: RateLimiter, projectId: string): Promise<void> {
  const taken = limiter.take(projectId);
  const { allowed, limit, remaining, resetSeconds } = taken instanceof Promise ? await taken : taken;
  const { res } = ctx;
  res.setHeader('RateLimit-Limit', limit);
  res.setHeader('RateLimit-Remaining', remaining);
  res.setHeader('RateLimit-Reset', resetSeconds);
  if (!allowed)
    throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `More than ${limit} requests in a minute by this project.`, {
      suggestion: `Send it again in ${resetSeconds} s.`,
      headers: { 'Retry-After': String(resetSeconds) },
    });
}
