import type { Texts } from '../index.ts';

export const conditionTexts: Texts['conditionTexts'] = {
  anniversaryWithin: 'jährt sich in den nächsten',
  anniversaryOlderThan: 'jährte sich vor mehr als',
  days: 'Tagen',
  daysAgo: 'Tagen',
  topics: 'Themen',
  topic: (key: string) => `Thema ${key}`,
  topicOperators: {
    subscribed: 'ist abonniert',
    unsubscribed: 'ist nicht abonniert',
    pending: 'wartet auf Bestätigung',
    changedWithin: 'geändert innerhalb der letzten',
    changedOlderThan: 'geändert vor mehr als',
  },
  where: 'mit',
  addTest: 'Mit …',
  removeTest: 'Diese Bedingung an das Ereignis entfernen',
  key: 'Eigenschaft des Ereignisses',
  keyHint: 'Etwa total oder order.total',
  test: 'Vergleich',
  campaign: 'Kampagne',
  chooseCampaign: 'Wählen Sie eine Kampagne',
  keyLabels: { campaignId: 'Kampagne', link: 'Link', templateId: 'Vorlage', subject: 'Betreff' },
};
