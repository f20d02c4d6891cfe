import type { Db } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { membersToMail } from '../notifications/recipients.ts';
import { sendSystemMail } from '../system/mail.ts';
import { type DomainNews, domainMailTexts } from './mail-texts.ts';

/** Mails every active member of the project; news of a lost domain can be turned off. */
export async function mailMembersAboutDomain(
  trx: Db,
  { systemFrom }: Pick<Settings, 'systemFrom'>,
  { domain, projectId }: Pick<Domain, 'domain' | 'projectId'>,
  news: DomainNews,
): Promise<void> {
  const members = await membersToMail(trx, projectId, news === 'PENDING' ? 'domain.lost' : null);
  for (const { email, project, language } of members)
    await sendSystemMail(trx, {
      from: systemFrom,
      to: email,
      ...domainMailTexts[language][news](domain, nameInMail(project)),
    });
}
