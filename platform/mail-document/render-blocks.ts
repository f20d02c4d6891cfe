import { socialNetworks } from './brand-kit.ts';
import { testExpression } from './condition.ts';
import { addressHtml, documentText, guardAddresses } from './escape.ts';
import { FOOTER_END, FOOTER_START } from './own-footer.ts';
import { renderColumns } from './render-columns.ts';
import { renderInlines } from './render-inline.ts';
import { type RenderContext, row, style, table } from './render-parts.ts';
import type {
  Align,
  Block,
  ButtonBlock,
  ConditionBlock,
  FooterBlock,
  HeadingBlock,
  ImageBlock,
  ListBlock,
  ParagraphBlock,
  RepeatBlock,
  SectionBlock,
  SocialBlock,
} from './types.ts';
import { nameExpression } from './variables.ts';

type Renderers = { [T in Block['type']]: (block: Extract<Block, { type: T }>, context: RenderContext) => string };

const HEADING_SIZES = { 1: '28px', 2: '22px', 3: '18px' };
const TEXT_SIZES = { small: '14px', normal: '16px', large: '18px' };
const FOOTER_SIZE = '13px';
const LINE_COLOR = '#d1d5db';

/** Every block is one or more rows of a table. */
const renderers: Renderers = {
  heading: renderHeading,
  paragraph: renderParagraph,
  bulletList: renderList,
  orderedList: renderList,
  image: renderImage,
  button: renderButton,
  columns: (block, context) => renderColumns(block, context, renderBlocks),
  section: renderSection,
  divider: ({ attrs }, context) => {
    const line = style({ 'border-top': `1px solid ${attrs.color ?? LINE_COLOR}`, 'font-size': 0, 'line-height': 0 });
    const isKits = attrs.color === null && !context.hasOwnColors;
    const cell = `<tr><td height="1"${isKits ? ' class="ep-line"' : ''} style="${line}">&nbsp;</td></tr>\n`;
    return row(table(cell), context, { top: 16, bottom: 16 });
  },
  spacer: ({ attrs: { height } }) =>
    `<tr><td height="${height}" style="height:${height}px;font-size:0;line-height:0">&nbsp;</td></tr>\n`,
  social: renderSocial,
  condition: renderCondition,
  repeat: renderRepeat,
  footer: renderFooter,
  saved: ({ attrs: { blockId } }, context) => {
    const saved = context.savedBlocks.get(blockId);
    if (!saved) throw new Error(`The saved block ${blockId} is missing.`);
    return renderBlocks(saved.document.content, context);
  },
  html: ({ attrs: { html } }, context) => row(guardAddresses(html), context),
};

export const renderBlocks = (blocks: Block[], context: RenderContext): string =>
  blocks.map((block) => renderBlock(block, context)).join('');

// The types of `renderers` and of blocks agree, which the compiler cannot see through the lookup.
const renderBlock = (block: Block, context: RenderContext): string =>
  (renderers[block.type] as (block: Block, context: RenderContext) => string)(block, context);

/** Text is aligned left by default. */
const alignment = (align: Align): string => (align === 'left' ? '' : `;text-align:${align}`);

const textClass = ({ hasOwnColors }: RenderContext): string => (hasOwnColors ? '' : ' class="ep-text"');

function textStyle({ font, colors }: RenderContext, size: string, lineHeight = '1.5'): string {
  return style({ 'font-family': font, 'font-size': size, 'line-height': lineHeight, color: colors.text });
}

function renderHeading({ attrs: { level, align }, content }: HeadingBlock, context: RenderContext): string {
  const text = textStyle({ ...context, font: context.headingFont }, HEADING_SIZES[level], '1.3');
  const html = renderInlines(content, context) || '&nbsp;';
  const heading = `<h${level}${textClass(context)} style="margin:0;${text}${alignment(align)}">${html}</h${level}>`;
  return row(heading, context, { top: 16 });
}

function renderParagraph({ attrs: { align, size }, content }: ParagraphBlock, context: RenderContext): string {
  const html = renderInlines(content, context) || '&nbsp;';
  const text = `margin:0;${textStyle(context, TEXT_SIZES[size])}${alignment(align)}`;
  return row(`<p${textClass(context)} style="${text}">${html}</p>`, context);
}

function renderList({ type, content }: ListBlock, context: RenderContext): string {
  const tag = type === 'bulletList' ? 'ul' : 'ol';
  const items = content.map(({ content: paragraphs }) => {
    const lines = paragraphs.map((item) => renderInlines(item.content, context));
    return `<li style="margin:0 0 4px">${lines.join('<br>')}</li>`;
  });
  const list = `margin:0;padding:0 0 0 24px;${textStyle(context, TEXT_SIZES.normal)}`;
  return row(`<${tag}${textClass(context)} style="${list}">${items.join('')}</${tag}>`, context);
}

function renderImage({ attrs }: ImageBlock, context: RenderContext): string {
  const { src, alt, decorative, href, align, full } = attrs;
  const room = full ? context.width : context.width - 2 * context.side;
  const width = full ? room : Math.min(attrs.width, room);
  const margin = { left: '0', center: '0 auto', right: '0 0 0 auto' }[align];
  const image =
    `<img src="${addressHtml(src, 'src')}" alt="${decorative ? '' : documentText(alt)}" width="${width}" ` +
    `style="display:block;width:100%;max-width:${width}px;height:auto;margin:${margin};border:0;` +
    `font-family:${context.font};font-size:14px;color:${context.colors.text}"${textClass(context)}>`;
  const linked = href ? `<a href="${addressHtml(href, 'href')}" style="text-decoration:none">${image}</a>` : image;
  return row(linked, context, { align, full, ...(full && { top: 0, bottom: 0 }) });
}

function renderButton({ attrs, content }: ButtonBlock, context: RenderContext): string {
  const background = attrs.background ?? context.colors.button;
  const color = attrs.color ?? context.colors.buttonText;
  const radius = `${context.kit.radius}px`;
  const isKits = attrs.background === null && attrs.color === null && !context.hasOwnColors;
  const cell = style({ 'background-color': background, 'border-radius': radius, 'mso-padding-alt': '12px 24px' });
  const link = style({
    display: 'inline-block',
    padding: '12px 24px',
    'font-family': context.font,
    'font-size': '16px',
    'font-weight': 'bold',
    'line-height': '1.25',
    color,
    'text-decoration': 'none',
    'border-radius': radius,
  });
  const html =
    `<table role="presentation" border="0" cellpadding="0" cellspacing="0"${attrs.fullOnPhone ? ' class="ep-full"' : ''}>` +
    `<tr><td align="center" bgcolor="${background}"${isKits ? ' class="ep-button"' : ''} style="${cell}">` +
    `<a href="${addressHtml(attrs.href, 'href')}" style="${link}">${renderInlines(content, context)}</a></td></tr></table>`;
  return row(html, context, { top: 12, bottom: 12, align: attrs.align });
}

function renderSection({ attrs: { background, padding }, content }: SectionBlock, context: RenderContext): string {
  const hasOwnColors = context.hasOwnColors || background !== null;
  const rows = renderBlocks(content, { ...context, hasOwnColors });
  const own = background === null ? '' : ` bgcolor="${background}"`;
  const cell = style({ 'background-color': background ?? false, padding: `${padding}px 0` });
  return `<tr><td${own} style="${cell}">${table(rows)}</td></tr>\n`;
}

function renderSocial({ attrs }: SocialBlock, context: RenderContext): string {
  const link = style({ color: context.colors.link, 'text-decoration': 'underline' });
  const links = (attrs.links ?? context.kit.socialLinks).map(({ network, href }) => {
    const name = socialNetworks.get(network) ?? network;
    const ownClass = context.hasOwnColors ? '' : ' class="ep-link"';
    return `<a href="${addressHtml(href, 'href')}"${ownClass} style="${link}">${name}</a>`;
  });
  if (links.length === 0) return '';
  const text = `margin:0;${textStyle(context, TEXT_SIZES.small)}${alignment(attrs.align)}`;
  return row(`<p${textClass(context)} style="${text}">${links.join(' &nbsp;·&nbsp; ')}</p>`, context);
}

/** Around whole rows, so that no branch can break the layout. */
function renderCondition({ attrs, content }: ConditionBlock, context: RenderContext): string {
  const then: Block[] = [];
  let otherwise: Block[] = [];
  for (const block of content)
    if (block.type === 'otherwise') otherwise = block.content;
    else then.push(block);
  const no = otherwise.length === 0 ? '' : `{% else %}\n${renderBlocks(otherwise, context)}`;
  return `{% if ${testExpression(attrs.test)} %}\n${renderBlocks(then, context)}${no}{% endif %}\n`;
}

function renderRepeat({ attrs: { list, item, limit }, content }: RepeatBlock, context: RenderContext): string {
  const rows = renderBlocks(content, { ...context, itemName: item });
  return (
    `{% for ${item} in ${nameExpression(list)} %}{% if loop.index <= ${limit} %}\n` + `${rows}{% endif %}{% endfor %}\n`
  );
}

function renderFooter({ attrs: { align }, content }: FooterBlock, context: RenderContext): string {
  const paragraphs = content.map((block) => {
    const text = `margin:0 0 4px;${textStyle(context, FOOTER_SIZE)}${alignment(align)}`;
    return `<p${textClass(context)} style="${text}">${renderInlines(block.content, context) || '&nbsp;'}</p>`;
  });
  return `${FOOTER_START + row(paragraphs.join(''), context, { top: 24, bottom: 16, align }) + FOOTER_END}\n`;
}
