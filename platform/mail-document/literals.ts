// How values are written in the template language.

const ESCAPES: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

export const textLiteral = (text: string): string =>
  `'${text.replace(/[\\'\n\r\t]/g, (char) => ESCAPES[char] ?? char)}'`;

/** The language has no exponents. */
export function numberLiteral(value: number): string {
  const text = String(value);
  return PLAIN_NUMBER.test(text) ? text : `(${textLiteral(text)} | float)`;
}

export function valueLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueLiteral).join(', ')}]`;
  if (typeof value === 'number') return numberLiteral(value);
  return typeof value === 'boolean' ? String(value) : textLiteral(String(value));
}
