import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ResultCounts } from '../services/sending/outcome.ts';
import type { Sender } from '../services/sending/sender.ts';

/** How long one run leases mail. */
const RUN_MS = 5 * 60_000;

export interface EmailActivityDeps {
  sender: Sender;
  /** Aborted when the process shuts down: lease nothing more. */
  stopping: AbortSignal;
  /** Aborted when the grace period of a shutdown is over: cut SMTP connections that have not answered. */
  cut?: AbortSignal;
  runMs?: number;
}

export const emailActivities = ({ sender, stopping, cut, runMs = RUN_MS }: EmailActivityDeps) => ({
  /** Returns what it did, as one line for Temporal's Web UI. */
  async sendMail(): Promise<string> {
    const { cancellationSignal, heartbeat } = Context.current();
    // A cancellation or a lost heartbeat ends leasing and does not cut SMTP.
    const stop = AbortSignal.any([stopping, cancellationSignal]);
    const counts = await sender.run({ durationMs: runMs, stop, cut, heartbeat: (counts) => heartbeat(counts) });
    if (cancellationSignal.aborted) throw cancellationSignal.reason;
    // Another process takes over at once.
    if (stopping.aborted)
      throw ApplicationFailure.create({
        message: 'the worker is shutting down',
        type: 'ShuttingDown',
        nextRetryDelay: 100,
        category: ApplicationFailureCategory.BENIGN,
      });
    return describe(counts);
  },
});

export type EmailActivities = ReturnType<typeof emailActivities>;

const describe = (counts: ResultCounts): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ') || 'no mail was due';
