import { number, plural } from '../../format.ts';
import type { Texts } from '../index.ts';

const categories: Record<string, string> = {
  transactional: 'Transaktionsmails',
  campaigns: 'Kampagnenmails',
  workflows: 'Workflow-Mails',
};

export const notifications: Texts['notifications'] = {
  title: 'Benachrichtigungen',
  description: 'Was in Ihren Projekten ohne Sie geschehen ist. 90 Tage lang aufbewahrt.',
  empty: 'Noch nichts',
  emptyText: 'Beendete Kampagnen, verlorene Domains und Ähnliches erscheinen hier.',
  unread: 'ungelesen',
  markAll: 'Alle als gelesen markieren',
  marked: (count) =>
    `${plural(count, { one: 'Benachrichtigung ist', other: 'Benachrichtigungen sind' })} als gelesen markiert.`,
  what: 'Was geschehen ist',
  project: 'Projekt',
  when: 'Wann',
  settings: 'Worüber Sie benachrichtigt werden',
  settingsText: 'Für alle Ihre Projekte. Mails gehen an die Adresse Ihres Kontos.',
  inApp: 'Hier',
  byMail: 'Per Mail',
  saved: 'Ihre Einstellungen sind gespeichert.',
  types: {
    'campaign.finished': 'Eine Kampagne ist beendet',
    'campaign.paused': 'Eine Kampagne hat sich selbst angehalten',
    'domain.lost': 'Eine Domain ist nicht mehr bestätigt',
    'endpoint.disabled': 'Ein Webhook-Endpunkt wurde nach Fehlern abgeschaltet',
    'form.attacked': 'Ein Formular wird von Bots angegriffen',
    'import.finished': 'Ein Import ist beendet',
    'project.near_limit': 'Ein Projekt ist nahe an seinen Grenzen',
  },
  campaignFinished: (name) => `Die Kampagne ${name} ist beendet`,
  campaignPaused: (name) => `Die Kampagne ${name} hat sich selbst angehalten`,
  domainLost: (domain) => `${domain} ist nicht mehr bestätigt`,
  endpointDisabled: (host) => `Der Webhook-Endpunkt bei ${host} wurde abgeschaltet`,
  formAttacked: (name) => `Das Formular ${name} wird angegriffen`,
  importFinished: (total) => `Ein Import ist beendet: ${plural(total, { one: 'Zeile', other: 'Zeilen' })}`,
  importFailed: 'Ein Import ist fehlgeschlagen',
  nearLimit: (category, used, limit) =>
    `${number(used)} von ${number(limit)} ${categories[category] ?? 'Mails'} dieses Zeitraums sind verbraucht`,
};
