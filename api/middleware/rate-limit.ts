import { ApiError } from '../../platform/errors.ts';
import type { RateCaller, RateDecision } from '../../services/access/rate-limiter.ts';
import type { AppParts, Context } from '../http/context.ts';

type Limiters = Pick<AppParts, 'limiter' | 'addressLimiter'>;

/** Decides from memory far from the limit; near it the returned promise waits for the database. */
export function limitRate(
  ctx: Context,
  { limiter, addressLimiter }: Limiters,
  projectId: string,
  caller: RateCaller,
): undefined | Promise<void> {
  if (!limiter) return undefined;
  // Checked before the project's limit: one address must not use up the calls of others.
  const byAddress = caller === 'public' ? addressLimiter?.take(ctx.ip) : undefined;
  if (byAddress && !byAddress.allowed) enforce(ctx, byAddress, 'from this address');
  const taken = limiter.take(projectId, caller);
  const finish = (decision: RateDecision) => {
    const tighter = byAddress && decision.allowed && byAddress.remaining < decision.remaining ? byAddress : decision;
    enforce(ctx, tighter, caller === 'session' ? 'by sessions in this project' : "with this project's keys");
  };
  if (taken instanceof Promise) return taken.then(finish);
  finish(taken);
  return undefined;
}

/** Sets the headers first, so that error responses have them too. */
function enforce({ res }: Context, { allowed, limit, remaining, resetSeconds }: RateDecision, whose: string): void {
  res.setHeader('RateLimit-Limit', limit);
  res.setHeader('RateLimit-Remaining', remaining);
  res.setHeader('RateLimit-Reset', resetSeconds);
  if (!allowed)
    throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `More than ${limit} requests in a minute ${whose}.`, {
      suggestion: `Send it again in ${resetSeconds} s.`,
      headers: { 'Retry-After': String(resetSeconds) },
    });
}
