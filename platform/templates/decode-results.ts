import { LRUCache } from 'lru-cache';
import type { EncodedResult, EncodedResults, Rendered } from './protocol.ts';
import { htmlOf, type TemplateSkeleton, textOf } from './skeleton.ts';

/** Nothing is derived from a longer skeleton. */
const MAX_LENGTH = 512 * 1024;
const CACHE_CHARACTERS = 8 * 1024 * 1024;

/** One object per distinct skeleton over all processes, because callers cache what they derive from it by identity. */
const skeletons = new LRUCache<string, TemplateSkeleton>({
  max: 1000,
  maxSize: CACHE_CHARACTERS,
  maxEntrySize: MAX_LENGTH,
  sizeCalculation: ({ html }) => html.length + 100,
});

/** Turns a child's message into whole mails. Their texts are concatenations of shared pieces, not copies. */
export function decodeResults({ skeletons: sent, results }: EncodedResults): (Rendered | null)[] {
  const shared = sent.map(sharedSkeleton);
  return results.map((result) => result && decodeResult(result, shared));
}

function decodeResult(result: EncodedResult, shared: TemplateSkeleton[]): Rendered {
  if (!('skeleton' in result)) return result;
  const { subject, values } = result;
  const skeleton = shared[result.skeleton] ?? { html: '', text: [''], crowded: false };
  const skeletonMail = { skeleton, values };
  return { ok: true, subject, html: htmlOf(skeletonMail), text: textOf(skeletonMail), skeletonMail };
}

function sharedSkeleton(skeleton: TemplateSkeleton): TemplateSkeleton {
  const cached = skeletons.get(skeleton.html);
  if (cached) return cached;
  skeletons.set(skeleton.html, skeleton);
  return skeleton;
}
