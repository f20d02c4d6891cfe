import { LRUCache } from 'lru-cache';
import { htmlOf, type Outline, textOf } from './outline.ts';
import type { EncodedResult, EncodedResults, Rendered } from './protocol.ts';

/** Nothing is derived from a longer outline. */
const MAX_LENGTH = 512 * 1024;
const CACHE_CHARACTERS = 8 * 1024 * 1024;

/** One object per distinct outline over all processes, because callers cache what they derive from it by identity. */
const outlines = new LRUCache<string, Outline>({
  max: 1000,
  maxSize: CACHE_CHARACTERS,
  maxEntrySize: MAX_LENGTH,
  sizeCalculation: ({ html }) => html.length + 100,
});

/** Turns a child's message into whole mails. Their texts are concatenations of shared pieces, not copies. */
export function decodeResults({ outlines: sent, results }: EncodedResults): (Rendered | null)[] {
  const shared = sent.map(sharedOutline);
  return results.map((result) => result && decodeResult(result, shared));
}

function decodeResult(result: EncodedResult, shared: Outline[]): Rendered {
  if (!('outline' in result)) return result;
  const { subject, values } = result;
  const outline = shared[result.outline] ?? { html: '', text: [''], crowded: false };
  const outlined = { outline, values };
  return { ok: true, subject, html: htmlOf(outlined), text: textOf(outlined), outlined };
}

function sharedOutline(outline: Outline): Outline {
  const cached = outlines.get(outline.html);
  if (cached) return cached;
  outlines.set(outline.html, outline);
  return outline;
}
