import { LRUCache } from 'lru-cache';
import { type MailSources, oneLine } from './mail.ts';
import type { Outlined } from './outline.ts';
import type { Rendered } from './protocol.ts';

const KEPT_CHARACTERS = 8 * 1024 * 1024;

interface Known {
  text: string;
  outlined?: Outlined;
}

/**
 * Mails that are no templates at all, as many transactional ones are that were rendered elsewhere. There is nothing to
 * render but the text part, and that is the same for the same HTML: once it is known, no process is asked any more.
 */
export class FixedMails {
  private readonly known = new LRUCache<string, Known>({
    max: 1000,
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ text }, html) => text.length + html.length + 100,
  });

  /** Undefined: it must be rendered. */
  find({ subject, html }: MailSources): Rendered | undefined {
    const known = isFixed(html) && isFixed(subject) ? this.known.get(html) : undefined;
    return known && { ok: true, subject: oneLine(subject), html, ...known };
  }

  keep({ html }: MailSources, result: Rendered | undefined): void {
    if (!isFixed(html) || !result?.ok || result.html !== html) return;
    const { text, outlined } = result;
    this.known.set(html, { text, ...(outlined && { outlined }) });
  }
}

/** What a subject becomes in which there is nothing to render; undefined where there is. */
export const fixedSubject = (source: string): string | undefined => (isFixed(source) ? oneLine(source) : undefined);

const isFixed = (source: string): boolean => !source.includes('{{') && !source.includes('{%') && !source.includes('{#');
