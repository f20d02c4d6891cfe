import { plural } from '../../format.ts';
import type { Texts } from '../index.ts';

export const home: Texts['home'] = {
  title: 'Start',
  setup: 'Erste Schritte',
  setupText: 'Sie haken sich von selbst ab.',
  setupProgress: (done: number, all: number) => `${done} von ${all}`,
  steps: {
    domain: ['Domain bestätigen', 'Damit E-Mails von Ihrer Adresse vertraut wird.'],
    contact: ['Ersten Kontakt hinzufügen', 'Importieren Sie eine Liste, oder Ihre Anwendung fügt Personen hinzu.'],
    email: ['Erste E-Mail senden', 'Mit einem API-Aufruf oder einer Kampagne.'],
    template: ['Vorlage schreiben', 'Einmal geschrieben, verwendet in Kampagnen, Workflows und der API.'],
  },
  stepDone: 'erledigt',
  stepOpen: 'offen',
  last30: 'Letzte 30 Tage',
  figures: {
    sent: 'Gesendet',
    delivered: 'Zugestellt',
    peopleOpened: 'Von Menschen geöffnet',
    humanClicked: 'Von Menschen geklickt',
    bounced: 'Unzustellbar',
  },
  chart: 'E-Mails pro Tag',
  noMail: 'E-Mails, die Sie senden, erscheinen hier Tag für Tag.',
  table: 'Als Tabelle anzeigen',
  hideTable: 'Tabelle ausblenden',
  dayColumn: 'Tag',
  upcoming: 'Demnächst',
  upcomingEmpty: 'Es ist nichts geplant.',
  health: 'Ruf als Absender',
  healthText: 'Postfachanbieter beobachten diese Werte. Sind sie zu hoch, nehmen sie Ihre E-Mails nicht mehr an.',
  levels: { healthy: 'Gut', warning: 'Warnung', critical: 'Kritisch' },
  bounceRate: 'Unzustellbar, 7 Tage',
  complaintRate: 'Spam-Beschwerden, 7 Tage',
  attention: 'Braucht Ihre Aufmerksamkeit',
  attentionEmpty: 'Nichts. Alles Angenommene ist unterwegs oder erledigt.',
  unknown: (count: number) =>
    `${plural(count, { one: 'E-Mail hat', other: 'E-Mails haben' })} ein unbekanntes Ergebnis`,
  blocked: (count: number) => `${plural(count, { one: 'E-Mail ist', other: 'E-Mails sind' })} blockiert`,
  failed: (count: number) =>
    `${plural(count, { one: 'E-Mail ist', other: 'E-Mails sind' })} in den letzten 7 Tagen fehlgeschlagen`,
  retryingStep: (count: number, step: string, workflow: string, error: string) =>
    `${plural(count, { one: 'Person wartet', other: 'Personen warten' })} bei „${step}“ in ${workflow}, weil es immer wieder scheitert: ${error}`,
  failedExecutions: (count: number) =>
    `${plural(count, { one: 'Durchlauf eines Workflows ist', other: 'Durchläufe von Workflows sind' })} fehlgeschlagen`,
  failingWebhook: (host: string) => `Der Webhook-Endpunkt bei ${host} schlägt fehl`,
  disabledWebhook: (host: string) => `Der Webhook-Endpunkt bei ${host} wurde nach Fehlern abgeschaltet`,
  pausedCampaign: (name: string) => `Die Kampagne ${name} ist angehalten`,
  pendingDomain: (domain: string) => `${domain} ist noch nicht bestätigt`,
  show: 'Anzeigen',
  recent: 'Neueste Kampagnen',
};
