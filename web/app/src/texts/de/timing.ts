import { plural } from '../../format.ts';
import type { Texts } from '../index.ts';

export const timing: Texts['timing'] = {
  byClocks: 'Zu einer Uhrzeit am Ort jeder Person',
  sendAtHint: 'In der Zeitzone jeder Person: dem Feld timezone des Kontakts, sonst der Zeitzone des Projekts.',
  sendAtNeeded: 'Wählen Sie einen Zeitpunkt, der irgendwo noch bevorsteht.',
  late: 'Wo dieser Zeitpunkt schon vorbei ist',
  lateRules: {
    NOW: 'Sofort senden',
    NEXT_DAY: 'Am nächsten Tag um diese Uhrzeit senden',
    SKIP: 'Diese Personen überspringen',
  },
  zones: 'Wann die Personen sie erhalten',
  zone: 'Zeitzone',
  people: 'Personen',
  yourTime: 'In Ihrer Zeit',
  past: 'vorbei',
  span: (first, last) => (first === last ? `Beginnt ${first}.` : `Beginnt ${first}, endet ${last}.`),
  lateCount: (count) => `Für ${plural(count, { one: 'Person', other: 'Personen' })} ist dieser Zeitpunkt schon vorbei.`,
  moreZones: (zones, people) =>
    `Und ${plural(zones, { one: 'Zeitzone', other: 'Zeitzonen' })} mit ${plural(people, { one: 'Person', other: 'Personen' })}.`,
  withoutTimezone: (count) =>
    `${plural(count, { one: 'Person hat', other: 'Personen haben' })} keine Zeitzone und zählen bei der des Projekts.`,
  noRecipients: 'Es gibt noch keine Empfänger.',
  atTheirClock: (time) => `${time}, am Ort jeder Person`,
  startsByClocks: (time) => `Jede Person erhält sie am eigenen Ort um ${time}`,
  firstPlace: (time) => `Wer sie erhält, entscheidet sich ${time}, wenn der erste Ort der Erde diese Uhrzeit erreicht.`,
  sendText: (name, time) =>
    `${name} geht um ${time} am Ort jeder Person hinaus. Sie können jederzeit anhalten oder den Rest abbrechen.`,
  until: (time) => `bis ${time}`,
};
