const OPENING = /\{[{%#]/g;
const RAW = /\{%-?\s*(raw|verbatim)\s*-?%\}/y;

/**
 * Splits a source at its template tags: every odd item is a tag. What stands between `raw` and `endraw` is text. A tag
 * that is never closed belongs to the text before it.
 */
export function splitAtTags(source: string): string[] {
  const pieces: string[] = [];
  let copied = 0;
  const cut = (start: number, end: number) => {
    pieces.push(source.slice(copied, start), source.slice(start, end));
    copied = end;
  };
  OPENING.lastIndex = 0;
  for (let opening = OPENING.exec(source); opening; opening = OPENING.exec(source)) {
    const start = opening.index;
    const end = tagEnd(source, start);
    if (end === -1) break;
    cut(start, end);
    RAW.lastIndex = start;
    const name = RAW.exec(source)?.[1];
    const closing = name && new RegExp(`\\{%-?\\s*end${name}\\s*-?%\\}`, 'g');
    if (closing) {
      closing.lastIndex = end;
      const closed = closing.exec(source);
      if (!closed) break;
      cut(closed.index, closing.lastIndex);
    }
    OPENING.lastIndex = copied;
  }
  pieces.push(source.slice(copied));
  return pieces;
}

/** Returns the position behind the tag that begins at `start`, or -1. Texts in quotes may contain anything. */
function tagEnd(source: string, start: number): number {
  const kind = source[start + 1];
  if (kind === '#') return endOf(source, '#}', start + 2);
  const mark = kind === '{' ? '}}' : '%}';
  for (let at = start + 2; at < source.length; at++) {
    const char = source[at];
    if (char === '"' || char === "'") {
      at = quoteEnd(source, at);
      if (at === -1) return -1;
    } else if (source.startsWith(mark, at)) return at + 2;
  }
  return -1;
}

function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
}

function quoteEnd(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at++)
    if (source[at] === '\\') at++;
    else if (source[at] === source[start]) return at;
  return -1;
}
