import { ApiError } from '../../platform/errors.ts';
import type { RateCaller, RateVerdict } from '../../services/access/rate-limiter.ts';
import type { AppParts, Context } from '../http/context.ts';

type Limiters = Pick<AppParts, 'limiter' | 'addressLimiter'>;

/** Decides from memory far from the limit; only near it the returned promise waits for the database. */
export function limitRate(
  ctx: Context,
  { limiter, addressLimiter }: Limiters,
  projectId: string,
  caller: RateCaller,
): undefined | Promise<void> {
  if (!limiter) return undefined;
  // Before the project's limit: what one address sends too much must not use up the calls of the others.
  const byAddress = caller === 'public' ? addressLimiter?.take(ctx.ip) : undefined;
  if (byAddress && !byAddress.allowed) enforce(ctx, byAddress, 'from this address');
  const taken = limiter.take(projectId, caller);
  const finish = (verdict: RateVerdict) => {
    const tighter = byAddress && verdict.allowed && byAddress.remaining < verdict.remaining ? byAddress : verdict;
    enforce(ctx, tighter, caller === 'session' ? 'by sessions in this project' : "with this project's keys");
  };
  if (taken instanceof Promise) return taken.then(finish);
  finish(taken);
  return undefined;
}

/** Sets its headers first, so that every answer from here on carries them, an error too. */
function enforce({ res }: Context, { allowed, limit, remaining, resetSeconds }: RateVerdict, whose: string): void {
  res.setHeader('RateLimit-Limit', limit);
  res.setHeader('RateLimit-Remaining', remaining);
  res.setHeader('RateLimit-Reset', resetSeconds);
  if (!allowed)
    throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `More than ${limit} requests in a minute ${whose}.`, {
      suggestion: `Send it again in ${resetSeconds} s.`,
      headers: { 'Retry-After': String(resetSeconds) },
    });
}
