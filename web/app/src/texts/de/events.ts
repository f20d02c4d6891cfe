import { number, plural } from '../../format.ts';
import type { Texts } from '../index.ts';

export const events: Texts['events'] = {
  title: 'Ereignisse und Felder',
  description: 'Was Ihre Anwendung über Personen mitteilt: was sie getan haben und was über sie bekannt ist.',
  tabs: { events: 'Ereignisse', fields: 'Felder' },
  search: 'Nach Namen suchen',
  kind: 'Art',
  anyKind: 'Alle Ereignisse',
  own: 'Ihre Ereignisse',
  reserved: 'Von Everpost',
  name: 'Name',
  count: 'Insgesamt',
  last30: 'Letzte 30 Tage',
  people: 'Personen, 30 Tage',
  lastSeen: 'Zuletzt, 30 Tage',
  emptyTitle: 'Noch keine Ereignisse',
  emptyText: 'Zeichnen Sie mit einem API-Aufruf auf, was Personen tun; Segmente und Workflows können es verwenden.',
  noMatch: 'Kein passendes Ereignis',
  usage: 'Wo es verwendet wird',
  unused: 'Kein Segment, kein Workflow und keine Kampagne verwendet es.',
  usedInSegments: 'Segmente',
  usedInWorkflows: 'Workflows',
  usedInCampaigns: 'Kampagnen',
  recorded: 'Aufgezeichnet',
  uniqueContacts: 'Personen',
  recent: 'Neueste',
  recentEmpty: 'Es ist keines gespeichert.',
  data: 'Daten',
  person: 'Person',
  showPerson: 'Person anzeigen',
  delete: 'Löschen',
  deleteEventTitle: (name: string) => `Alle Ereignisse ${name} löschen?`,
  deleteEventText: (count: number) =>
    `${plural(count, { one: 'Ereignis wird', other: 'Ereignisse werden' })} mit den Zählungen gelöscht. Das lässt sich nicht rückgängig machen.`,
  usedWarning: 'Es wird verwendet. Diese finden es dann nicht mehr:',
  eventDeleted: (name: string, count: number) =>
    `${plural(count, { one: 'Ereignis', other: 'Ereignisse' })} ${name} gelöscht.`,
  reservedText: 'Everpost zeichnet es auf; es lässt sich hier nicht löschen.',
  fields: 'Felder',
  field: 'Feld',
  type: 'Typ',
  fieldTypes: { string: 'Text', number: 'Zahl', boolean: 'Ja oder nein', date: 'Datum' },
  standard: 'Standard',
  coverage: 'Abdeckung',
  coverageText: (share: string) => `${share} der Kontakte haben es`,
  noFieldMatch: 'Kein passendes Feld',
  values: 'Werte',
  valuesText: (count: number, limit: number) =>
    count < limit
      ? `${plural(count, { one: 'verschiedener Wert', other: 'verschiedene Werte' })}.`
      : `Die ersten ${number(limit)} verschiedenen Werte.`,
  noValues: 'Kein Kontakt hat einen Wert.',
  contacts: 'Kontakte damit',
  deleteFieldTitle: (name: string) => `Feld ${name} löschen?`,
  deleteFieldText: (count: number) =>
    `Es wird aus ${plural(count, { one: 'Kontakt', other: 'Kontakten' })} entfernt. Das lässt sich nicht rückgängig machen.`,
  fieldDeleted: (name: string, count: number) =>
    `Das Feld ${name} wurde aus ${plural(count, { one: 'Kontakt', other: 'Kontakten' })} entfernt.`,
};
