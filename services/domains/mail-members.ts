import type { Db } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { membersToMail } from '../notifications/recipients.ts';
import { sendSystemMail } from '../system/mail.ts';

/** `REMOVAL`: the domain was never verified and is removed soon. */
type DomainNews = Domain['status'] | 'REMOVAL';

/** Mails every active member of the project; news of a lost domain can be turned off. */
export async function mailMembersAboutDomain(
  trx: Db,
  { systemFrom }: Pick<Settings, 'systemFrom'>,
  { domain, projectId }: Pick<Domain, 'domain' | 'projectId'>,
  news: DomainNews,
): Promise<void> {
  const members = await membersToMail(trx, projectId, news === 'PENDING' ? 'domain.lost' : null);
  for (const { email, project } of members)
    await sendSystemMail(trx, { from: systemFrom, to: email, ...textOf(domain, nameInMail(project), news) });
}

function textOf(domain: string, project: string, news: DomainNews) {
  if (news === 'VERIFIED')
    return {
      subject: `${domain} is verified`,
      paragraphs: [
        `All records of the domain ${domain} were found. The project ${project} can send from it now.`,
        'Keep the records where they are: they are looked at every hour.',
      ],
    };
  if (news === 'REMOVAL')
    return {
      subject: `${domain} will be removed in a week`,
      paragraphs: [
        `The domain ${domain} was added to the project ${project} but has never been verified, and nothing uses it. It will be removed from the project in a week.`,
        'To keep it, publish its DNS records; GET /domains/project/current lists them. You can add the domain again at any time.',
      ],
    };
  return {
    subject: `${domain} is no longer verified`,
    paragraphs: [
      `Several checks in a row did not find the DNS records of the domain ${domain} as they must be, so the project ${project} cannot send from it any more.`,
      'Mail that was accepted already waits, and goes out when the records are found again. GET /domains/project/current shows what is missing.',
    ],
  };
}
