import type { Texts } from '../index.ts';

export const testMail: Texts['testMail'] = {
  text: 'Jede Adresse erhält die E-Mail einmal, als Test gekennzeichnet. Öffnungen und Klicks werden nicht gezählt.',
  addressNeeded: 'Geben Sie mindestens eine Adresse ein.',
  addressesHint: (most) => `Bis zu ${most} Adressen. Drücken Sie nach jeder die Eingabetaste.`,
  withDataOf: 'Mit den Daten von',
  withDataHint: 'Füllt die Variablen aus. Leer: mit den Daten des jeweiligen Empfängers.',
  sent: (emails) => `Test-E-Mail gesendet an ${emails}.`,
  withoutFallback: 'Variablen ohne Ersatzwert sind bei manchen Empfängern leer',
  refused: (email, message) => `${email}: ${message}`,
};
