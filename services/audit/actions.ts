/** What the audit log records: a kind of target and what was done to it. Never per mail, event or contact. */
export type AuditAction =
  | 'brand_kit.changed'
  | `campaign.${'cancelled' | 'created' | 'deleted' | 'paused' | 'resolved' | 'resumed' | 'scheduled' | 'sent' | 'updated'}`
  | `campaign.${'recipients_exported' | 'recipients_resent' | 'unscheduled'}`
  | `contacts.${'bulk_deleted' | 'bulk_field_set' | 'bulk_subscribed' | 'bulk_unsubscribed'}`
  | `contacts.${'bulk_added_to_segment' | 'bulk_topic_subscribed' | 'bulk_topic_unsubscribed' | 'exported' | 'imported'}`
  | 'consents.exported'
  | `domain.${'created' | 'deleted' | 'lost' | 'verified'}`
  | 'event.deleted'
  | `form.${'created' | 'deleted' | 'updated'}`
  | 'field.deleted'
  | `key.${'created' | 'revoked'}`
  | `member.${'invited' | 'joined' | 'removed' | 'role_changed'}`
  | 'outbox.retried'
  | `project.${'billing_limits_changed' | 'created' | 'deleted' | 'disabled' | 'enabled' | 'reset' | 'updated'}`
  | `project.${'keys_regenerated' | 'webhook_secret_rotated'}`
  | `saved_block.${'changed' | 'created' | 'deleted'}`
  | `segment.${'created' | 'deleted' | 'updated'}`
  | `suppression.${'added' | 'removed'}`
  | `suppressions.${'exported' | 'imported'}`
  | `template.${'created' | 'deleted' | 'published' | 'restored' | 'updated'}`
  | `topic.${'created' | 'deleted' | 'updated'}`
  | 'topics.reordered'
  | `user.${'deleted' | 'logged_in' | 'login_failed' | 'operator_made' | 'provider_linked' | 'session_revoked'}`
  | `user.${'password_changed' | 'password_cleared' | 'password_reset' | 'totp_disabled' | 'totp_enabled'}`
  | `webhook_endpoint.${'created' | 'deleted' | 'disabled' | 'secret_rotated' | 'updated'}`
  | `workflow.${'created' | 'deleted' | 'disabled' | 'enabled' | 'published' | 'updated'}`
  | `workflow.${'executions_cancelled' | 'executions_migrated' | 'executions_retried'}`;
