// Maps the outcome of an SMTP transaction to the change of the ledger row. Pure, and the only place with these rules.
import type { SendOutcome } from '../../platform/smtp/outcome.ts';
import type { AttemptResult } from '../emails/attempts.ts';
import type { SendingPolicy } from './policy.ts';

/** An attempt that has begun. */
export interface Attempt {
  id: string;
  /** Counts from 1. */
  number: number;
  /** Of earlier attempts at this mail. */
  unknownOutcomes: number;
  policy: SendingPolicy;
}

export function resultOf({ number, unknownOutcomes, policy }: Attempt, outcome: SendOutcome): AttemptResult {
  switch (outcome.kind) {
    case 'sent':
      return {
        status: 'SENT',
        reason: null,
        outcome: 'sent',
        ...(outcome.providerMessageId && { providerMessageId: outcome.providerMessageId }),
        ...(outcome.answer && { answer: outcome.answer }),
      };
    case 'refused':
      return {
        status: 'FAILED',
        reason: outcome.reason,
        outcome: 'refused',
        ...(outcome.isBounce && { isBounce: true }),
      };
    case 'unreachable':
      return { status: 'PENDING', reason: outcome.reason, outcome: null };
    case 'deferred': {
      const retryAfterSeconds = retryAfter(number);
      if (retryAfterSeconds !== undefined)
        return { status: 'PENDING', reason: outcome.reason, outcome: 'deferred', retryAfterSeconds };
      const reason = `gave up after ${number} attempts: ${outcome.reason}`;
      return { status: 'FAILED', reason, outcome: 'deferred', answer: outcome.reason };
    }
    case 'unknown': {
      const isRetried = policy.retriesUnknownOutcome && unknownOutcomes === 0;
      const reason = `the outcome of attempt ${number} is unknown: ${outcome.reason}`;
      return { status: isRetried ? 'PENDING' : 'UNKNOWN', reason, outcome: 'unknown' };
    }
  }
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** A day and an hour in all. */
const WAITS = [1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 40 * MINUTE, 1 * HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 9 * HOUR];
/** Spreads retries of mails that were deferred together. */
const JITTER = 0.2;

/**
 * Returns the seconds until the next attempt of a mail that was deferred `attempts` times, or undefined to give up.
 * `chance`, between 0 and 1, sets the jitter.
 */
export function retryAfter(attempts: number, chance = Math.random()): number | undefined {
  const wait = WAITS[Math.max(attempts, 1) - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + chance * 2 * JITTER));
}

/** The results of sending, for metrics and for Temporal's Web UI. */
export const resultKinds = ['sent', 'failed', 'deferred', 'blocked', 'unknown'] as const;
export type ResultKind = (typeof resultKinds)[number];
export type ResultCounts = Record<ResultKind, number>;
export const noResults = (): ResultCounts => ({ sent: 0, failed: 0, deferred: 0, blocked: 0, unknown: 0 });

/** Returns undefined for a mail that was not offered. */
export function resultKind({ status, outcome }: AttemptResult): ResultKind | undefined {
  if (outcome === null) return undefined;
  if (status === 'SENT') return 'sent';
  if (status === 'FAILED') return 'failed';
  return outcome === 'unknown' ? 'unknown' : 'deferred';
}
