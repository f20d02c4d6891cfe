import { LRUCache } from 'lru-cache';
import type { MailSources } from './mail.ts';
import { oneLine } from './one-line.ts';
import type { Rendered } from './protocol.ts';
import type { SkeletonMail } from './skeleton.ts';

const CACHE_CHARACTERS = 8 * 1024 * 1024;

interface CachedText {
  text: string;
  skeletonMail?: SkeletonMail;
}

/**
 * Caches the text parts of mails without template tags, which many transactional mails are. The text part follows from
 * the HTML alone, so a cached mail needs no renderer process.
 */
export class FixedMails {
  private readonly texts = new LRUCache<string, CachedText>({
    max: 1000,
    maxSize: CACHE_CHARACTERS,
    sizeCalculation: ({ text }, html) => text.length + html.length + 100,
  });

  /** Returns undefined for a mail that must be rendered. */
  find({ subject, html }: MailSources): Rendered | undefined {
    const cached = isFixed(html) && isFixed(subject) ? this.texts.get(html) : undefined;
    return cached && { ok: true, subject: oneLine(subject), html, ...cached };
  }

  store({ html }: MailSources, result: Rendered | undefined): void {
    if (!isFixed(html) || !result?.ok || result.html !== html) return;
    const { text, skeletonMail } = result;
    this.texts.set(html, { text, ...(skeletonMail && { skeletonMail }) });
  }
}

/** Returns the final subject of a source without template tags, and undefined for one with tags. */
export const fixedSubject = (source: string): string | undefined => (isFixed(source) ? oneLine(source) : undefined);

const isFixed = (source: string): boolean => !source.includes('{{') && !source.includes('{%') && !source.includes('{#');
