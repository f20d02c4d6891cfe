export interface ProofTexts {
  title: string;
  intro: string;
  state: string;
  records: string;
  none: string;
  cut: string;
  allMail: string;
  snoozedUntil: string;
  subscribed: string;
  unsubscribed: string;
  pending: string;
  byDefault: string;
  time: string;
  subject: string;
  action: string;
  method: string;
  address: string;
  ip: string;
  program: string;
  page: string;
  email: string;
  actor: string;
  request: string;
  evidence: string;
}

/** Texts of the page that proves consent. */
export const proofTexts: Record<'en' | 'de', ProofTexts> = {
  en: {
    title: 'Consents of {address}',
    intro: 'Recorded by {project}. Contact {id}, created {created}. This page was made {now}. All times are UTC.',
    state: 'Current state',
    records: 'Records',
    none: 'There is no consent record of this contact.',
    cut: 'Only the first records are shown; GET /contacts/:id/consents returns all of them.',
    allMail: 'All email',
    snoozedUntil: 'Snoozed until',
    subscribed: 'subscribed',
    unsubscribed: 'unsubscribed',
    pending: 'waits for a confirmation',
    byDefault: 'by default, no choice',
    time: 'Time',
    subject: 'About',
    action: 'Action',
    method: 'Method',
    address: 'Address',
    ip: 'IP address',
    program: 'Program',
    page: 'Page',
    email: 'Email',
    actor: 'By',
    request: 'Request',
    evidence: 'Evidence',
  },
  de: {
    title: 'Einwilligungen von {address}',
    intro:
      'Aufgezeichnet von {project}. Kontakt {id}, angelegt {created}. Diese Seite wurde {now} erstellt. Alle Zeiten in UTC.',
    state: 'Gegenwärtiger Stand',
    records: 'Nachweise',
    none: 'Zu diesem Kontakt gibt es keinen Nachweis.',
    cut: 'Nur die ersten Nachweise werden gezeigt; GET /contacts/:id/consents liefert alle.',
    allMail: 'Alle E-Mails',
    snoozedUntil: 'Pause bis',
    subscribed: 'abonniert',
    unsubscribed: 'nicht abonniert',
    pending: 'wartet auf Bestätigung',
    byDefault: 'Voreinstellung, keine eigene Wahl',
    time: 'Zeit',
    subject: 'Betrifft',
    action: 'Vorgang',
    method: 'Weg',
    address: 'Adresse',
    ip: 'IP-Adresse',
    program: 'Programm',
    page: 'Seite',
    email: 'E-Mail',
    actor: 'Durch',
    request: 'Anfrage',
    evidence: 'Beleg',
  },
};
