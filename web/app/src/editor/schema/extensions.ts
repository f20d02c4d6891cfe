// The schema of the editor: the nodes and marks of the document format.
import type { Extensions } from '@tiptap/core';
import { Node } from '@tiptap/core';
import Text from '@tiptap/extension-text';
import { type BlockTexts, blocks } from './blocks.ts';
import { type FrameTexts, frames } from './frames.ts';
import { marks, textNodes } from './text.ts';
import { Variable } from './variable.ts';

export type SchemaTexts = BlockTexts & FrameTexts;

const Document = Node.create({ name: 'doc', topNode: true, content: '(block | footer)+' });

/** The texts are those of frames and placeholders; without them the schema is complete too. */
export const schemaExtensions = (texts: SchemaTexts): Extensions => [
  Document,
  Text,
  ...marks,
  ...textNodes,
  Variable,
  ...frames(texts),
  ...blocks(texts),
];

/** One line of text and chips, for subjects and preheaders. */
export const lineExtensions = (): Extensions => [
  Node.create({ name: 'doc', topNode: true, content: 'line' }),
  Node.create({
    name: 'line',
    content: '(text | variable)*',
    marks: '',
    parseHTML: () => [{ tag: 'p' }, { tag: 'div' }],
    renderHTML: () => ['p', 0],
  }),
  Text,
  Variable,
];
