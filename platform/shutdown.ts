import type { Logger } from './logger.ts';

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

type Signal = 'SIGTERM' | 'SIGINT';
const SIGNALS: Signal[] = ['SIGTERM', 'SIGINT'];

/** Exits on an error that no code catches. */
export function exitOnFault(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (err: unknown) => {
      log.fatal({ err }, event);
      process.exit(1);
    });
}

export function shutdownSignal(): Promise<Signal> {
  return new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve(signal));
  });
}

/** Exits on a second signal, or when the shutdown takes longer. Leases and Temporal recover interrupted work. */
export function exitAt(exitMs: number, log: Logger): void {
  const exit = (reason: string) => {
    log.error(reason);
    process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, () => exit('second signal: exiting at once'));
  setTimeout(() => exit('shutdown timed out: exiting'), exitMs).unref();
}
