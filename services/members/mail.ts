import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type SystemMail, sendSystemMail } from '../system/mail.ts';

const findManagers = statement<{ email: string }>(
  'members-managers',
  `select u.email from memberships m join users u on u.id = m.user_id
   where m.project_id = $1 and m.status = 'ACTIVE' and m.role in ('ADMIN', 'OWNER') order by u.email collate "C"`,
);

/** Mails the ADMINs and OWNERs of a project. */
export async function mailManagers(trx: Db, projectId: string, mail: Omit<SystemMail, 'to'>): Promise<void> {
  for (const { email } of await findManagers(trx, [projectId])) await sendSystemMail(trx, { ...mail, to: email });
}
