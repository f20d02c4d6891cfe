// Blocks without blocks in them.
import { Node } from '@tiptap/core';
import { attributes, BLOCK, htmlAttributes } from './attributes.ts';

export interface BlockTexts {
  noImage: string;
  noAlt: string;
  html(characters: number): string;
  saved(blockId: string): string;
  networks: Record<string, string>;
  noNetworks: string;
  brandNetworks: string;
}

type Attrs = Record<string, unknown>;
type Child = [string, Record<string, string>, ...(string | Child)[]];

const IMAGE_SOURCE = /^https?:\/\//i;

function imageContent(attrs: Attrs, texts: BlockTexts): Child[] {
  const src = String(attrs.src ?? '');
  const alt = String(attrs.alt ?? '');
  const width = Number(attrs.width) || 552;
  // An address with template tags has no picture before it is rendered.
  const isShown = IMAGE_SOURCE.test(src) && !src.includes('{');
  const style = attrs.full ? 'width:100%' : `width:${width}px`;
  const picture: Child = isShown
    ? ['img', { src, alt, style, draggable: 'false', referrerpolicy: 'no-referrer' }]
    : ['span', { class: 'image-empty', style }, src || texts.noImage];
  if (alt !== '' || attrs.decorative) return [picture];
  return [picture, ['span', { class: 'block-note' }, texts.noAlt]];
}

function socialContent(attrs: Attrs, texts: BlockTexts): Child[] {
  if (!Array.isArray(attrs.links)) return [['span', { class: 'block-note' }, texts.brandNetworks]];
  const links = attrs.links as { network?: unknown }[];
  if (links.length === 0) return [['span', { class: 'block-note' }, texts.noNetworks]];
  return links.map(({ network }) => ['span', { class: 'social-link' }, texts.networks[String(network)] ?? '…']);
}

interface Leaf {
  name: string;
  defaults: Attrs;
  style?(attrs: Attrs): string;
  content?(attrs: Attrs, texts: BlockTexts): Child[];
  /** Elements of other programs that become this block. */
  tags?: string[];
}

const leaf = ({ name, defaults, style, content, tags = [] }: Leaf, texts: BlockTexts) =>
  Node.create({
    name,
    group: 'block',
    atom: true,
    draggable: true,
    addAttributes: () => attributes(defaults),
    parseHTML: () => [{ tag: `div[${BLOCK}=${name}]` }, ...tags.map((tag) => ({ tag }))],
    renderHTML: ({ node: { attrs } }) => [
      'div',
      htmlAttributes(name, attrs, { ...(style && { style: style(attrs) }) }),
      ...(content?.(attrs, texts) ?? []),
    ],
  });

const leaves: Leaf[] = [
  { name: 'divider', defaults: { color: null }, tags: ['hr'], content: () => [['span', { class: 'divider-line' }]] },
  { name: 'spacer', defaults: { height: 24 }, style: ({ height }) => `height:${Number(height)}px` },
  {
    name: 'social',
    defaults: { align: 'center', links: null },
    style: ({ align }) => `text-align:${String(align)}`,
    content: socialContent,
  },
  {
    name: 'html',
    defaults: { html: '' },
    content: ({ html }, texts) => {
      const code = String(html);
      return [
        ['span', { class: 'block-note' }, texts.html(code.length)],
        ['code', { class: 'html-code' }, code.slice(0, 240)],
      ];
    },
  },
  {
    name: 'saved',
    defaults: { blockId: '' },
    content: ({ blockId }, texts) => [['span', { class: 'block-note' }, texts.saved(String(blockId))]],
  },
];

const image = (texts: BlockTexts) => {
  const defaults = { src: '', alt: '', decorative: false, width: 552, href: null, align: 'center', full: false };
  return leaf(
    { name: 'image', defaults, style: ({ align }) => `text-align:${String(align)}`, content: imageContent },
    texts,
  ).extend({
    addAttributes: () => ({
      ...attributes(defaults),
      src: foreign('src', defaults.src, (src) => IMAGE_SOURCE.test(src)),
      alt: foreign('alt', defaults.alt),
    }),
    parseHTML: () => [{ tag: `div[${BLOCK}=image]` }, { tag: 'img[src]' }],
  });
};

/** An attribute that images of other programs have by the same name. */
function foreign(name: string, fallback: string, isAllowed: (value: string) => boolean = () => true) {
  return {
    default: fallback,
    rendered: false,
    parseHTML: (element: HTMLElement) => {
      const value = element.tagName === 'IMG' ? (element.getAttribute(name) ?? '') : undefined;
      if (value !== undefined) return isAllowed(value) ? value : fallback;
      return attributes({ [name]: fallback })[name]?.parseHTML?.(element) as string;
    },
  };
}

const Button = Node.create({
  name: 'button',
  group: 'block',
  content: '(text | variable)*',
  marks: 'bold italic underline strike color',
  defining: true,
  addAttributes: () => attributes({ href: '', align: 'left', background: null, color: null, fullOnPhone: false }),
  parseHTML: () => [{ tag: `div[${BLOCK}=button]`, contentElement: '.button-face' }],
  renderHTML: ({ node: { attrs } }) => {
    const { align, background, color } = attrs;
    const colors = `${background ? `background:${background};` : ''}${color ? `color:${color}` : ''}`;
    return [
      'div',
      htmlAttributes('button', attrs, { style: `text-align:${align}` }),
      ['span', { class: 'button-face', style: colors }, 0],
    ];
  },
});

export const blocks = (texts: BlockTexts) => [Button, image(texts), ...leaves.map((each) => leaf(each, texts))];
