import type { Texts } from '../index.ts';

export const outcomes: Texts['outcomes'] = {
  notSent: 'Diese E-Mail wurde nicht gesendet',
  suppressed: (email) => `${email} steht auf der Sperrliste. Dorthin wird keine E-Mail gesendet.`,
  toSuppression: 'Sperre zeigen',
  notSubscribed: (email) => `${email} ist nicht angemeldet, und Marketing-E-Mails gehen nur an angemeldete Kontakte.`,
  contactDeleted: 'Der Kontakt wurde gelöscht, bevor die E-Mail gesendet wurde.',
  campaignCancelled: 'Die Kampagne wurde abgebrochen, bevor die E-Mail gesendet wurde.',
  domain: 'Die Domain des Absenders ist nicht bestätigt. Die E-Mail wird gesendet, sobald sie es ist.',
  toDomains: 'Domain einrichten',
  project: 'Für dieses Projekt ist das Senden gesperrt. Die E-Mail wird gesendet, sobald es wieder möglich ist.',
  toSecurity: 'Grund ansehen',
  cap: 'Das Limit der Abrechnung ist erreicht. Die E-Mail wird in der nächsten Periode gesendet, oder sobald das Limit steigt.',
  toBilling: 'Limit ändern',
  refused: 'Der Mailserver des Empfängers hat die E-Mail abgelehnt:',
  tooOften: 'Der Mailserver des Empfängers war nicht erreichbar oder hat die E-Mail zu oft aufgeschoben:',
  unknown:
    'Die Verbindung endete, bevor der Mailserver geantwortet hat. Ein weiterer Versuch kann sie doppelt zustellen.',
  notKnown: 'Ob diese E-Mail gesendet wurde, ist nicht bekannt',
  campaignEnded:
    'Die E-Mail ist fehlgeschlagen. Ihre Kampagne wurde abgebrochen oder gelöscht, daher kann sie nicht erneut gesendet werden:',
  gone: 'Der Empfänger oder der Inhalt existiert nicht mehr.',
  clickedLink: (link) => `${link} geklickt`,
};
