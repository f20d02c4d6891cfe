import type { Email } from '../../db/models/email.ts';
import type { Project } from '../../db/models/project.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { replaceLinks } from '../../platform/html-links.ts';
import type { MailLinks } from './links.ts';
import { MARK_HEADER } from './return-token.ts';

/** What decides over what we add to a mail ourselves. */
export interface DressedMail {
  id: string;
  projectId: string;
  sourceType: Email['sourceType'];
  campaignId: string | null;
  type: TemplateType;
  from: string;
  /** Of the project; null counts as ENABLED. */
  tracking: Project['tracking'] | null;
  /** A mail that nobody shall be counted for, such as a test of a campaign. */
  untracked?: boolean | undefined;
  /** The caller's own. */
  headers: Record<string, string> | null;
  /** The contact's. */
  unsubscribeUrl: string;
}

/** Nobody follows more, and a hostile mail must not cost more. */
const MOST_LINKS = 300;

/** A rendered body as it goes out: with links that count, and a pixel that tells that it was opened. */
export function dressHtml(links: MailLinks, mail: DressedMail, html: string): string {
  if (!isTracked(mail)) return html;
  const { openUrl, clickUrl } = links.tracked.of(mail);
  let left = MOST_LINKS;
  const followed = replaceLinks(html, (target) => {
    const url = left > 0 ? clickUrl(target) : undefined;
    if (url !== undefined) left--;
    return url;
  });
  const pixel = `<img src="${openUrl}" width="1" height="1" alt="" style="width:1px;height:1px;border:0">`;
  const end = Math.max(followed.lastIndexOf('</body'), followed.lastIndexOf('</BODY'));
  return end === -1 ? followed + pixel : followed.slice(0, end) + pixel + followed.slice(end);
}

const isTracked = ({ tracking, type, untracked }: DressedMail): boolean =>
  !untracked && tracking !== 'DISABLED' && (tracking !== 'MARKETING_ONLY' || type === 'MARKETING');

export interface DressedHead {
  headers: Record<string, string>;
  envelopeFrom: string | undefined;
}

/** What the mail says of itself to programs: ours, unless the caller has said it. And whom it is returned to. */
export function dressHeaders(links: MailLinks, mail: DressedMail, html: string): DressedHead {
  const { mark, envelopeFrom } = links.marksOf(mail);
  const ours = { ...unsubscribing(mail, html), ...(mail.sourceType === 'CAMPAIGN' && bulk(mail)) };
  const given = Object.keys(mail.headers ?? {}).map((name) => name.toLowerCase());
  const headers: Record<string, string> = { [MARK_HEADER]: mark };
  for (const [name, value] of Object.entries(ours)) if (!given.includes(name.toLowerCase())) headers[name] = value;
  Object.assign(headers, mail.headers);
  return { headers, envelopeFrom };
}

/** RFC 8058: one POST unsubscribes. For MARKETING mail, and for any that has the contact's link in its body. */
function unsubscribing({ headers, type, unsubscribeUrl }: DressedMail, html: string): Record<string, string> {
  // The two mean something together only.
  const owned = Object.keys(headers ?? {}).some((name) => /^list-unsubscribe(-post)?$/i.test(name));
  if (owned) return {};
  if (type !== 'MARKETING' && !html.includes(unsubscribeUrl)) return {};
  return { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** Told to everybody at once: no vacation notice shall answer it, and mailbox providers can tell senders apart. */
const bulk = ({ projectId, campaignId, from }: DressedMail): Record<string, string> => ({
  Precedence: 'bulk',
  'X-Auto-Response-Suppress': 'OOF, AutoReply',
  'List-Id': `<${projectId}.${from.slice(from.lastIndexOf('@') + 1)}>`,
  'Feedback-ID': `${campaignId}:${projectId}:campaign:everpost`,
});
