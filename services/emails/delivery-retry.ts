const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Over three days in all: longer than a mail server is away over a weekend. */
const WAITS = [
  ...[1 * MINUTE, 5 * MINUTE, 15 * MINUTE],
  ...[1 * HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR],
  ...[12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR],
];

/** Seconds until a mail that was put off at its `attempts`-th attempt is tried again; undefined: never. */
export const retryAfter = (attempts: number): number | undefined => WAITS[Math.max(attempts, 1) - 1];
