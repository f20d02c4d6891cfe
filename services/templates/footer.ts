import { type Language, languageOf } from '../../platform/languages.ts';

const texts: Record<Language, { why: string; unsubscribe: string; manage: string }> = {
  en: {
    why: 'You receive this e-mail because you are subscribed.',
    unsubscribe: 'Unsubscribe',
    manage: 'Manage your subscription',
  },
  de: {
    why: 'Sie erhalten diese E-Mail, weil Sie angemeldet sind.',
    unsubscribe: 'Abmelden',
    manage: 'Anmeldung verwalten',
  },
  fr: {
    why: 'Vous recevez cet e-mail parce que vous êtes abonné.',
    unsubscribe: 'Se désabonner',
    manage: 'Gérer votre abonnement',
  },
  es: {
    why: 'Recibe este correo porque está suscrito.',
    unsubscribe: 'Cancelar la suscripción',
    manage: 'Gestionar su suscripción',
  },
  nl: {
    why: 'U ontvangt deze e-mail omdat u bent ingeschreven.',
    unsubscribe: 'Uitschrijven',
    manage: 'Inschrijving beheren',
  },
  pt: {
    why: 'Recebe este e-mail porque está inscrito.',
    unsubscribe: 'Cancelar a inscrição',
    manage: 'Gerir a inscrição',
  },
  it: {
    why: 'Riceve questa e-mail perché è iscritto.',
    unsubscribe: 'Annulla iscrizione',
    manage: "Gestisci l'iscrizione",
  },
};

const style = 'margin:24px 0 0;font:12px/1.5 Arial,sans-serif;color:#666;text-align:center';

/**
 * Returns the footer of MARKETING mail as a template, which is rendered with the mail. In the contact's language if
 * available, else in the project's, else in English.
 */
export function footerFor(locale: unknown, projectLanguage: string): string {
  const language = languageOf(locale, projectLanguage);
  const { why, unsubscribe, manage } = texts[language];
  return (
    `<p lang="${language}" style="${style}">${why}<br>` +
    `<a href="{{ unsubscribeUrl }}" style="color:#666">${unsubscribe}</a> · ` +
    `<a href="{{ manageUrl }}" style="color:#666">${manage}</a></p>`
  );
}
