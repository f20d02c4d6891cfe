import type { Email } from '../../db/models/email.ts';

/** How mail of one kind is sent. Kinds differ in these values only, not in code paths. */
export interface SendingPolicy {
  sourceType: Email['sourceType'];
  /** Lower numbers are sent first, on every connection and for every permit of a rate limit. */
  priority: number;
  /**
   * Whether the next mails of a connection begin while one is in flight. That keeps connections busier, and a crash
   * leaves up to CAMPAIGN_EMAILS_IN_FLIGHT mails per connection with an unknown outcome instead of one.
   */
  beginsAhead: boolean;
  /** Whether a mail with an unknown outcome is tried once more: a lost receipt is worse than a second copy. */
  retriesUnknownOutcome: boolean;
}

export const policies = {
  TRANSACTIONAL: { sourceType: 'TRANSACTIONAL', priority: 0, beginsAhead: false, retriesUnknownOutcome: true },
  WORKFLOW: { sourceType: 'WORKFLOW', priority: 1, beginsAhead: false, retriesUnknownOutcome: true },
  CAMPAIGN: { sourceType: 'CAMPAIGN', priority: 2, beginsAhead: true, retriesUnknownOutcome: false },
} as const satisfies Record<Email['sourceType'], SendingPolicy>;
