import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import nunjucks from 'nunjucks';

// Pages for recipients of mail. They need no script and load no other resources.

const views = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), { autoescape: true });

/** Escapes a text and sets what is in backticks as code. */
views.addFilter('withCode', (text: string) => {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  return new nunjucks.runtime.SafeString(escaped.replace(/`([^`]+)`/g, '<code>$1</code>'));
});

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

const partOf = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
/** Inlined into every page of the API reference; its policy names their hashes. */
const [referenceStyle, referenceScript] = [partOf('reference.css'), partOf('reference.js')];

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const referenceHeaders: Record<string, string> = {
  ...pageHeaders,
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src ${sha256(referenceScript)}`,
    `style-src ${sha256(referenceStyle)}`,
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Cache-Control': 'no-cache',
};

/** Shows all operations, or those of one group; `reference` comes from `api/http/reference.ts`. */
export const referencePage = (reference: object, group?: object): string =>
  views.render('reference.njk', { ...reference, group, style: referenceStyle, script: referenceScript });
