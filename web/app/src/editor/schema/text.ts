// Paragraphs, headings, lists and marks.
import { Mark, Node, textblockTypeInputRule } from '@tiptap/core';
import Bold from '@tiptap/extension-bold';
import HardBreak from '@tiptap/extension-hard-break';
import Italic from '@tiptap/extension-italic';
import { BulletList, ListItem, ListKeymap, OrderedList } from '@tiptap/extension-list';
import Paragraph from '@tiptap/extension-paragraph';
import Strike from '@tiptap/extension-strike';
import Underline from '@tiptap/extension-underline';
import { attributes, BLOCK, htmlAttributes } from './attributes.ts';

const ALIGNMENTS = ['left', 'center', 'right'];

/** Other programs write the alignment as a style. */
const align = {
  align: {
    default: 'left',
    rendered: false,
    parseHTML: (element: HTMLElement) => {
      const own = attributes({ align: '' }).align?.parseHTML?.(element) as string;
      return ALIGNMENTS.find((value) => value === (own || element.style.textAlign)) ?? 'left';
    },
  },
};

const EmailParagraph = Paragraph.extend({
  group: 'block',
  addAttributes: () => ({
    ...align,
    ...attributes({ size: 'normal' }),
    /** Stands in a container that is empty in the document, because the cursor needs a place. */
    filler: { default: false, rendered: false, keepOnSplit: false, parseHTML: () => false },
  }),
  renderHTML: ({ node: { attrs } }) => {
    const { align, size } = attrs;
    const html = htmlAttributes('paragraph', { align, size }, { style: `text-align:${align}`, 'data-size': size });
    return ['p', html, 0];
  },
});

/** No h1 to h3: the page around the editor has headings already. */
const Heading = Node.create({
  name: 'heading',
  group: 'block',
  content: 'inline*',
  defining: true,
  addAttributes: () => ({
    level: {
      default: 1,
      rendered: false,
      parseHTML: (element: HTMLElement) => {
        const copied = attributes({ level: 0 }).level?.parseHTML?.(element) as number;
        return copied || Math.min(Number(element.tagName[1]) || 1, 3);
      },
    },
    ...align,
  }),
  parseHTML: () => [{ tag: `div[${BLOCK}=heading]` }, ...[1, 2, 3, 4, 5, 6].map((level) => ({ tag: `h${level}` }))],
  renderHTML: ({ node: { attrs } }) => [
    'div',
    htmlAttributes('heading', attrs, { style: `text-align:${attrs.align}`, 'data-level': String(attrs.level) }),
    0,
  ],
  addInputRules() {
    return [1, 2, 3].map((level) =>
      textblockTypeInputRule({ find: new RegExp(`^#{${level}}\\s$`), type: this.type, getAttributes: { level } }),
    );
  },
  addKeyboardShortcuts() {
    const level = (wanted: number) => () => this.editor.commands.toggleNode('heading', 'paragraph', { level: wanted });
    return { 'Mod-Alt-1': level(1), 'Mod-Alt-2': level(2), 'Mod-Alt-3': level(3) };
  },
});

const lists = [
  BulletList.extend({ group: 'block' }),
  OrderedList.extend({ group: 'block', addAttributes: () => ({}) }),
  // Lists hold no lists: mail programs indent them each in their own way.
  ListItem.extend({ content: 'paragraph+' }),
  ListKeymap,
];

const COLOR = /^#[0-9a-f]{6}$/i;

const Color = Mark.create({
  name: 'color',
  addAttributes: () => ({
    color: {
      default: null,
      rendered: false,
      parseHTML: (element: HTMLElement) => element.getAttribute('data-color'),
    },
  }),
  // Only our own: text of other programs keeps the colours of this email.
  parseHTML: () => [
    {
      tag: 'span[data-color]',
      getAttrs: (element) => COLOR.test(element.getAttribute('data-color') ?? '') && null,
    },
  ],
  renderHTML: ({ mark }) => [
    'span',
    { 'data-color': String(mark.attrs.color), style: `color:${String(mark.attrs.color)}` },
    0,
  ],
});

const SAFE_LINK = /^(?:https?:|mailto:|tel:|sms:|\{\{|\{%|#)/i;

const Link = Mark.create({
  name: 'link',
  inclusive: false,
  priority: 1000,
  addAttributes: () => ({
    href: {
      default: '',
      rendered: false,
      parseHTML: (element: HTMLElement) => element.getAttribute('data-href') ?? element.getAttribute('href'),
    },
  }),
  parseHTML: () => [
    { tag: 'span[data-href]' },
    { tag: 'a[href]', getAttrs: (element) => SAFE_LINK.test(element.getAttribute('href') ?? '') && null },
  ],
  // No link in the editor: a click places the cursor, and there is nothing to follow by accident.
  renderHTML: ({ mark }) => ['span', { 'data-href': String(mark.attrs.href), class: 'link-text' }, 0],
});

export const marks = [Link, Color, Bold, Italic, Underline, Strike];
export const textNodes = [EmailParagraph, Heading, ...lists, HardBreak];
