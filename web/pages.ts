import nunjucks from 'nunjucks';

// Small pages for people who come from a mail. They need no script and load nothing.

const views = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), { autoescape: true });

/**
 * Of every page. Its address holds a token, so it is told to nobody else (but to ourselves, since a form that says
 * nothing of where it stands would look like another site's).
 */
export const pageHeaders: Record<string, string> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
  'Cache-Control': 'no-store',
};

interface Page {
  language: string;
  title: string;
  text: string;
}

export interface SubscriptionPage extends Page {
  /** Says what has just been done. */
  done: boolean;
  /** Where its button leads, as seen from the page: there may be a path before ours. */
  action: string;
  button: string;
}

export interface AccountForm {
  button: string;
  /** Asks for a password. */
  field?: {
    name: 'password' | 'newPassword';
    label: string;
    /** A new one; its length is checked. */
    isNew: boolean;
  };
}

export interface AccountPage extends Page {
  /** Ways to go on; one of them is chosen. */
  forms: AccountForm[];
  /** Ways to sign in elsewhere. */
  links?: { href: string; text: string }[];
  /** What was wrong with the last try. */
  fault?: string;
}

export const accountPage = (page: AccountPage): string => views.render('account.njk', page);

export const noticePage = (page: Page): string => views.render('notice.njk', page);

export const subscriptionPage = (page: SubscriptionPage): string => views.render('subscription.njk', page);

/** Every route of the API; `docs` is what `api/http/docs.ts` makes of the OpenAPI document. */
export const docsPage = (docs: object): string => views.render('docs.njk', docs);
