/** The parts of a shutdown, in milliseconds after the signal. */
export interface ShutdownTimes {
  /** Until then SMTP servers may answer and open requests may end. */
  waitMs: number;
  /** Until then results are written and activities end. */
  forceMs: number;
  /** The process exits, whatever it still does. */
  exitMs: number;
}

/** Divides the time between SIGTERM and SIGKILL (`SHUTDOWN_GRACE_SECONDS`): the last ten seconds are for writing results. */
export function shutdownTimes(graceSeconds: number): ShutdownTimes {
  const graceMs = graceSeconds * 1_000;
  const reserveMs = Math.min(10_000, graceMs / 3);
  return { waitMs: graceMs - reserveMs, forceMs: graceMs - reserveMs / 2, exitMs: graceMs - reserveMs / 5 };
}
