import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type AccountLanguage, accountLanguageOf } from '../../platform/languages.ts';
import { defaultChannels, type NotificationType } from './types.ts';

export interface MailRecipient {
  email: string;
  project: string;
  language: AccountLanguage;
}

const find = statement<Omit<MailRecipient, 'language'> & { language: string | null }>(
  'members-to-mail',
  `select u.email, u.language, p.name as project
   from memberships m join users u on u.id = m.user_id join projects p on p.id = m.project_id
   left join notification_settings s on s.user_id = m.user_id and s.type = $2
   where m.project_id = $1 and m.status = 'ACTIVE' and (u.totp_enabled_at is not null or not p.require_two_factor)
     and coalesce(s.email, $3) and (not $4 or m.role in ('ADMIN', 'OWNER'))
   order by u.email collate "C"`,
);

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
  const defaultsToMail = type === null || defaultChannels(type).email;
  const members = await find(trx, [projectId, type, defaultsToMail, managersOnly]);
  return members.map((member) => ({ ...member, language: accountLanguageOf(member.language) }));
}
