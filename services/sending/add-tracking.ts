import type { TemplateType } from '../../db/models/template.ts';
import { replaceLinks } from '../../platform/mime/html-links.ts';
import { bodyEnd } from '../../platform/templates/body-end.ts';
import type { MailLinks } from '../emails/links.ts';
import { EMAIL_ID_HEADER } from '../emails/return-token.ts';
import type { TrackingUrls } from '../emails/tracked-links.ts';
import { isTracked, type TrackingRule } from '../emails/tracking-rule.ts';

/** Bounds the cost of a hostile mail. */
const MAX_TRACKED_LINKS = 300;

/** The tracking URLs of one mail. */
export class MailTracking {
  private readonly urls: TrackingUrls;
  private left = MAX_TRACKED_LINKS;

  constructor(urls: TrackingUrls) {
    this.urls = urls;
  }

  /** Returns the URL that replaces a link, or undefined to leave it as it is. Call it in the order of the links. */
  clickUrl(target: string, index: number): string | undefined {
    const url = this.left > 0 ? this.urls.clickUrl(target, index) : undefined;
    if (url !== undefined) this.left--;
    return url;
  }

  /** The URL between the two pieces of `PIXEL`. */
  get openUrl(): string {
    return this.urls.openUrl;
  }
}

export const PIXEL = ['<img src="', '" width="1" height="1" alt="" style="width:1px;height:1px;border:0">'] as const;

/** Returns undefined for a mail that is not tracked. */
export const trackingOf = (
  links: MailLinks,
  rule: TrackingRule,
  mail: { id: string; projectId: string },
): MailTracking | undefined => (isTracked(rule) ? new MailTracking(links.tracked.of(mail)) : undefined);

/** Adds tracking to a rendered body: rewritten links and the pixel. */
export function addTracking(html: string, tracking: MailTracking | undefined): string {
  if (!tracking) return html;
  const rewritten = replaceLinks(html, (target, index) => tracking.clickUrl(target, index));
  const end = bodyEnd(rewritten);
  return rewritten.slice(0, end) + PIXEL.join(tracking.openUrl) + rewritten.slice(end);
}

/** What determines the header fields of one mail that we add. */
export interface HeadedMail {
  id: string;
  from: string;
  type: TemplateType;
  hasTopic?: boolean | undefined;
  /** The caller's headers, which replace ours. */
  headers?: Record<string, string> | null | undefined;
  /** The contact's link; undefined when the mail does not need it. */
  unsubscribeUrl?: string | undefined;
}

export interface OwnHead {
  headers: Record<string, string>;
  envelopeFrom: string | undefined;
}

/** Returns the mail's own headers and its envelope sender. Calls `html` only where the body decides. */
export function ownHead(links: MailLinks, mail: HeadedMail, html: () => string): OwnHead {
  const { mark, envelopeFrom } = links.signedIdOf(mail);
  const headers: Record<string, string> = { [EMAIL_ID_HEADER]: mark };
  // The two mean something together only.
  const hasOwn = Object.keys(mail.headers ?? {}).some((name) => /^list-unsubscribe(-post)?$/i.test(name));
  if (!hasOwn) Object.assign(headers, unsubscribeHeaders(mail, html));
  Object.assign(headers, mail.headers);
  return { headers, envelopeFrom };
}

/** RFC 8058: one POST unsubscribes. For MARKETING mail, mail with a topic, and any that has the contact's link in its body. */
function unsubscribeHeaders(mail: HeadedMail, html: () => string): Record<string, string> {
  const { type, hasTopic, unsubscribeUrl: url } = mail;
  if (url === undefined || (type !== 'MARKETING' && !hasTopic && !html().includes(url))) return {};
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}
