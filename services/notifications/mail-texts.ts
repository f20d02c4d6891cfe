import type { AccountLanguage } from '../../platform/languages.ts';
import type { NotificationType } from './types.ts';

/** What the texts are made from. Names are safe to show. */
interface Facts {
  project: string;
  /** Of the campaign. */
  name: string;
  /** Why a campaign paused itself, or why an import failed; empty where it is not known. Always English. */
  reason: string;
  failed: boolean;
  /** Rows of an import. */
  total: number;
}

interface Text {
  subject: string;
  paragraph: string;
  /** Of the button, where there is one. */
  button?: string;
}

interface Texts {
  closing: string;
  types: Record<NotificationType, (facts: Facts) => Text>;
}

const reasonAfter = (reason: string): string => (reason ? `: ${reason}` : '');

export const notificationMailTexts: Record<AccountLanguage, Texts> = {
  en: {
    closing: 'You can turn these emails off in your notification settings.',
    types: {
      'campaign.finished': ({ name, project }) => ({
        subject: `The campaign ${name} has finished`,
        paragraph: `The campaign ${name} of the project ${project} has been sent to all recipients.`,
        button: 'View campaign',
      }),
      'campaign.paused': ({ name, project, reason }) => ({
        subject: `The campaign ${name} was paused automatically`,
        paragraph: `The campaign ${name} of the project ${project} was paused automatically${reasonAfter(reason)}.`,
        button: 'View campaign',
      }),
      'import.finished': ({ project, failed, reason, total }) => ({
        subject: failed ? `An import of ${project} has failed` : `An import of ${project} has finished`,
        paragraph: failed
          ? `An import of the project ${project} has failed${reasonAfter(reason)}`
          : `An import of the project ${project} has finished: ${total} rows were read.`,
        button: 'View import',
      }),
      'form.attacked': ({ name, project }) => ({
        subject: `The form ${name} is under attack`,
        paragraph: `Bots submit the form ${name} of the project ${project}. Until the attack ends, every visitor presses one more button, and forms sent without script are refused. You do not need to do anything.`,
        button: 'View form',
      }),
      // Mailed by the services that notice them.
      'domain.lost': newsInEnglish,
      'endpoint.disabled': newsInEnglish,
      'project.near_limit': newsInEnglish,
    },
  },
  de: {
    closing: 'Sie können diese Mails in den Einstellungen Ihrer Benachrichtigungen ausschalten.',
    types: {
      'campaign.finished': ({ name, project }) => ({
        subject: `Die Kampagne ${name} ist abgeschlossen`,
        paragraph: `Die Kampagne ${name} des Projekts ${project} wurde an alle Empfänger gesendet.`,
        button: 'Kampagne anzeigen',
      }),
      'campaign.paused': ({ name, project, reason }) => ({
        subject: `Die Kampagne ${name} hat sich angehalten`,
        paragraph: `Die Kampagne ${name} des Projekts ${project} hat sich selbst angehalten${reasonAfter(reason)}.`,
        button: 'Kampagne anzeigen',
      }),
      'import.finished': ({ project, failed, reason, total }) => ({
        subject: failed
          ? `Ein Import von ${project} ist fehlgeschlagen`
          : `Ein Import von ${project} ist abgeschlossen`,
        paragraph: failed
          ? `Ein Import des Projekts ${project} ist fehlgeschlagen${reasonAfter(reason)}`
          : `Ein Import des Projekts ${project} ist abgeschlossen: ${total} Zeilen wurden gelesen.`,
        button: 'Import anzeigen',
      }),
      'form.attacked': ({ name, project }) => ({
        subject: `Das Formular ${name} wird angegriffen`,
        paragraph: `Bots senden das Formular ${name} des Projekts ${project} ab. Bis der Angriff endet, drückt jeder Besucher einen weiteren Knopf, und ohne Skript gesendete Formulare werden abgelehnt. Sie müssen nichts tun.`,
        button: 'Formular anzeigen',
      }),
      'domain.lost': newsInGerman,
      'endpoint.disabled': newsInGerman,
      'project.near_limit': newsInGerman,
    },
  },
};

function newsInEnglish({ project }: Facts): Text {
  return { subject: `News from the project ${project}`, paragraph: `Open the project ${project}.` };
}

function newsInGerman({ project }: Facts): Text {
  return { subject: `Neues vom Projekt ${project}`, paragraph: `Öffnen Sie das Projekt ${project}.` };
}
