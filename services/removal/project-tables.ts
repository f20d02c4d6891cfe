// Every table that knows a project, and what becomes of its rows. A test holds this list against the database, so that a
// new table cannot be forgotten.

/** Wiped by a reset and by a deletion, in this order: first what still moves, then what others hang on. */
export const wiped = [
  'campaigns',
  'executions',
  'execution_steps',
  'workflow_transitions',
  'workflow_steps',
  'workflows',
  'event_queue',
  'jobs',
  'emails',
  'email_contents',
  'events',
  'contact_changes',
  'segment_dependencies',
  'segments',
  'contacts',
  'contact_fields',
  'templates',
  'uploads',
  'upload_totals',
  'idempotency_keys',
  'event_deltas',
  'event_names',
  'event_name_counts',
  'event_hours',
  'event_days',
  'event_contacts',
  'activity_deltas',
  'activity_hours',
  'contact_count_deltas',
  'contact_counts',
] as const;

/**
 * What a reset keeps: settings, secrets, members, domains, what is owed, and what protects others from the project:
 * addresses that it must not write to, and the rates that disable it.
 */
export const kept = [
  'suppressions',
  'past_rate_hours',
  'project_suspensions',
  'billing_hours',
  'webhook_secrets',
  'domains',
  'memberships',
  'user_tokens',
  'rate_windows',
  'session_rate_windows',
] as const;

/**
 * Never wiped here: intents go when they are carried out, what is owed when it is billed (`services/billing/upkeep.ts`),
 * and erasures are the record of this very work.
 */
export const leftAlone = [
  'outbox',
  'project_billing',
  'billing_deltas',
  'billing_reports',
  'project_erasures',
] as const;
