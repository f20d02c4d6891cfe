import type { IncomingHttpHeaders } from 'node:http';
import { type AccountLanguage, accountLanguages, spokenLanguage } from '../../platform/languages.ts';
import { formTexts } from '../../web/form-texts.ts';
import { noticePage } from '../../web/pages.ts';

interface Texts {
  titles: Partial<Record<number, string>>;
  refused: string;
  failed: string;
  toStart: string;
  request: string;
}

const texts: Record<AccountLanguage, Texts> = {
  en: {
    titles: {
      401: 'Sign in first',
      403: 'You have no access to this',
      404: 'There is nothing here',
      410: 'This no longer exists',
      429: 'Too many requests',
    },
    refused: 'This does not work',
    failed: 'Something went wrong on our side',
    toStart: 'Go to the start page',
    request: 'Request ID',
  },
  de: {
    titles: {
      401: 'Melden Sie sich zuerst an',
      403: 'Sie haben hierauf keinen Zugriff',
      404: 'Hier ist nichts',
      410: 'Das gibt es nicht mehr',
      429: 'Zu viele Anfragen',
    },
    refused: 'Das geht so nicht',
    failed: 'Auf unserer Seite ist etwas schiefgegangen',
    toStart: 'Zur Startseite',
    request: 'Nummer der Anfrage',
  },
};

/**
 * Whether a browser opens the address, rather than a script of a page or a program. Only browsers accept XHTML without
 * being asked; `Sec-Fetch-Mode` is missing where a page is not served over HTTPS.
 */
export const isNavigation = ({ accept = '', 'sec-fetch-mode': mode = 'navigate' }: IncomingHttpHeaders): boolean =>
  mode === 'navigate' && accept.includes('text/html') && accept.includes('application/xhtml+xml');

/** The page of a failed request, in place of its JSON. */
export function presentErrorPage(
  { status, message }: { status: number; message: string },
  { 'accept-language': spoken }: IncomingHttpHeaders,
  requestId: string,
) {
  const language = accountLanguages.find((name) => name === spokenLanguage(spoken)) ?? 'en';
  const { titles, refused, failed, toStart, request } = texts[language];
  return noticePage({
    language,
    title: titles[status] ?? (status >= 500 ? failed : refused),
    text: message,
    detail: `${request}: ${requestId}`,
    link: { href: '/app/', text: toStart },
  });
}

/** The same for a visitor of a form, in any of our languages and without a way into the dashboard. */
export function presentFormError(
  { status, fields }: { status: number; fields: string[] },
  { 'accept-language': spoken }: IncomingHttpHeaders,
) {
  const language = spokenLanguage(spoken);
  const { closed, closedText, notSent, invalid, back, tooMany, failed } = formTexts[language];
  if (status === 404) return noticePage({ language, title: closed, text: closedText });
  const text = status === 429 ? tooMany : status >= 500 ? failed : `${invalid} ${back}`;
  return noticePage({ language, title: notSent, text, ...(fields.length > 0 && { detail: fields.join(', ') }) });
}
