import type { DocumentNode } from '../schema/document.ts';
import { hexOf } from './color.ts';
import type { LossReport } from './report.ts';

type Marks = NonNullable<DocumentNode['marks']>;

const INLINE = new Set(
  'a abbr b bdi bdo big br cite code del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const MARKS: Record<string, string> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strike',
  strike: 'strike',
  del: 'strike',
};
const SAFE_LINK = /^(?:https?:\/\/|mailto:|tel:|sms:|\{\{|#)/i;

/** `{{ name }}`, `{{ name ?? "text" }}`, and the formats that chips have. */
const CHIP =
  /^\{\{-?\s*([\w][\w. -]{0,99}?)\s*(?:\?\?\s*("[^"\\{}]*"|'[^'\\{}]*')\s*)?(?:\|\s*(upper|lower|number|date)\s*)?-?\}\}$/;
const TAG = /(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\{#[\s\S]*?#\})/;

/** An element without blocks in it. */
export const isInline = (element: Element): boolean =>
  INLINE.has(element.localName) && [...element.children].every(isInline);

/** Reads text with its marks, and variables as chips. */
export class InlineReader {
  private readonly losses: LossReport;

  constructor(losses: LossReport) {
    this.losses = losses;
  }

  read(parent: Node): DocumentNode[] {
    return trimmed(this.children(parent, []));
  }

  /** The address of a link; null for one that documents do not have. */
  address(link: Element | null): string | null {
    const href = link?.getAttribute('href')?.trim() ?? '';
    if (href === '') return null;
    if (SAFE_LINK.test(href) && !href.includes('{%')) return href;
    this.losses.add('links', href);
    return null;
  }

  private children(parent: Node, marks: Marks): DocumentNode[] {
    return [...parent.childNodes].flatMap((child) => {
      if (child.nodeType === Node.TEXT_NODE) return this.text(child.textContent ?? '', marks);
      return child instanceof HTMLElement ? this.element(child, marks) : [];
    });
  }

  private element(element: HTMLElement, marks: Marks): DocumentNode[] {
    const { localName, style } = element;
    if (localName === 'br') return [{ type: 'hardBreak' }];
    if (localName === 'img') return [];
    const inner = [...marks];
    const add = (type: string, attrs?: Record<string, unknown>) => {
      if (!inner.some((mark) => mark.type === type)) inner.push({ type, ...(attrs && { attrs }) });
    };
    const mark = MARKS[localName];
    if (mark) add(mark);
    if (style.fontWeight === 'bold' || Number(style.fontWeight) >= 600) add('bold');
    if (style.fontStyle === 'italic') add('italic');
    const color = localName === 'a' ? null : hexOf(style.color);
    if (color) add('color', { color });
    const href = localName === 'a' ? this.address(element) : null;
    if (href) add('link', { href });
    return this.children(element, inner);
  }

  private text(text: string, marks: Marks): DocumentNode[] {
    const node = (value: string): DocumentNode => ({ type: 'text', text: value, ...(marks.length > 0 && { marks }) });
    return text
      .replace(/[ \t\r\n]+/g, ' ')
      .split(TAG)
      .flatMap((piece): DocumentNode[] => {
        if (piece === '') return [];
        // The API reads tags in one text node, so an incomplete one is cut.
        if (!TAG.test(piece)) return piece.split(/(?<=\{)(?=[{%#])/).map(node);
        const [, name, quoted, format] = CHIP.exec(piece) ?? [];
        if (name !== undefined) {
          const attrs = { name, fallback: quoted?.slice(1, -1) ?? null, format: format ?? null };
          return [{ type: 'variable', attrs, ...(marks.length > 0 && { marks }) }];
        }
        if (!piece.startsWith('{#')) this.losses.add(piece.startsWith('{%') ? 'tags' : 'expressions', piece);
        return [];
      });
  }
}

/** Without white space at the ends and beside breaks, which HTML does not show. */
function trimmed(nodes: DocumentNode[]): DocumentNode[] {
  const isBreak = (node: DocumentNode | undefined) => node === undefined || node.type === 'hardBreak';
  const texts = nodes
    .map((node, index) => {
      if (node.type !== 'text') return node;
      let text = node.text ?? '';
      if (isBreak(nodes[index - 1])) text = text.trimStart();
      if (isBreak(nodes[index + 1])) text = text.trimEnd();
      return { ...node, text };
    })
    .filter(({ type, text }) => type !== 'text' || text !== '');
  while (texts.at(-1)?.type === 'hardBreak') texts.pop();
  while (texts[0]?.type === 'hardBreak') texts.shift();
  return texts;
}
