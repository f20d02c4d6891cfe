import type { Texts } from '../index.ts';
import { auditActionNames } from './audit-actions.ts';

/** Of the audit log. */
export const audit: Texts['audit'] = {
  title: 'Prüfprotokoll',
  description: 'Wer in diesem Projekt was getan hat, 400 Tage lang.',
  onlyAdmins: 'Nur Verwalter und Inhaber dieses Projekts können das Prüfprotokoll lesen.',
  actor: 'Wer',
  actors: { USER: 'Personen', KEY: 'API-Schlüssel', SYSTEM: 'Das System' },
  anyActor: 'Alle',
  action: 'Vorgang',
  anyAction: 'Jeder Vorgang',
  actions: auditActionNames,
  target: 'Was',
  when: 'Wann',
  from: 'Von Tag',
  to: 'Bis Tag',
  changes: 'Änderungen',
  changed: 'geändert',
  system: 'Das System',
  deletedUser: '(gelöschtes Konto)',
  deletedKey: '(widerrufener Schlüssel)',
  ip: 'von',
  empty: 'Noch wurde nichts aufgezeichnet.',
  noMatch: 'Kein Eintrag passt',
};
