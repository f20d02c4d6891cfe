// Every table with a project, and what an erasure does with its rows. A test compares these lists with the database, so that
// a new table cannot be forgotten.

/** Erased by a reset and by a deletion, in this order: first what still causes writes, then what other tables refer to. */
export const erasedByReset = [
  'webhook_queue',
  'webhook_deliveries',
  'webhook_events',
  'webhook_listener_messages',
  'campaign_link_clicks',
  'campaigns',
  'executions',
  'execution_steps',
  'workflow_cases',
  'workflow_moves',
  'workflow_counts',
  'workflow_drafts',
  'workflow_transitions',
  'workflow_steps',
  'workflows',
  'event_queue',
  'job_errors',
  'jobs',
  'emails',
  'outgoing_mails',
  'email_contents',
  'email_bodies',
  'events',
  'contact_changes',
  'segment_dependencies',
  'segments',
  'contacts',
  'contact_fields',
  'template_versions',
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
  'template_days',
  'domain_days',
  'link_days',
  'previews',
  'workflow_count_deltas',
  'activity_deltas',
  'human_activity_deltas',
  'activity_hours',
  'removed_execution_hours',
  'contact_count_deltas',
  'contact_counts',
] as const;

/**
 * Kept by a reset and erased by a deletion: settings, secrets, members, domains, what is owed, and what protects others from
 * the project: suppressions, and the rates that disable it.
 */
export const keptByReset = [
  'suppressions',
  'past_rate_hours',
  'project_suspensions',
  'billing_hours',
  'webhook_secrets',
  'wanted_webhook_types',
  'webhook_listeners',
  'webhook_endpoints',
  'domains',
  'memberships',
  'scoped_keys',
  'user_tokens',
  'rate_windows',
  'session_rate_windows',
  'failed_requests',
  'live_streams',
  'notifications',
] as const;

/**
 * Never erased here: outbox messages are deleted when they are delivered, what is owed when it is billed
 * (`services/billing/maintenance.ts`), and erasures record this work itself. The audit log is append-only; retention drops
 * its old months.
 */
export const neverErased = [
  'outbox',
  'project_billing',
  'billing_deltas',
  'billing_reports',
  'project_erasures',
  'audit_log',
] as const;
