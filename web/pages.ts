import nunjucks from 'nunjucks';

// Pages for recipients of mail. They need no script and load no other resources.

const views = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), { autoescape: true });

/**
 * Headers of every page. `same-origin` keeps the token in the address from other sites, but lets our forms send their
 * origin, which the check for cross-site forms needs.
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
  /** Confirms the change just made. */
  done: boolean;
  /** The button's target relative to the page, since a path prefix may precede ours. */
  action: string;
  button: string;
}

/** A field for a password, or for a code of two-factor authentication. */
export type AccountField =
  | { name: 'code'; label: string }
  | {
      name: 'password' | 'newPassword';
      label: string;
      /** A new password; its length is checked. */
      isNew: boolean;
    };

export interface AccountForm {
  button: string;
  /** Where it is sent, relative to the page; to the page itself by default. */
  action?: string;
  fields?: AccountField[];
}

export interface AccountPage extends Page {
  /** Alternatives, of which the user submits one. */
  forms: AccountForm[];
  /** Links to sign in with a provider. */
  links?: { href: string; text: string }[];
  /** The error of the last submission. */
  formError?: string;
}

export const accountPage = (page: AccountPage): string => views.render('account.njk', page);

export const noticePage = (page: Page & { link?: { href: string; text: string } }): string =>
  views.render('notice.njk', page);

export const subscriptionPage = (page: SubscriptionPage): string => views.render('subscription.njk', page);
