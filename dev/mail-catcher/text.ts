const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Returns the text of an HTML body, good enough for a preview and a search. */
export function textOfHtml(html: string): string {
  return html
    .replace(/<(style|script|head|title)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<br\s*\/?>|<\/(p|div|tr|li|h[1-6])\s*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(#\d+|#x[\da-f]+|\w+);/gi, (whole, code: string) => decode(code) ?? whole)
    .replace(/[ \t]+/g, ' ')
    .trim();
}

function decode(code: string): string | undefined {
  if (!code.startsWith('#')) return ENTITIES[code.toLowerCase()];
  const point = /^#x/i.test(code) ? Number.parseInt(code.slice(2), 16) : Number(code.slice(1));
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined;
}
