import { joinPath, sentence } from './parse-state.ts';
import type { DocumentViolation } from './types.ts';

/** Postgres cannot store NUL or half a surrogate pair. */
const UNSTORABLE = /\0|\p{Surrogate}/u;
/** More than a document can have; bounds what recursion over it needs. */
const MAX_DEPTH = 100;

/** Finds the first text that cannot be stored, or what is nested too deeply, without recursion. */
export function scanValue(root: unknown): DocumentViolation | undefined {
  const waiting: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path, depth } = next;
    if (typeof value === 'string' && UNSTORABLE.test(value)) return unstorable(path);
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_DEPTH) return { path, code: 'too_big', message: sentence(path, 'is nested too deeply') };
    // Backwards, so that the first of several is found.
    for (const [key, item] of Object.entries(value).reverse()) {
      if (UNSTORABLE.test(key)) return unstorable(path);
      if (typeof item === 'string' || typeof item === 'object')
        waiting.push({ value: item, path: joinPath(path, key), depth: depth + 1 });
    }
  }
  return undefined;
}

const unstorable = (path: string): DocumentViolation => ({
  path,
  code: 'invalid_string',
  message: sentence(path, 'contains a character that cannot be stored'),
});
