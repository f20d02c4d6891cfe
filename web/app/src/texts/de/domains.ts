import type { Texts } from '../index.ts';

export const domains: Texts['domains'] = {
  title: 'Domains',
  description: 'E-Mails werden nur von Domains gesendet, die nachweislich Ihnen gehören.',
  add: 'Domain hinzufügen',
  addTitle: 'Domain hinzufügen',
  domain: 'Domain',
  domainHint: 'Zum Beispiel example.com oder mail.example.com.',
  added: (domain: string) => `${domain} wurde hinzugefügt. Tragen Sie nun die Einträge im DNS ein.`,
  emptyTitle: 'Noch keine Domain',
  emptyText:
    'Fügen Sie die Domain Ihrer Absenderadresse hinzu. Wir zeigen Ihnen die nötigen DNS-Einträge und prüfen sie für Sie.',
  statuses: { PENDING: 'Wartet auf DNS', VERIFIED: 'Bestätigt' },
  recordsText:
    'Tragen Sie diese bei Ihrem DNS-Anbieter ein. Bis eine Änderung sichtbar ist, kann eine Stunde vergehen.',
  purposes: {
    DKIM: 'Signatur (DKIM)',
    SPF: 'Absenderrichtlinie (SPF)',
    BOUNCE: 'Unzustellbare E-Mails',
    DMARC: 'Richtlinie (DMARC)',
  },
  recordStatuses: { FOUND: 'Gefunden', MISSING: 'Fehlt', MISMATCH: 'Weicht ab' },
  required: 'Erforderlich',
  optional: 'Empfohlen',
  recordName: 'Name',
  recordValue: 'Wert',
  recordType: 'Typ',
  priority: 'Priorität',
  found: 'Stattdessen gefunden',
  nothingFound: 'nichts',
  zone: 'Zonendatei',
  showZone: 'Zonendatei anzeigen',
  hideZone: 'Zonendatei ausblenden',
  check: 'Jetzt prüfen',
  checked: (verified: boolean) =>
    verified
      ? 'Alle erforderlichen Einträge sind vorhanden.'
      : 'Es sind noch nicht alle erforderlichen Einträge vorhanden.',
  lastChecked: 'Zuletzt geprüft',
  watching: 'Wird alle paar Minuten erneut geprüft; diese Seite aktualisiert sich selbst.',
  conflict: 'Ein anderes Projekt hat diese Domain bestätigt. Ihre kann bestätigt werden, sobald sie dort entfernt ist.',
  managed: 'Von dieser Installation eingerichtet; Sie müssen nichts tun.',
  removeTitle: (domain: string) => `${domain} entfernen?`,
  removeText: (domain: string) =>
    `E-Mails von Adressen unter ${domain} werden ab jetzt abgelehnt, und wartende E-Mails werden zurückgehalten. Der DKIM-Schlüssel wird gelöscht: Fügen Sie die Domain wieder hinzu, braucht sie neue Einträge.`,
  remove: 'Entfernen',
  removed: (domain: string) => `${domain} wurde entfernt.`,
};
