import { hasPlaceholders } from './placeholders.ts';
import type { Template } from './template.ts';
import { lookUp } from './values.ts';

const VARIABLE = /\{\{([^{}]*)\}\}/g;
/** A name with spaces, then keys: `.key`, `["key"]` or `[0]`. */
const WORDS = '[\\p{L}\\p{M}\\p{N}_$]+(?: +[\\p{L}\\p{M}\\p{N}_$]+)*';
const KEY = `\\s*\\.\\s*(${WORDS})|\\s*\\[\\s*(?:"([^"]*)"|'([^']*)'|([0-9]+))\\s*\\]`;
const NAME = new RegExp(`\\s*(${WORDS})`, 'uy');
const KEYS = new RegExp(KEY, 'uy');
const FALLBACK = /\s*\?\?\s*(?:"([^"]*)"|'([^']*)'|(-?[0-9.]+))/y;
const END = /\s*$/y;

interface Reference {
  name: string;
  keys: string[];
  fallback: string | undefined;
}

/**
 * The fallback for an invalid template: replaces `{{name}}`, `{{profile.tier}}` and `{{name ?? "text"}}`, and keeps
 * everything else.
 */
export function replacementTemplate(source: string): Template {
  const pieces = source.split(VARIABLE).map((piece, index) => (index % 2 === 0 ? piece : readReference(piece)));
  return {
    source,
    containsPlaceholders: hasPlaceholders(source),
    write: (run) => {
      run.budget.spend(pieces.length);
      for (const [index, piece] of pieces.entries())
        if (typeof piece === 'string') run.write(index % 2 === 0 ? piece : `{{${piece}}}`);
        else {
          const value = piece.keys.reduce((within, key) => lookUp(within, key), run.find(piece.name));
          run.print(value ?? piece.fallback);
        }
    },
  };
}

/** Returns the text itself when it is no reference. */
function readReference(text: string): Reference | string {
  const take = (pattern: RegExp, from: number) => {
    pattern.lastIndex = from;
    return pattern.exec(text);
  };
  const first = take(NAME, 0);
  if (!first) return text;
  let at = first[0].length;
  const keys: string[] = [];
  for (let key = take(KEYS, at); key; key = take(KEYS, at)) {
    keys.push(key[1] ?? key[2] ?? key[3] ?? key[4] ?? '');
    at += key[0].length;
  }
  const fallback = take(FALLBACK, at);
  if (fallback) at += fallback[0].length;
  if (!take(END, at)) return text;
  return { name: first[1] ?? '', keys, fallback: fallback?.[1] ?? fallback?.[2] ?? fallback?.[3] };
}
