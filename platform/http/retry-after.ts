const MAX_MS = 24 * 60 * 60 * 1000;

/** Reads `Retry-After`: seconds or a date (RFC 9110, 10.2.3). At most a day, so that no receiver delays a call for ever. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  if (!header) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_MS) : undefined;
}
