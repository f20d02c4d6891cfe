import type { Domain } from '../../db/models/domain.ts';
import type { AccountLanguage } from '../../platform/languages.ts';

/** `REMOVAL`: the domain was never verified and is removed soon. */
export type DomainNews = Domain['status'] | 'REMOVAL';

interface Text {
  subject: string;
  paragraphs: string[];
}

type TextOfDomain = (domain: string, project: string) => Text;

export const domainMailTexts: Record<AccountLanguage, Record<DomainNews, TextOfDomain>> = {
  en: {
    VERIFIED: (domain, project) => ({
      subject: `${domain} is verified`,
      paragraphs: [
        `All records of the domain ${domain} were found. The project ${project} can send from it now.`,
        'Keep the records in place: they are checked every hour.',
      ],
    }),
    REMOVAL: (domain, project) => ({
      subject: `${domain} will be removed in a week`,
      paragraphs: [
        `The domain ${domain} was added to the project ${project} but has never been verified, and nothing uses it. It will be removed from the project in a week.`,
        'To keep it, publish its DNS records; GET /domains/project/current lists them. You can add the domain again at any time.',
      ],
    }),
    PENDING: (domain, project) => ({
      subject: `${domain} is no longer verified`,
      paragraphs: [
        `The DNS records of the domain ${domain} failed several checks in a row, so the project ${project} can no longer send from it.`,
        'Emails that were already accepted are held, and sent when the records are found again. GET /domains/project/current shows what is missing.',
      ],
    }),
  },
  de: {
    VERIFIED: (domain, project) => ({
      subject: `${domain} ist bestätigt`,
      paragraphs: [
        `Alle Einträge der Domain ${domain} wurden gefunden. Das Projekt ${project} kann jetzt mit ihr senden.`,
        'Lassen Sie die Einträge bestehen: Sie werden jede Stunde geprüft.',
      ],
    }),
    REMOVAL: (domain, project) => ({
      subject: `${domain} wird in einer Woche entfernt`,
      paragraphs: [
        `Die Domain ${domain} wurde dem Projekt ${project} hinzugefügt, aber nie bestätigt, und nichts verwendet sie. Sie wird in einer Woche aus dem Projekt entfernt.`,
        'Um sie zu behalten, veröffentlichen Sie ihre DNS-Einträge; GET /domains/project/current nennt sie. Sie können die Domain jederzeit wieder hinzufügen.',
      ],
    }),
    PENDING: (domain, project) => ({
      subject: `${domain} ist nicht mehr bestätigt`,
      paragraphs: [
        `Mehrere Prüfungen nacheinander haben die DNS-Einträge der Domain ${domain} nicht so gefunden, wie sie sein müssen. Das Projekt ${project} kann mit ihr nicht mehr senden.`,
        'Bereits angenommene Mails warten und gehen hinaus, sobald die Einträge wieder gefunden werden. GET /domains/project/current zeigt, was fehlt.',
      ],
    }),
  },
};
