import { addressHtml, documentText } from './escape.ts';
import { type RenderContext, style } from './render-parts.ts';
import type { Inline, Mark, TextNode, VariableNode } from './types.ts';
import { chipTag } from './variables.ts';

/** The outermost first. */
const MARK_ORDER: Mark['type'][] = ['link', 'color', 'bold', 'italic', 'underline', 'strike'];
const TAGS = { bold: 'strong', italic: 'em', underline: 'u', strike: 's' } as const;

export const renderInlines = (nodes: Inline[], context: RenderContext): string =>
  nodes.map((node) => withMarks(inlineHtml(node, context), node.marks ?? [], context)).join('');

/** Without marks. */
export const renderPlain = (nodes: (TextNode | VariableNode)[], context: RenderContext): string =>
  nodes.map((node) => inlineHtml(node, context)).join('');

function inlineHtml(node: Inline, context: RenderContext): string {
  if (node.type === 'text') return documentText(node.text);
  if (node.type === 'hardBreak') return '<br>';
  const { name, fallback } = node.attrs;
  // The address of the brand kit, unless a loop calls its items so.
  if (name === 'address' && context.itemName !== 'address')
    return documentText(context.kit.address ?? fallback ?? '').replace(/\r?\n/g, '<br>');
  return chipTag(node.attrs, context.lang);
}

function withMarks(html: string, marks: Mark[], context: RenderContext): string {
  return [...marks]
    .sort((a, b) => MARK_ORDER.indexOf(b.type) - MARK_ORDER.indexOf(a.type))
    .reduce((inner, mark) => withMark(inner, mark, context), html);
}

function withMark(html: string, mark: Mark, { colors, hasOwnColors }: RenderContext): string {
  if (mark.type === 'link') {
    const link = style({ color: colors.link, 'text-decoration': 'underline' });
    return `<a href="${addressHtml(mark.attrs.href, 'href')}"${hasOwnColors ? '' : ' class="ep-link"'} style="${link}">${html}</a>`;
  }
  if (mark.type === 'color') return `<span style="color:${mark.attrs.color}">${html}</span>`;
  const tag = TAGS[mark.type];
  return `<${tag}>${html}</${tag}>`;
}
