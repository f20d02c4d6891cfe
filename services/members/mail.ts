import type { Db } from '../../db/connect.ts';
import { type SystemMail, sendSystemMail } from '../system/mail.ts';

/** Mails the ADMINs and OWNERs of a project. */
export async function mailManagers(trx: Db, projectId: string, mail: Omit<SystemMail, 'to'>): Promise<void> {
  const managers = await trx('memberships as m')
    .join('users as u', 'u.id', 'm.userId')
    .where({ 'm.projectId': projectId, 'm.status': 'ACTIVE' })
    .whereIn('m.role', ['ADMIN', 'OWNER'])
    .orderByRaw('u.email collate "C"')
    .select<{ email: string }[]>('u.email');
  for (const { email } of managers) await sendSystemMail(trx, { ...mail, to: email });
}
