import type { Language } from '../../platform/languages.ts';

interface Texts {
  /** `{{ senderName }}` is a variable. */
  subject: string;
  intro: string;
  button: string;
  ignore: string;
}

/** The email with the link to a contact's preferences. */
const texts: Record<Language, Texts> = {
  en: {
    subject: 'Your e-mail preferences: {{ senderName }}',
    intro: 'You asked for the link to your e-mail preferences at {{ senderName }}.',
    button: 'Manage your e-mail preferences',
    ignore: 'If you did not ask for it, ignore this e-mail: nothing has changed.',
  },
  de: {
    subject: 'Ihre E-Mail-Einstellungen: {{ senderName }}',
    intro: 'Sie haben den Link zu Ihren E-Mail-Einstellungen bei {{ senderName }} angefordert.',
    button: 'E-Mail-Einstellungen verwalten',
    ignore: 'Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail: Es hat sich nichts geändert.',
  },
  fr: {
    subject: 'Vos préférences d’e-mail : {{ senderName }}',
    intro: 'Vous avez demandé le lien vers vos préférences d’e-mail chez {{ senderName }}.',
    button: 'Gérer vos préférences d’e-mail',
    ignore: 'Si vous n’avez rien demandé, ignorez cet e-mail : rien n’a changé.',
  },
  es: {
    subject: 'Sus preferencias de correo: {{ senderName }}',
    intro: 'Ha pedido el enlace a sus preferencias de correo en {{ senderName }}.',
    button: 'Gestionar sus preferencias de correo',
    ignore: 'Si no lo ha pedido, ignore este correo: no ha cambiado nada.',
  },
  nl: {
    subject: 'Uw e-mailvoorkeuren: {{ senderName }}',
    intro: 'U hebt de link naar uw e-mailvoorkeuren bij {{ senderName }} aangevraagd.',
    button: 'E-mailvoorkeuren beheren',
    ignore: 'Als u dit niet hebt aangevraagd, negeer dan deze e-mail: er is niets veranderd.',
  },
  pt: {
    subject: 'As suas preferências de e-mail: {{ senderName }}',
    intro: 'Pediu a ligação para as suas preferências de e-mail em {{ senderName }}.',
    button: 'Gerir as preferências de e-mail',
    ignore: 'Se não a pediu, ignore este e-mail: nada foi alterado.',
  },
  it: {
    subject: 'Le sue preferenze e-mail: {{ senderName }}',
    intro: 'Ha richiesto il link alle sue preferenze e-mail presso {{ senderName }}.',
    button: 'Gestisci le preferenze e-mail',
    ignore: 'Se non lo ha richiesto, ignori questa e-mail: non è cambiato nulla.',
  },
};

export function preferencesEmail(language: Language): { subject: string; html: string } {
  const { subject, intro, button, ignore } = texts[language];
  const html =
    `<div lang="${language}" style="font:16px/1.5 Arial,sans-serif"><p>${intro}</p>` +
    `<p><a href="{{ manageUrl }}">${button}</a></p><p style="color:#666">${ignore}</p></div>`;
  return { subject, html };
}
