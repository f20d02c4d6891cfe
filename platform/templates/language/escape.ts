const SPECIAL = /[&"'<>\\]/g;

const entities: Record<string, string> = {
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
  '\\': '&#92;',
};

/** Escapes the same characters as nunjucks. */
export const escapeHtml = (text: string): string => text.replace(SPECIAL, (char) => entities[char] ?? char);
