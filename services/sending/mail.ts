// The mail of a sender, on its way from the lease to the result.
import type { AttemptResult } from '../emails/attempts.ts';
import type { Attempt } from './outcome.ts';
import type { SendingPolicy } from './policy.ts';
import type { PreparedMail } from './prepare.ts';

/** A leased mail. */
export interface LeasedMail {
  id: string;
  policy: SendingPolicy;
  projectId: string;
  /** Null for mail that belongs to no campaign. */
  campaignId: string | null;
  /** The only relay that may have it: after an unknown outcome another relay could deliver it twice. */
  relay: string | undefined;
}

/** A mail that waits for a connection. */
export interface QueuedMail extends LeasedMail {
  prepared: PreparedMail;
  /** The recipient's, for limits per domain. */
  domain: string;
}

/** An attempt that has ended. */
export interface EndedAttempt {
  mail: QueuedMail;
  attempt: Attempt;
  result: AttemptResult;
}
