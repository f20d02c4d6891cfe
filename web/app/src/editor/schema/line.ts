// Subjects are templates: texts with variables. The editor shows the variables as chips.
import type { DocumentNode } from './document.ts';

const VARIABLE = /\{\{\s*([\w][\w. -]{0,99}?)\s*(?:\?\?\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*)?\}\}/g;

/** Other tags of the template language stay text. */
export function lineOf(template: string): DocumentNode[] {
  const nodes: DocumentNode[] = [];
  let end = 0;
  const addText = (text: string) => {
    if (text !== '') nodes.push({ type: 'text', text });
  };
  for (const match of template.matchAll(VARIABLE)) {
    const [whole, name = '', quoted] = match;
    addText(template.slice(end, match.index));
    nodes.push({
      type: 'variable',
      attrs: { name, fallback: quoted === undefined ? null : unquoted(quoted), format: null },
    });
    end = match.index + whole.length;
  }
  addText(template.slice(end));
  return nodes;
}

const unquoted = (quoted: string): string => quoted.slice(1, -1).replace(/\\(.)/gs, '$1');

export const templateOf = (line: DocumentNode[]): string =>
  line
    .map(({ type, text = '', attrs = {} }) => {
      if (type !== 'variable') return text;
      const { name, fallback } = attrs;
      return `{{${String(name)}${typeof fallback === 'string' ? ` ?? ${JSON.stringify(fallback)}` : ''}}}`;
    })
    .join('');

type Values = Record<string, unknown>;

/** The line as a recipient with these values reads it; a preview only, the API renders the real one. */
export const lineText = (line: DocumentNode[], values: Values): string =>
  line
    .map(({ type, text = '', attrs = {} }) => {
      if (type !== 'variable') return text;
      const value = String(attrs.name)
        .split('.')
        .reduce<unknown>((inner, key) => (inner as Values | null | undefined)?.[key], values);
      const shown = value === undefined || value === null || value === '' ? attrs.fallback : value;
      return shown === null || shown === undefined ? '' : String(shown);
    })
    .join('');
