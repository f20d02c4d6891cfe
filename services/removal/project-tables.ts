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
  'workflows',
  'event_queue',
  'job_errors',
  'import_contacts',
  'jobs',
  'campaign_recipients',
  'emails',
  'outgoing_mails',
  'email_contents',
  'email_bodies',
  'events',
  'contact_changes',
  'segment_dependencies',
  'segments',
  'contacts',
  'page_changes',
  'preference_requests',
  'contact_topics',
  'form_submissions',
  'form_versions',
  'forms',
  'topic_defaults',
  'topics',
  'contact_fields',
  'template_versions',
  'template_drafts',
  'templates',
  'saved_blocks',
  'views',
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
  'removed_execution_hours',
  'contact_count_deltas',
  'contact_counts',
  'counter_deltas',
  'counters',
] as const;

/**
 * Kept by a reset and erased by a deletion: settings, secrets, members, domains, what is owed, and what protects others from
 * the project: suppressions, and the rates that disable it.
 */
export const keptByReset = [
  'suppressions',
  'consents',
  'consent_texts',
  'withdrawals',
  'past_rate_hours',
  'project_suspensions',
  'billing_hours',
  'webhook_secrets',
  'wanted_webhook_types',
  'webhook_listeners',
  'webhook_endpoints',
  'domains',
  'brand_kits',
  'project_pages',
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
 * its old months. `activity_hours` follows the counters until the next release.
 */
export const neverErased = [
  'outbox',
  'project_billing',
  'billing_deltas',
  'billing_reports',
  'project_erasures',
  'audit_log',
  'activity_hours',
] as const;
