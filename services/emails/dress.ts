import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { replaceLinks } from '../../platform/mime/html-links.ts';
import { bodyEnd } from '../../platform/templates/index.ts';
import type { MailLinks } from './links.ts';
import { EMAIL_ID_HEADER } from './return-token.ts';
import type { TrackingUrls as CountedMail } from './tracked-links.ts';

/** What determines whether a mail is tracked. */
export interface TrackedMail {
  id: string;
  projectId: string;
  type: TemplateType;
  /** The project's setting; null means ENABLED. */
  tracking: Project['tracking'] | null;
  /** Set for mail that is never tracked, such as a campaign's test mail. */
  untracked?: boolean | undefined;
}

/** What determines the headers that are added to a mail. */
export interface DressedMail extends TrackedMail {
  from: string;
  /** The caller's headers. */
  headers: Record<string, string> | null;
  /** The contact's link; undefined when the mail does not need it. */
  unsubscribeUrl: string | undefined;
}

/** Nobody follows more, and a hostile mail must not cost more. */
const MOST_LINKS = 300;

/** The tracking URLs of one mail. */
export class Tracks {
  private readonly mail: CountedMail;
  private left = MOST_LINKS;

  constructor(mail: CountedMail) {
    this.mail = mail;
  }

  /** The address that a link is given instead of its own; undefined leaves it as it is. To be asked in their order. */
  follow(target: string): string | undefined {
    const url = this.left > 0 ? this.mail.clickUrl(target) : undefined;
    if (url !== undefined) this.left--;
    return url;
  }

  /** The URL between the two pieces of `PIXEL`. */
  get openUrl(): string {
    return this.mail.openUrl;
  }
}

export const PIXEL = ['<img src="', '" width="1" height="1" alt="" style="width:1px;height:1px;border:0">'] as const;

/** Returns undefined for a mail that is not tracked. */
export function tracksOf(links: MailLinks, mail: TrackedMail): Tracks | undefined {
  return isTracked(mail) ? new Tracks(links.tracked.of(mail)) : undefined;
}

/** Adds tracking to a rendered body: rewritten links and the pixel. */
export function withTracks(html: string, tracks: Tracks | undefined): string {
  if (!tracks) return html;
  const followed = replaceLinks(html, (target) => tracks.follow(target));
  const end = bodyEnd(followed);
  return followed.slice(0, end) + PIXEL.join(tracks.openUrl) + followed.slice(end);
}

export const dressHtml = (links: MailLinks, mail: DressedMail, html: string): string =>
  withTracks(html, tracksOf(links, mail));

const isTracked = ({ tracking, type, untracked }: TrackedMail): boolean =>
  !untracked && tracking !== 'DISABLED' && (tracking !== 'MARKETING_ONLY' || type === 'MARKETING');

export interface DressedHead {
  headers: Record<string, string>;
  envelopeFrom: string | undefined;
}

/** Returns our headers, which the caller's override, and the envelope sender. */
export function dressHeaders(links: MailLinks, mail: DressedMail, html: string): DressedHead {
  const { mark, envelopeFrom } = links.signedIdOf(mail);
  const headers: Record<string, string> = { [EMAIL_ID_HEADER]: mark };
  // The two mean something together only.
  const owned = Object.keys(mail.headers ?? {}).some((name) => /^list-unsubscribe(-post)?$/i.test(name));
  if (!owned) Object.assign(headers, unsubscribing(mail, html));
  Object.assign(headers, mail.headers);
  return { headers, envelopeFrom };
}

/** RFC 8058: one POST unsubscribes. For MARKETING mail, and for any that has the contact's link in its body. */
function unsubscribing({ type, unsubscribeUrl: url }: DressedMail, html: string): Record<string, string> {
  if (url === undefined || (type !== 'MARKETING' && !html.includes(url))) return {};
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

interface BulkMail {
  projectId: string;
  campaignId: string;
  from: string;
}

/** Headers of bulk mail: suppress automatic replies, and let mailbox providers tell senders apart. */
export const bulkHeaders = ({ projectId, campaignId, from }: BulkMail): Record<string, string> => ({
  Precedence: 'bulk',
  'X-Auto-Response-Suppress': 'OOF, AutoReply',
  'List-Id': `<${projectId}.${from.slice(from.lastIndexOf('@') + 1)}>`,
  'Feedback-ID': `${campaignId}:${projectId}:campaign:everpost`,
});
