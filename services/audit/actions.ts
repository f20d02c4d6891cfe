/** What the audit log records: a kind of target and what was done to it. Never per mail, event or contact. */
export const auditActions = [
  'project.created',
  'project.updated',
  'project.deleted',
  'project.reset',
  'project.disabled',
  'project.enabled',
  'project.keys_regenerated',
  'project.webhook_secret_rotated',
  'key.created',
  'key.revoked',
  'user.logged_in',
  'user.login_failed',
  'user.password_changed',
  'user.password_reset',
  'user.password_cleared',
] as const;

export type AuditAction = (typeof auditActions)[number];
