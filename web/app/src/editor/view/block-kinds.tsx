// The blocks that can be inserted.
import {
  IconAlignLeft,
  IconBoxMargin,
  IconBraces,
  IconCode,
  IconColumns2,
  IconColumns3,
  IconComponents,
  IconFilter,
  IconH1,
  IconH2,
  IconLayoutBottombar,
  IconList,
  IconListNumbers,
  IconMinus,
  IconPhoto,
  IconRepeat,
  IconShare,
  IconSpacingVertical,
  IconSquareRoundedLetterB,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { t } from '../../texts/index.ts';
import { evenShares } from '../schema/commands.ts';
import type { DocumentNode } from '../schema/document.ts';

export type BlockKind = keyof typeof t.editor.blocks;

export interface BlockChoice {
  kind: BlockKind;
  icon: ReactNode;
  create(): DocumentNode;
}

const paragraph = (text = ''): DocumentNode => ({
  type: 'paragraph',
  ...(text && { content: [{ type: 'text', text }] }),
});

const columns = (count: number): DocumentNode => ({
  type: 'columns',
  content: evenShares(count).map((width) => ({ type: 'column', attrs: { width }, content: [paragraph()] })),
});

const list = (type: string): DocumentNode => ({ type, content: [{ type: 'listItem', content: [paragraph()] }] });

const icon = { size: 18, 'aria-hidden': true };

/** What a document is: an email, or a saved block of a kind. */
export type DocumentRole = 'EMAIL' | 'HEADER' | 'FOOTER' | 'SECTION';

/** A saved footer is the footer and nothing else; the other saved blocks have none. Saved blocks hold no saved blocks. */
export const blockChoices = (role: DocumentRole): BlockChoice[] =>
  allChoices().filter(({ kind }) => {
    if (role === 'EMAIL') return true;
    if (role === 'FOOTER') return kind === 'variable' || kind === 'footer';
    return kind !== 'footer' && kind !== 'saved';
  });

const allChoices = (): BlockChoice[] => [
  { kind: 'paragraph', icon: <IconAlignLeft {...icon} />, create: () => paragraph() },
  { kind: 'heading', icon: <IconH1 {...icon} />, create: () => ({ type: 'heading', attrs: { level: 1 } }) },
  { kind: 'subheading', icon: <IconH2 {...icon} />, create: () => ({ type: 'heading', attrs: { level: 2 } }) },
  { kind: 'image', icon: <IconPhoto {...icon} />, create: () => ({ type: 'image' }) },
  {
    kind: 'button',
    icon: <IconSquareRoundedLetterB {...icon} />,
    create: () => ({ type: 'button', content: [{ type: 'text', text: t.editor.buttonText }] }),
  },
  { kind: 'bulletList', icon: <IconList {...icon} />, create: () => list('bulletList') },
  { kind: 'orderedList', icon: <IconListNumbers {...icon} />, create: () => list('orderedList') },
  { kind: 'variable', icon: <IconBraces {...icon} />, create: () => paragraph() },
  { kind: 'columns', icon: <IconColumns2 {...icon} />, create: () => columns(2) },
  { kind: 'threeColumns', icon: <IconColumns3 {...icon} />, create: () => columns(3) },
  {
    kind: 'section',
    icon: <IconBoxMargin {...icon} />,
    create: () => ({ type: 'section', attrs: { background: '#f1f3f9' }, content: [paragraph()] }),
  },
  { kind: 'divider', icon: <IconMinus {...icon} />, create: () => ({ type: 'divider' }) },
  { kind: 'spacer', icon: <IconSpacingVertical {...icon} />, create: () => ({ type: 'spacer' }) },
  { kind: 'social', icon: <IconShare {...icon} />, create: () => ({ type: 'social' }) },
  {
    kind: 'condition',
    icon: <IconFilter {...icon} />,
    create: () => ({
      type: 'condition',
      attrs: { test: { field: 'subscribed', operator: 'equals', value: true } },
      content: [paragraph()],
    }),
  },
  { kind: 'repeat', icon: <IconRepeat {...icon} />, create: () => ({ type: 'repeat', content: [paragraph()] }) },
  { kind: 'saved', icon: <IconComponents {...icon} />, create: () => ({ type: 'saved' }) },
  { kind: 'footer', icon: <IconLayoutBottombar {...icon} />, create: footer },
  { kind: 'html', icon: <IconCode {...icon} />, create: () => ({ type: 'html' }) },
];

const footer = (): DocumentNode => ({
  type: 'footer',
  content: [
    { type: 'paragraph', attrs: { align: 'center', size: 'small' }, content: [variable('address')] },
    {
      type: 'paragraph',
      attrs: { align: 'center', size: 'small' },
      content: [
        {
          type: 'text',
          text: t.editor.unsubscribe,
          marks: [{ type: 'link', attrs: { href: '{{unsubscribeUrl}}' } }],
        },
      ],
    },
  ],
});

const variable = (name: string): DocumentNode => ({ type: 'variable', attrs: { name, fallback: null, format: null } });

/** The choices whose name or other words begin with what was typed. */
export function matchingChoices(choices: BlockChoice[], query: string): BlockChoice[] {
  const typed = query.trim().toLocaleLowerCase();
  return choices.filter(({ kind }) => {
    const words = `${t.editor.blocks[kind]} ${t.editor.blockWords[kind]}`.toLocaleLowerCase().split(/[\s,]+/);
    return typed === '' || words.some((word) => word.startsWith(typed)) || words.join(' ').startsWith(typed);
  });
}
