import { LRUCache } from 'lru-cache';
import { htmlOf, type Outline, textOf } from './outline.ts';
import type { Rendered, Result, Results } from './protocol.ts';

/** Of a longer one nobody derives anything. */
const LONGEST = 512 * 1024;
const KEPT_CHARACTERS = 8 * 1024 * 1024;

/** One object for the same outline, whichever process it comes from: what is derived from it is kept by it. */
const outlines = new LRUCache<string, Outline>({
  max: 1000,
  maxSize: KEPT_CHARACTERS,
  maxEntrySize: LONGEST,
  sizeCalculation: ({ html }) => html.length + 100,
});

/** What a process has answered, as whole mails. Their texts are put together from shared pieces: they are not copied. */
export function readResults({ outlines: sent, results }: Results): (Rendered | null)[] {
  const shared = sent.map(sharedOutline);
  return results.map((result) => result && readResult(result, shared));
}

function readResult(result: Result, shared: Outline[]): Rendered {
  if (!('outline' in result)) return result;
  const { subject, values } = result;
  const outline = shared[result.outline] ?? { html: '', text: [''], crowded: false };
  const outlined = { outline, values };
  return { ok: true, subject, html: htmlOf(outlined), text: textOf(outlined), outlined };
}

function sharedOutline(outline: Outline): Outline {
  const known = outlines.get(outline.html);
  if (known) return known;
  outlines.set(outline.html, outline);
  return outline;
}
