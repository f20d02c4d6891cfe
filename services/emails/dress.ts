import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { replaceLinks } from '../../platform/html-links.ts';
import { bodyEnd } from '../../platform/renderer/index.ts';
import type { MailLinks } from './links.ts';
import { MARK_HEADER } from './return-token.ts';
import type { TrackedMail as CountedMail } from './tracked-links.ts';

/** What decides over whether it counts who reads a mail. */
export interface TrackedMail {
  id: string;
  projectId: string;
  type: TemplateType;
  /** Of the project; null counts as ENABLED. */
  tracking: Project['tracking'] | null;
  /** A mail that nobody shall be counted for, such as a test of a campaign. */
  untracked?: boolean | undefined;
}

/** What decides over what we add to a mail ourselves. */
export interface DressedMail extends TrackedMail {
  from: string;
  /** The caller's own. */
  headers: Record<string, string> | null;
  /** The contact's; undefined where nothing in the mail asks for it. */
  unsubscribeUrl: string | undefined;
}

/** Nobody follows more, and a hostile mail must not cost more. */
const MOST_LINKS = 300;

/** What tells us of a mail that was opened, and of its links that were followed. */
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

  /** Stands between the two pieces of `PIXEL`. */
  get openUrl(): string {
    return this.mail.openUrl;
  }
}

export const PIXEL = ['<img src="', '" width="1" height="1" alt="" style="width:1px;height:1px;border:0">'] as const;

/** Undefined for a mail that nobody shall be counted for. */
export function tracksOf(links: MailLinks, mail: TrackedMail): Tracks | undefined {
  return isTracked(mail) ? new Tracks(links.tracked.of(mail)) : undefined;
}

/** A rendered body as it goes out: with links that count, and a pixel that tells that it was opened. */
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

/** What the mail says of itself to programs: ours, unless the caller has said it. And whom it is returned to. */
export function dressHeaders(links: MailLinks, mail: DressedMail, html: string): DressedHead {
  const { mark, envelopeFrom } = links.marksOf(mail);
  const headers: Record<string, string> = { [MARK_HEADER]: mark };
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

/** Told to everybody at once: no vacation notice shall answer it, and mailbox providers can tell senders apart. */
export const bulkHeaders = ({ projectId, campaignId, from }: BulkMail): Record<string, string> => ({
  Precedence: 'bulk',
  'X-Auto-Response-Suppress': 'OOF, AutoReply',
  'List-Id': `<${projectId}.${from.slice(from.lastIndexOf('@') + 1)}>`,
  'Feedback-ID': `${campaignId}:${projectId}:campaign:everpost`,
});
