import type { Db } from '../../db/connect.ts';
import { type AccountLanguage, accountLanguageOf } from '../../platform/languages.ts';
import { defaultChannels, type NotificationType } from './types.ts';

export interface MailRecipient {
  email: string;
  project: string;
  language: AccountLanguage;
}

/**
 * Returns the active members of a project who want mail of the type; without a type all of them. Members without the
 * two-factor authentication that the project requires may not see it, and get none.
 */
export async function membersToMail(
  trx: Db,
  projectId: string,
  type: NotificationType | null,
  { managersOnly = false }: { managersOnly?: boolean } = {},
): Promise<MailRecipient[]> {
  const members = trx('memberships as m')
    .join('users as u', 'u.id', 'm.userId')
    .join('projects as p', 'p.id', 'm.projectId')
    .leftJoin('notificationSettings as s', (join) => join.on('s.userId', 'm.userId').andOnVal('s.type', type ?? ''))
    .where({ 'm.projectId': projectId, 'm.status': 'ACTIVE' })
    .whereRaw('(u.totp_enabled_at is not null or not p.require_two_factor)')
    .whereRaw('coalesce(s.email, ?)', [type === null || defaultChannels(type).email])
    .orderByRaw('u.email collate "C"')
    .select<(Omit<MailRecipient, 'language'> & { language: string | null })[]>(
      'u.email',
      'u.language',
      'p.name as project',
    );
  if (managersOnly) members.whereIn('m.role', ['ADMIN', 'OWNER']);
  return (await members).map((member) => ({ ...member, language: accountLanguageOf(member.language) }));
}
