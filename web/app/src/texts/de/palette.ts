import type { Texts } from '../index.ts';

export const palette: Texts['palette'] = {
  nothingFound: 'Nichts gefunden.',
  bestMatch: 'Beste Übereinstimmung',
  pages: 'Seiten',
  create: 'Erstellen',
  projects: 'Projekte',
  found: 'Kontakte',
  foundCampaigns: 'Kampagnen',
  newCampaign: 'Neue Kampagne',
  newTemplate: 'Neue Vorlage',
  newSegment: 'Neues Segment',
  addDomain: 'Domain hinzufügen',
  inviteMember: 'Mitglied einladen',
  newWebhook: 'Webhook-Endpunkt hinzufügen',
  newKey: 'Schlüssel erstellen',
  suppressAddress: 'Adresse sperren',
};
