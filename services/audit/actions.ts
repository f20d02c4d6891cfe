/** What the audit log records: a kind of target and what was done to it. Never per mail, event or contact. */
export const auditActions = [
  'user.logged_in',
  'user.login_failed',
  'user.password_changed',
  'user.password_reset',
  'user.password_cleared',
  'user.totp_enabled',
  'user.totp_disabled',
  'user.session_revoked',
  'user.operator_made',
  'project.disabled',
  'project.enabled',
  'member.role_changed',
  'outbox.retried',
] as const;

export type AuditAction = (typeof auditActions)[number];
