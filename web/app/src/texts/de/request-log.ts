import type { Texts } from '../index.ts';

export const requestLog: Texts['requestLog'] = {
  kind: 'Welche Anfragen',
  failed: 'Fehlgeschlagen',
  successful: 'Erfolgreich',
  record: 'Erfolgreiche Anfragen protokollieren',
  recordText: 'Die der Schlüssel, ohne Inhalte; die letzten 1.000.',
  none: 'Keine erfolgreiche Anfrage ist protokolliert',
  noneText: 'Schalten Sie „Erfolgreiche Anfragen protokollieren“ ein, um sie ab dann aufzuzeichnen.',
};
