// Converts a body of HTML to a document of the visual editor. Runs in browsers only: needs their parser.
import { evenShares } from '../schema/commands.ts';
import type { DocumentNode, MailDocument } from '../schema/document.ts';
import { hexOf } from './color.ts';
import { InlineReader, isInline } from './inline.ts';
import { type Loss, LossReport } from './report.ts';

export interface Conversion {
  document: MailDocument;
  losses: Loss[];
  /** Why the body is kept as one block of HTML. */
  keptBecause: 'tags' | 'layout' | 'size' | undefined;
}

interface ConvertOptions {
  lang: string;
  /** Makes blocks of template code and layout tables too, and leaves out what has no block. */
  insist: boolean;
}

const MAX_BLOCKS = 500;
const DROPPED = 'script, noscript, template, object, iframe, link, base';
const MEDIA = 'svg, video, audio, canvas, embed, map';
const FORM = 'form, input, button, select, textarea';

export function convertHtml(html: string, { lang, insist }: ConvertOptions): Conversion {
  const { body, head } = new DOMParser().parseFromString(html, 'text/html');
  const document = (content: DocumentNode[], preheader: DocumentNode[] = []): MailDocument => ({
    version: 1,
    lang,
    preheader,
    content,
  });
  const keptBecause = /\{%/.test(html) ? 'tags' : hasTables(body) ? 'layout' : undefined;
  const losses = new LossReport();
  countLosses(head, body, losses);
  if (keptBecause && !insist) {
    // Styles for the whole email have no place in a block.
    const kept = new LossReport();
    for (const style of [...head.querySelectorAll('style'), ...body.querySelectorAll('style')])
      kept.add('styles', style.textContent ?? '');
    if (hasBackground(body)) kept.add('background');
    return { document: document([htmlBlock(html)]), losses: kept.list(), keptBecause };
  }
  const reader = new BlockReader(losses);
  const preheader = reader.preheader(body);
  const content = reader.blocks(body);
  if (count(content) > MAX_BLOCKS) return { document: document([htmlBlock(html)]), losses: [], keptBecause: 'size' };
  return { document: document(content, preheader), losses: losses.list(), keptBecause: undefined };
}

/** Takes the source, because a browser would write template tags in attributes and tables otherwise. */
function htmlBlock(html: string): DocumentNode {
  const [, body] = /<body[^>]*>([\s\S]*?)(?:<\/body>|$)/i.exec(html) ?? [];
  const content = body ?? html.replace(/<!doctype[^>]*>|<head[\s\S]*?<\/head>|<\/?html[^>]*>/gi, '');
  return { type: 'html', attrs: { html: content.trim() } };
}

const count = (nodes: DocumentNode[]): number => nodes.reduce((sum, { content = [] }) => sum + 1 + count(content), 0);

/** Emails use tables for their layout; there is no block for a table of figures either. */
const hasTables = (body: HTMLElement): boolean => body.querySelector('table') !== null;

function countLosses(head: HTMLElement, body: HTMLElement, losses: LossReport): void {
  for (const style of [...head.querySelectorAll('style'), ...body.querySelectorAll('style')])
    losses.add('styles', style.textContent ?? '');
  for (const element of body.querySelectorAll(DROPPED)) losses.add('scripts', `<${element.localName}>`);
  for (const element of body.querySelectorAll(MEDIA)) losses.add('media', `<${element.localName}>`);
  for (const element of body.querySelectorAll(FORM)) losses.add('forms', `<${element.localName}>`);
  for (const element of body.querySelectorAll('style')) element.remove();
  for (const element of body.querySelectorAll(`${DROPPED}, ${MEDIA}`)) element.remove();
  for (const element of body.querySelectorAll<HTMLElement>('[style]'))
    if (element.style.display !== 'none') losses.add('inlineStyles', element.getAttribute('style') ?? '');
  if (hasBackground(body)) losses.add('background');
}

const hasBackground = (body: HTMLElement): boolean => body.hasAttribute('bgcolor') || body.style.background !== '';

const HEADING = /^h[1-6]$/;
const ALIGNMENTS = ['center', 'right'];

/** Reads the blocks of HTML in their order. */
class BlockReader {
  private readonly losses: LossReport;
  private readonly inline: InlineReader;

  constructor(losses: LossReport) {
    this.losses = losses;
    this.inline = new InlineReader(losses);
  }

  /** The hidden text before everything else, which inboxes show. */
  preheader(body: HTMLElement): DocumentNode[] {
    const [first] = body.children;
    if (!(first instanceof HTMLElement) || first.style.display !== 'none') return [];
    first.remove();
    return this.inline
      .read(first)
      .filter(({ type }) => type !== 'hardBreak')
      .map(withoutMarks);
  }

  blocks(parent: Element, inColumns = false): DocumentNode[] {
    const blocks: DocumentNode[] = [];
    let line: Node[] = [];
    const endLine = () => {
      blocks.push(...this.paragraph(line, parent));
      line = [];
    };
    for (const child of parent.childNodes) {
      if (child instanceof Element ? isInline(child) : child.nodeType === Node.TEXT_NODE) {
        line.push(child);
        continue;
      }
      if (!(child instanceof HTMLElement)) continue;
      endLine();
      blocks.push(...this.block(child, inColumns));
    }
    endLine();
    return blocks;
  }

  private block(element: HTMLElement, inColumns: boolean): DocumentNode[] {
    const name = element.localName;
    if (element.style.display === 'none') return [];
    if (name === 'p') return this.paragraph([...element.childNodes], element);
    if (HEADING.test(name)) {
      const attrs = { level: Math.min(Number(name[1]), 3), align: alignOf(element) };
      const { inlines, blocks } = this.line([...element.childNodes]);
      return [...(inlines.length > 0 ? [{ type: 'heading', attrs, content: inlines }] : []), ...blocks];
    }
    if (name === 'ul' || name === 'ol') return this.list(element, name === 'ul' ? 'bulletList' : 'orderedList');
    if (name === 'hr') return [{ type: 'divider' }];
    if (name === 'table') return this.table(element, inColumns);
    if (name === 'a') this.losses.add('links', element.getAttribute('href') ?? '');
    return this.blocks(element, inColumns);
  }

  /** A paragraph, and the images and buttons in it, which are blocks of their own. */
  private paragraph(nodes: Node[], around: Element): DocumentNode[] {
    const { inlines, blocks } = this.line(nodes, around);
    if (inlines.length === 0) return blocks;
    return [{ type: 'paragraph', attrs: { align: alignOf(around) }, content: inlines }, ...blocks];
  }

  private line(nodes: Node[], around?: Element): { inlines: DocumentNode[]; blocks: DocumentNode[] } {
    const holder = window.document.createElement('div');
    holder.append(...nodes.map((node) => node.cloneNode(true)));
    const blocks = [...holder.querySelectorAll<HTMLElement>('img, a')].flatMap((element) => {
      if (!holder.contains(element)) return [];
      const block = element.localName === 'img' ? this.image(element) : this.button(element, around);
      if (!block) return [];
      const link = element.closest('a');
      (link && link.textContent?.trim() === '' ? link : element).remove();
      return [block];
    });
    return { inlines: this.inline.read(holder), blocks };
  }

  private image(element: HTMLElement): DocumentNode | undefined {
    const src = element.getAttribute('src')?.trim() ?? '';
    if (!/^https?:\/\//i.test(src) && !src.startsWith('{{')) {
      this.losses.add('images', src);
      element.remove();
      return undefined;
    }
    const alt = element.getAttribute('alt') ?? '';
    const width = Math.min(
      600,
      Math.max(1, Number.parseInt(element.getAttribute('width') ?? element.style.width, 10) || 552),
    );
    const href = this.inline.address(element.closest('a'));
    return { type: 'image', attrs: { src, alt, decorative: element.hasAttribute('alt') && alt === '', width, href } };
  }

  /** A link that looks like a button. */
  private button(link: HTMLElement, around?: Element): DocumentNode | undefined {
    const { background, backgroundColor, padding, paddingTop, display } = link.style;
    const isFilled = background !== '' || backgroundColor !== '';
    const looksLikeOne =
      (isFilled && (padding !== '' || paddingTop !== '' || display.includes('block'))) ||
      /\b(btn|button)\b/i.test(link.className);
    const href = looksLikeOne ? this.inline.address(link) : null;
    if (!href) return undefined;
    const content = this.inline
      .read(link)
      .filter(({ type }) => type !== 'hardBreak')
      .map(withoutMarks);
    if (content.length === 0) return undefined;
    const align = around ? alignOf(around) : 'left';
    return {
      type: 'button',
      attrs: { href, align, background: hexOf(backgroundColor), color: hexOf(link.style.color) },
      content,
    };
  }

  private list(element: HTMLElement, type: string): DocumentNode[] {
    const items: DocumentNode[] = [];
    const blocks: DocumentNode[] = [];
    const addItems = (list: Element) => {
      for (const item of list.children) {
        const nested = [...item.children].filter(({ localName }) => localName === 'ul' || localName === 'ol');
        for (const inner of nested) {
          this.losses.add('lists', inner.textContent ?? '');
          inner.remove();
        }
        const content = this.blocks(item);
        const paragraphs = content.filter((block) => block.type === 'paragraph');
        blocks.push(...content.filter((block) => block.type !== 'paragraph'));
        if (paragraphs.length > 0) items.push({ type: 'listItem', content: paragraphs });
        nested.forEach(addItems);
      }
    };
    addItems(element);
    return [...(items.length > 0 ? [{ type, content: items }] : []), ...blocks];
  }

  /** Two to four cells in a row become columns; everything else stands below each other. */
  private table(table: HTMLElement, inColumns: boolean): DocumentNode[] {
    this.losses.add('layout');
    const rows = [...table.querySelectorAll('tr')].filter((row) => row.closest('table') === table);
    return rows.flatMap((row) => {
      const cells = [...row.children].map((cell) => this.blocks(cell, inColumns || row.children.length > 1));
      const filled = cells.filter((blocks) => blocks.length > 0);
      if (inColumns || filled.length < 2 || filled.length > 4) return filled.flat();
      const widths = evenShares(filled.length);
      return [
        {
          type: 'columns',
          content: filled.map((content, index) => ({ type: 'column', attrs: { width: widths[index] }, content })),
        },
      ];
    });
  }
}

const withoutMarks = ({ marks: _, ...node }: DocumentNode): DocumentNode => node;

function alignOf(element: Element): string {
  const around = element.closest<HTMLElement>('[align], [style*="text-align"], center');
  if (!around) return 'left';
  const value = around.localName === 'center' ? 'center' : around.style.textAlign || around.getAttribute('align');
  return ALIGNMENTS.find((align) => align === value) ?? 'left';
}
