// Blocks that hold other blocks.
import { Node, type NodeConfig } from '@tiptap/core';
import { attributes, BLOCK, htmlAttributes } from './attributes.ts';

/** What the pages around the schema know, and its nodes show. */
export interface FrameTexts {
  condition(test: unknown): string;
  otherwise: string;
  repeat(list: string, item: string): string;
  footer: string;
}

interface FrameOptions {
  texts: FrameTexts;
}

const noTexts: FrameTexts = { condition: () => '', otherwise: '', repeat: () => '', footer: '' };

type Attrs = Record<string, unknown>;
const isColor = (value: unknown): value is string => typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value);

interface Frame {
  name: string;
  content: string;
  group?: string;
  defaults?: Attrs;
  style?(attrs: Attrs): string;
  /** A sentence above the content. */
  sentence?(attrs: Attrs, texts: FrameTexts): string;
  isolating?: boolean;
}

const frame = ({ name, content, group, defaults = {}, style, sentence, isolating }: Frame) => {
  const config: NodeConfig<FrameOptions> = {
    name,
    content,
    ...(group && { group }),
    defining: true,
    isolating: isolating ?? false,
    addOptions: () => ({ texts: noTexts }),
    addAttributes: () => attributes(defaults),
    parseHTML: () => [{ tag: `div[${BLOCK}=${name}]`, ...(sentence && { contentElement: ':scope > .frame-content' }) }],
    renderHTML({ node: { attrs } }) {
      const html = htmlAttributes(name, attrs, { ...(style && { style: style(attrs) }) });
      if (!sentence) return ['div', html, 0];
      const text = sentence(attrs, this.options.texts);
      const label = ['div', { class: 'frame-sentence', contenteditable: 'false' }, text] as const;
      return ['div', html, label, ['div', { class: 'frame-content' }, 0]];
    },
  };
  return Node.create(config);
};

const Column = frame({
  name: 'column',
  content: 'block+',
  defaults: { width: 50 },
  style: ({ width }) => `flex:${Number(width)} 1 0`,
  isolating: true,
});

const Columns = frame({
  name: 'columns',
  content: 'column{2,4}',
  group: 'block',
  defaults: { valign: 'top', stack: true },
  style: ({ valign }) =>
    `align-items:${valign === 'middle' ? 'center' : valign === 'bottom' ? 'flex-end' : 'flex-start'}`,
});

const Section = frame({
  name: 'section',
  content: 'block+',
  group: 'block',
  defaults: { background: null, padding: 16 },
  style: ({ background, padding }) =>
    `padding:${Number(padding)}px 0${isColor(background) ? `;background:${background}` : ''}`,
});

const Condition = frame({
  name: 'condition',
  content: 'block+ otherwise?',
  group: 'block',
  defaults: { test: null },
  sentence: ({ test }, texts) => texts.condition(test),
});

const Otherwise = frame({
  name: 'otherwise',
  content: 'block+',
  sentence: (_, texts) => texts.otherwise,
  isolating: true,
});

const Repeat = frame({
  name: 'repeat',
  content: 'block+',
  group: 'block',
  defaults: { list: 'items', item: 'item', limit: 20 },
  sentence: ({ list, item }, texts) => texts.repeat(String(list), String(item)),
});

/** Only paragraphs, and only once at the top level, so that no branch can lose the link to unsubscribe. */
const Footer = frame({
  name: 'footer',
  content: 'paragraph+',
  defaults: { align: 'center' },
  style: ({ align }) => `text-align:${align}`,
  sentence: (_, texts) => texts.footer,
});

export const frames = (texts: FrameTexts) => [
  Column,
  Columns,
  Section,
  ...[Condition, Otherwise, Repeat, Footer].map((node) => node.configure({ texts })),
];
