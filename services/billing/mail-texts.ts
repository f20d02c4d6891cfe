import type { AccountLanguage } from '../../platform/languages.ts';

interface Facts {
  project: string;
  category: 'transactional' | 'campaigns' | 'workflows';
  reached: boolean;
  used: number;
  limit: number;
}

interface Text {
  subject: string;
  paragraphs: string[];
  closing: string;
}

const KINDS = {
  en: { transactional: 'transactional emails', campaigns: 'campaign emails', workflows: 'workflow emails' },
  de: { transactional: 'Transaktionsmails', campaigns: 'Kampagnenmails', workflows: 'Workflow-Mails' },
} as const;

/** Warnings that a billing limit is near or reached. */
export const limitMailTexts: Record<AccountLanguage, (facts: Facts) => Text> = {
  en: ({ project, category, reached, used, limit }) => {
    const what = KINDS.en[category];
    const consequence =
      category === 'transactional'
        ? 'Further emails are rejected'
        : 'Further emails are held, and sent when there is room again';
    return {
      subject: reached
        ? `The billing limit on ${what} of ${project} is reached`
        : `${project} has used 80 % of its ${what}`,
      paragraphs: [
        `The project ${project} has used ${used} of the ${limit} ${what} that its billing limit allows in this period.`,
        reached ? `${consequence}.` : `At the limit: ${consequence.toLowerCase()}.`,
      ],
      closing: 'You can change it in the billing limits of the project.',
    };
  },
  de: ({ project, category, reached, used, limit }) => {
    const what = KINDS.de[category];
    const consequence =
      category === 'transactional'
        ? 'weitere werden abgelehnt'
        : 'weitere werden zurückgehalten und gehen hinaus, sobald wieder Platz ist';
    return {
      subject: reached
        ? `Die Obergrenze für ${what} von ${project} ist erreicht`
        : `${project} hat 80 % seiner ${what} verbraucht`,
      paragraphs: [
        `In diesem Zeitraum hat das Projekt ${project} ${used} von ${limit} ${what} verbraucht, die seine Obergrenze erlaubt.`,
        reached ? `Ab jetzt gilt: ${consequence}.` : `An der Obergrenze gilt: ${consequence}.`,
      ],
      closing: 'Sie können die Obergrenze in den Abrechnungseinstellungen des Projekts ändern.',
    };
  },
};
