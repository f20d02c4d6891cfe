import { randomBytes } from 'node:crypto';
import nunjucks from 'nunjucks';

// Pages for recipients of mail. They need no script and load nothing but the project's images.

const views = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), { autoescape: true });

/** A page, with the headers that its style needs. */
export interface RenderedPage {
  body: string;
  headers: Record<string, string>;
}

/** The look of the project that a page belongs to. Colors are #rrggbb. */
export interface PageBrand {
  name: string;
  logoUrl: string | null;
  colors: PageColors;
  darkColors: PageColors;
  /** Added to the style. */
  css?: string;
  imprint?: string;
  privacyUrl?: string | null;
  /** Where images of the project are. */
  imagesUrl?: string;
}

interface PageColors {
  button: string;
  buttonText: string;
  link: string;
}

export interface Page {
  language: string;
  title: string;
  /** Without one, the page looks like the web application. */
  brand?: PageBrand | undefined;
}

const NONCE_BYTES = 16;

/** What a page may beyond its style, its images and its own forms. */
export interface PagePolicy {
  /** Runs the script of the page, which talks to this installation. */
  script?: true;
  /** Origins that may frame it; `*` for all. */
  frameAncestors?: string[];
  /** Origins to which the answer to its form may lead. */
  formAction?: string[];
}

/** The nonce allows the style of this page, and no style that found its way into it. */
export function render<P extends { brand?: PageBrand | undefined }>(
  view: string,
  page: P,
  policy: PagePolicy = {},
): RenderedPage {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  return { body: views.render(view, { ...page, nonce }), headers: headersOf(nonce, page.brand, policy) };
}

/** Renders what is no whole page. */
export const renderPart = (view: string, values: object): string => views.render(view, values);

/** `same-origin` keeps the token in the address from other sites, but lets our forms send their origin, which is checked. */
function headersOf(
  nonce: string,
  brand: PageBrand | undefined,
  { script, frameAncestors = [], formAction = [] }: PagePolicy,
): Record<string, string> {
  const images = imagesOf(brand);
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(script ? [`script-src 'nonce-${nonce}'`, "connect-src 'self'"] : []),
    `form-action ${["'self'", ...formAction].join(' ')}`,
    `frame-ancestors ${frameAncestors.length > 0 ? frameAncestors.join(' ') : "'none'"}`,
    "base-uri 'none'",
    ...(images.length > 0 ? [`img-src ${images.join(' ')}`] : []),
  ].join('; ');
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'same-origin',
    ...(frameAncestors.length === 0 && { 'X-Frame-Options': 'DENY' }),
    'X-Robots-Tag': 'noindex',
    'Cache-Control': 'no-store',
  };
}

/** The project's own images; of a logo elsewhere, which only a brand kit has, the origin. */
function imagesOf(brand: PageBrand | undefined): string[] {
  if (!brand) return [];
  const { logoUrl, imagesUrl, css } = brand;
  const isOwn = logoUrl === null || (imagesUrl !== undefined && logoUrl.startsWith(imagesUrl));
  const origin = !isOwn && URL.canParse(logoUrl) ? new URL(logoUrl).origin : 'null';
  return [...(imagesUrl && (isOwn || css) ? [imagesUrl] : []), ...(origin === 'null' ? [] : [origin])];
}

/** A form with one button. Its target is relative to the page, since a path prefix may precede ours. */
export interface ButtonForm {
  /** Above the button. */
  text?: string | undefined;
  action: string;
  fields?: Record<string, string>;
  button: string;
  isSecondary?: boolean;
}

export interface SubscriptionPage extends Page {
  paragraphs: string[];
  /** The first paragraph confirms the change just made. */
  done: boolean;
  preferences?: PreferencesForm | undefined;
  forms: ButtonForm[];
  link?: { href: string; text: string } | undefined;
  privacyText: string;
}

export interface TopicChoice {
  key: string;
  /** What was shown: key, state and texts. */
  shown: string;
  name: string;
  description: string;
  consentText: string;
  hint: string | undefined;
  isJoined: boolean;
}

interface Select {
  label: string;
  name: string;
  /** The first one changes nothing. */
  options: { value: string; text: string }[];
}

export interface PreferencesForm {
  action: string;
  groups: { heading: string; hint?: string; topics: TopicChoice[] }[];
  selects: Select[];
  button: string;
}

/** A page on which a contact sees and changes what it receives. */
export const subscriptionPage = (page: SubscriptionPage): RenderedPage => render('subscription.njk', page);

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
  text: string;
  /** Alternatives, of which the user submits one. */
  forms: AccountForm[];
  /** Links to sign in with a provider. */
  links?: { href: string; text: string }[];
  /** The error of the last submission. */
  formError?: string;
}

export const accountPage = (page: AccountPage): RenderedPage => render('account.njk', page);

interface PreferencesRequestPage extends Page {
  text: string;
  /** Confirms that the form was received. */
  done: boolean;
  form?: { label: string; button: string };
  formError?: string;
  privacyText: string;
}

/** A page on which people ask for the link to their preferences. */
export const preferencesRequestPage = (page: PreferencesRequestPage): RenderedPage =>
  render('preferences-request.njk', page);

interface NoticePage extends Page {
  text: string;
  link?: { href: string; text: string };
  /** In small print, such as a number to report. */
  detail?: string;
}

export const noticePage = (page: NoticePage): RenderedPage => render('notice.njk', page);

export interface ProofPage {
  language: string;
  title: string;
  intro: string;
  stateHeading: string;
  states: [string, string][];
  recordsHeading: string;
  records: { rows: [string, string][]; text: string | null }[];
  /** Shown where there are no records. */
  empty: string;
  /** Says that records are missing. */
  cut?: string;
}

/** The consents of a contact, to print. */
export const proofPage = (page: ProofPage): RenderedPage =>
  render<ProofPage & { brand?: undefined }>('proof.njk', page);
