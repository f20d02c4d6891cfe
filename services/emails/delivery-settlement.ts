import type { Email } from '../../db/models/email.ts';
import type { SendOutcome } from '../../platform/mailer.ts';
import { retryAfter } from './delivery-retry.ts';

/** A mail on the wire, or found there: `attempts` counts the attempt in question. */
export type MailInFlight = Pick<Email, 'id' | 'sourceType' | 'attempts' | 'unknownOutcomes'>;

/** What becomes of the ledger row. */
export interface Settlement {
  status: 'SENT' | 'FAILED' | 'PENDING' | 'UNKNOWN';
  reason: string | null;
  /** The attempt does not count. */
  unburnt?: boolean;
  /** The attempt ended with an unknown outcome. */
  unknown?: boolean;
  /** It was put off once more than we are willing to wait. */
  gaveUp?: boolean;
  /** Leaves its batch, to be folded again after so many seconds. Otherwise it is tried again in the same batch. */
  againAfter?: number;
  providerMessageId?: string | undefined;
  /** What the relay said, where that is no reason. */
  answer?: string;
}

/** The one rule book for results, pure: every way in which an attempt can end. */
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
      return { status: 'PENDING', reason: outcome.reason, unburnt: true };
    case 'deferred': {
      const againAfter = retryAfter(mail.attempts);
      if (againAfter !== undefined) return { status: 'PENDING', reason: outcome.reason, againAfter };
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

/** How a delivery went, for the Web UI and the metrics. */
export const resultKinds = ['sent', 'failed', 'deferred', 'held', 'unknown'] as const;
export type ResultKind = (typeof resultKinds)[number];
export type Counts = Record<ResultKind, number>;
export const noCounts = (): Counts => ({ sent: 0, failed: 0, deferred: 0, held: 0, unknown: 0 });

/** Undefined: nothing has come of it yet. */
export function resultKind({ status, unknown, againAfter }: Settlement): ResultKind | undefined {
  if (status === 'SENT') return 'sent';
  if (status === 'FAILED') return 'failed';
  if (unknown) return 'unknown';
  return againAfter === undefined ? undefined : 'deferred';
}
