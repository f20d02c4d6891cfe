const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** A day and an hour in all. */
const WAITS = [
  ...[1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 40 * MINUTE],
  ...[1 * HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 9 * HOUR],
];
/** By so much a wait is shorter or longer: what was put off together does not come again together. */
const JITTER = 0.2;

/**
 * Returns the seconds until the next attempt of a mail that was deferred `attempts` times, or undefined to give up.
 * `chance`, between 0 and 1, sets the jitter.
 */
export function retryAfter(attempts: number, chance = Math.random()): number | undefined {
  const wait = WAITS[Math.max(attempts, 1) - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + chance * 2 * JITTER));
}
