import type { Email } from '../../db/models/email.ts';
import type { SendOutcome } from '../../platform/smtp/mailer.ts';
import { retryAfter } from './delivery-retry.ts';

/** A mail in flight; `attempts` includes the current attempt. */
export type MailInFlight = Pick<Email, 'id' | 'sourceType' | 'attempts' | 'unknownOutcomes'>;

/** The changes that the result of an attempt makes to the ledger row. */
export interface Settlement {
  status: 'SENT' | 'FAILED' | 'PENDING' | 'UNKNOWN';
  reason: string | null;
  /** The attempt does not count. */
  attemptNotCounted?: boolean;
  /** The attempt ended with an unknown outcome. */
  unknown?: boolean;
  /** It was deferred too often. */
  gaveUp?: boolean;
  /** Leaves its batch and is batched again after this many seconds. Otherwise it is retried in the same batch. */
  retryAfterSeconds?: number;
  providerMessageId?: string | undefined;
  /** The reply of the relay, where it is not the reason. */
  answer?: string;
}

/** Maps the outcome of an attempt to the changes of the ledger row. Pure, and the only place with these rules. */
export function settle(mail: MailInFlight, outcome: SendOutcome): Settlement {
  switch (outcome.kind) {
    case 'sent':
      return {
        status: 'SENT',
        reason: null,
        providerMessageId: outcome.providerMessageId,
        ...(outcome.answer && { answer: outcome.answer }),
      };
    case 'refused':
      return { status: 'FAILED', reason: outcome.reason };
    case 'unreachable':
      return { status: 'PENDING', reason: outcome.reason, attemptNotCounted: true };
    case 'deferred': {
      const retryAfterSeconds = retryAfter(mail.attempts);
      if (retryAfterSeconds !== undefined) return { status: 'PENDING', reason: outcome.reason, retryAfterSeconds };
      return { status: 'FAILED', reason: `gave up after ${mail.attempts} attempts: ${outcome.reason}`, gaveUp: true };
    }
    case 'unknown': {
      // A lost receipt is worse than a second copy; of a campaign it is the other way round.
      const oncemore = mail.sourceType !== 'CAMPAIGN' && mail.unknownOutcomes === 0;
      const reason = `the outcome of attempt ${mail.attempts} is unknown: ${outcome.reason}`;
      return { status: oncemore ? 'PENDING' : 'UNKNOWN', reason, unknown: true };
    }
  }
}

/** The results of a delivery, for the dashboard and the metrics. */
export const resultKinds = ['sent', 'failed', 'deferred', 'held', 'unknown'] as const;
export type ResultKind = (typeof resultKinds)[number];
export type Counts = Record<ResultKind, number>;
export const noCounts = (): Counts => ({ sent: 0, failed: 0, deferred: 0, held: 0, unknown: 0 });

/** Returns undefined for a mail without result. */
export function resultKind({ status, unknown, retryAfterSeconds }: Settlement): ResultKind | undefined {
  if (status === 'SENT') return 'sent';
  if (status === 'FAILED') return 'failed';
  if (unknown) return 'unknown';
  return retryAfterSeconds === undefined ? undefined : 'deferred';
}
