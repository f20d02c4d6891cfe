import type {
  Block,
  Column,
  ConditionTest,
  FooterBlock,
  Inline,
  MailDocument,
  ParagraphBlock,
  TextNode,
  VariableNode,
} from '../types.ts';

// Builds documents with every attribute, as `parseDocument` returns them.

export type GalleryLanguage = 'en' | 'de';

/** A text in both languages. */
export type Texts = Record<GalleryLanguage, string>;
export type Translate = (en: string, de: string) => string;

export interface GalleryEntry {
  id: string;
  /** It answers what the recipient did, so everyone gets it. */
  isTransactional?: true;
  name: Texts;
  description: Texts;
  subject: Texts;
  documents: Record<GalleryLanguage, MailDocument>;
}

interface EntryOptions extends Omit<GalleryEntry, 'documents'> {
  preheader: Texts;
  content(t: Translate): Block[];
}

export function galleryEntry({ preheader, content, ...entry }: EntryOptions): GalleryEntry {
  const documentIn = (lang: GalleryLanguage): MailDocument => ({
    version: 1,
    lang,
    preheader: [textNode(preheader[lang])],
    theme: { background: null, surface: null, text: null, link: null, button: null, font: null, width: 600 },
    content: content((en, de) => (lang === 'en' ? en : de)),
  });
  return { ...entry, documents: { en: documentIn('en'), de: documentIn('de') } };
}

export const textNode = (value: string): TextNode => ({ type: 'text', text: value });
export const bold = (value: string): TextNode => ({ ...textNode(value), marks: [{ type: 'bold' }] });
export const link = (value: string, href: string): TextNode => ({
  ...textNode(value),
  marks: [{ type: 'link', attrs: { href } }],
});

export const chip = (name: string, fallback: string | null = null, format: VariableNode['attrs']['format'] = null) =>
  ({ type: 'variable', attrs: { name, fallback, format } }) satisfies VariableNode;

const inlines = (parts: (string | Inline)[]): Inline[] =>
  parts.map((part) => (typeof part === 'string' ? textNode(part) : part));

export const heading = (level: 1 | 2 | 3, ...parts: (string | Inline)[]): Block => ({
  type: 'heading',
  attrs: { level, align: 'left' },
  content: inlines(parts),
});

export const paragraph = (...parts: (string | Inline)[]): ParagraphBlock => ({
  type: 'paragraph',
  attrs: { align: 'left', size: 'normal' },
  content: inlines(parts),
});

export const small = (...parts: (string | Inline)[]): ParagraphBlock => ({
  ...paragraph(...parts),
  attrs: { align: 'left', size: 'small' },
});

export const itemList = (type: 'bulletList' | 'orderedList', ...items: string[]): Block => ({
  type,
  content: items.map((item) => ({ type: 'listItem', content: [paragraph(item)] })),
});

export const button = (label: string, href: string): Block => ({
  type: 'button',
  attrs: { href, align: 'left', background: null, color: null, fullOnPhone: true },
  content: [textNode(label)],
});

export const columns = (...contents: Block[][]): Block => ({
  type: 'columns',
  attrs: { valign: 'top', stack: true },
  content: contents.map(
    (content): Column => ({ type: 'column', attrs: { width: Math.floor(100 / contents.length) }, content }),
  ),
});

export const section = (background: string | null, ...content: Block[]): Block => ({
  type: 'section',
  attrs: { background, padding: 16 },
  content,
});

export const divider: Block = { type: 'divider', attrs: { color: null } };
export const spacer = (height: number): Block => ({ type: 'spacer', attrs: { height } });
export const social: Block = { type: 'social', attrs: { align: 'center', links: null } };

export const when = (test: ConditionTest, then: Block[], otherwise: Block[] = []): Block => ({
  type: 'condition',
  attrs: { test },
  content: [...then, ...(otherwise.length > 0 ? [{ type: 'otherwise' as const, content: otherwise }] : [])],
});

export const repeat = (items: string, item: string, ...content: Block[]): Block => ({
  type: 'repeat',
  attrs: { list: items, item, limit: 20 },
  content,
});

/** With the address of the brand kit, and the links that marketing email needs. */
export const marketingFooter = (t: Translate): FooterBlock => ({
  type: 'footer',
  attrs: { align: 'center' },
  content: [
    paragraph(
      t('You receive this email because you are subscribed.', 'Sie erhalten diese E-Mail, weil Sie angemeldet sind.'),
    ),
    paragraph(
      link(t('Unsubscribe', 'Abmelden'), '{{ unsubscribeUrl }}'),
      ' · ',
      link(t('Manage your subscription', 'Anmeldung verwalten'), '{{ manageUrl }}'),
    ),
    paragraph(chip('address')),
  ],
});
