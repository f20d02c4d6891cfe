import { auditActionNames } from './audit-actions.ts';

/** Of the audit log. */
export const audit = {
  title: 'Audit log',
  description: 'Who did what in this project, for 400 days.',
  onlyAdmins: 'Only admins and owners of this project can read the audit log.',
  actor: 'Who',
  actors: { USER: 'People', KEY: 'Keys', SYSTEM: 'The system' },
  anyActor: 'Everybody',
  action: 'Action',
  anyAction: 'Any action',
  actions: auditActionNames,
  target: 'What',
  when: 'When',
  from: 'From day',
  to: 'To day',
  changes: 'Changes',
  changed: 'changed',
  system: 'System',
  deletedUser: '(deleted account)',
  deletedKey: '(revoked key)',
  ip: 'from',
  empty: 'Nothing was recorded yet.',
  noMatch: 'No entry matches',
};
