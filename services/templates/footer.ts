import { type Language, languageOf } from '../../platform/languages.ts';
import { hasOwnFooter } from '../../platform/mail-document/own-footer.ts';
import { escapeHtml } from '../../platform/templates/language/escape.ts';

interface FooterTexts {
  why: string;
  /** With the name of the topic. */
  whyTopic: string;
  unsubscribe: string;
  unsubscribeAll: string;
  manage: string;
}

const texts: Record<Language, FooterTexts> = {
  en: {
    why: 'You receive this e-mail because you are subscribed.',
    whyTopic: 'You receive this e-mail because you are subscribed to “{topic}”.',
    unsubscribe: 'Unsubscribe',
    unsubscribeAll: 'Unsubscribe from all e-mails',
    manage: 'Manage your subscription',
  },
  de: {
    why: 'Sie erhalten diese E-Mail, weil Sie angemeldet sind.',
    whyTopic: 'Sie erhalten diese E-Mail, weil Sie „{topic}“ abonniert haben.',
    unsubscribe: 'Abmelden',
    unsubscribeAll: 'Alle E-Mails abbestellen',
    manage: 'Anmeldung verwalten',
  },
  fr: {
    why: 'Vous recevez cet e-mail parce que vous êtes abonné.',
    whyTopic: 'Vous recevez cet e-mail parce que vous êtes abonné à « {topic} ».',
    unsubscribe: 'Se désabonner',
    unsubscribeAll: 'Se désabonner de tous les e-mails',
    manage: 'Gérer votre abonnement',
  },
  es: {
    why: 'Recibe este correo porque está suscrito.',
    whyTopic: 'Recibe este correo porque está suscrito a «{topic}».',
    unsubscribe: 'Cancelar la suscripción',
    unsubscribeAll: 'Cancelar la suscripción a todos los correos',
    manage: 'Gestionar su suscripción',
  },
  nl: {
    why: 'U ontvangt deze e-mail omdat u bent ingeschreven.',
    whyTopic: 'U ontvangt deze e-mail omdat u bent ingeschreven voor ‘{topic}’.',
    unsubscribe: 'Uitschrijven',
    unsubscribeAll: 'Uitschrijven voor alle e-mails',
    manage: 'Inschrijving beheren',
  },
  pt: {
    why: 'Recebe este e-mail porque está inscrito.',
    whyTopic: 'Recebe este e-mail porque está inscrito em «{topic}».',
    unsubscribe: 'Cancelar a inscrição',
    unsubscribeAll: 'Cancelar todos os e-mails',
    manage: 'Gerir a inscrição',
  },
  it: {
    why: 'Riceve questa e-mail perché è iscritto.',
    whyTopic: 'Riceve questa e-mail perché è iscritto a «{topic}».',
    unsubscribe: 'Annulla iscrizione',
    unsubscribeAll: 'Annulla l’iscrizione a tutte le e-mail',
    manage: "Gestisci l'iscrizione",
  },
};

const style = 'margin:24px 0 0;font:12px/1.5 Arial,sans-serif;color:#666;text-align:center';

/** Documents of the editor have dark colors of their own, also for this class. */
const DARK_STYLE =
  '<style>@media (prefers-color-scheme:dark){.ep-footer,.ep-footer a{color:#9ca3af!important}}</style>';
/** Bounded, so that a hostile body costs no time. */
const IS_DARK = /color-scheme["'\s:]{1,20}(?:content\s{0,5}=\s{0,5}["']?)?[^"';}<>]{0,40}\bdark\b/i;

/**
 * Returns the footer of MARKETING mail as a template, which is rendered with the mail. In the contact's language if
 * available, else in the project's, else in English. Empty for a body that has a footer. With the name of a topic, it
 * has a link for the topic and one for all email.
 */
export function footerFor(locale: unknown, projectLanguage: string, body = '', topic?: string): string {
  const { isOwn, needsDarkStyle } = bodyFacts(body);
  if (isOwn) return '';
  const language = languageOf(locale, projectLanguage);
  const { why, whyTopic, unsubscribe, unsubscribeAll, manage } = texts[language];
  return (
    (needsDarkStyle ? DARK_STYLE : '') +
    `<p lang="${language}" class="ep-footer" style="${style}">` +
    `${topic === undefined ? why : whyTopic.replace('{topic}', () => literal(topic))}<br>` +
    `<a href="{{ unsubscribeUrl }}" style="color:#666">${unsubscribe}</a> · ` +
    // Not a separate variable: the footer of a campaign has no more values per recipient than without a topic.
    (topic === undefined ? '' : `<a href="{{ unsubscribeUrl }}?all=1" style="color:#666">${unsubscribeAll}</a> · `) +
    `<a href="{{ manageUrl }}" style="color:#666">${manage}</a></p>`
  );
}

/** A text that the template shows as it is, so that all recipients share the template. */
const literal = (text: string): string => escapeHtml(text).replaceAll('{', '&#123;').replaceAll('}', '&#125;');

interface BodyFacts {
  body: string;
  isOwn: boolean;
  /** It has dark colors, and none for our footer. */
  needsDarkStyle: boolean;
}

/** Of the last body: a campaign asks for the same one for each recipient. */
let last: BodyFacts = { body: '', isOwn: false, needsDarkStyle: false };

function bodyFacts(body: string): BodyFacts {
  if (body !== last.body)
    last = { body, isOwn: hasOwnFooter(body), needsDarkStyle: !body.includes('.ep-footer') && IS_DARK.test(body) };
  return last;
}
