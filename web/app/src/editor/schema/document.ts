// The document of the API and the content of the editor: the same tree, apart from containers without content.

/** A node of a document. The API validates it; the editor passes on what it does not know. */
export interface DocumentNode {
  type: string;
  attrs?: Record<string, unknown>;
  content?: DocumentNode[];
  marks?: { type: string; attrs?: Record<string, unknown> }[];
  text?: string;
}

export interface MailDocument {
  version: 1;
  lang?: string;
  preheader?: DocumentNode[];
  theme?: Record<string, unknown>;
  content: DocumentNode[];
}

/** They have no content at all. */
const LEAVES = new Set(['variable', 'hardBreak', 'image', 'divider', 'spacer', 'social', 'html', 'saved']);

/** What must contain something, and what the editor puts into an empty one. */
const FILLED = new Set(['doc', 'column', 'section', 'condition', 'otherwise', 'repeat', 'footer', 'listItem']);

const filler = (): DocumentNode => ({ type: 'paragraph', attrs: { align: 'left', size: 'normal', filler: true } });

const isFiller = ({ type, attrs, content = [] }: DocumentNode): boolean =>
  type === 'paragraph' && attrs?.filler === true && content.length === 0;

export const editorContent = (document: MailDocument): DocumentNode =>
  filled({ type: 'doc', content: document.content });

function filled(node: DocumentNode): DocumentNode {
  if (node.type === 'text') return node;
  // ProseMirror has no empty texts.
  const content = (node.content ?? []).filter(({ type, text }) => type !== 'text' || text !== '').map(filled);
  const blocks = content.filter(({ type }) => type !== 'otherwise');
  if (FILLED.has(node.type) && blocks.length === 0) return { ...node, content: [filler(), ...content] };
  return content.length > 0 ? { ...node, content } : withoutContent(node);
}

const withoutContent = ({ content: _, ...node }: DocumentNode): DocumentNode => node;

/** `around` has what the editor does not show as content: language, preheader, theme. */
export const documentOf = (content: DocumentNode, around: MailDocument): MailDocument => ({
  ...around,
  content: (emptied(content).content ?? []) as DocumentNode[],
});

function emptied(node: DocumentNode): DocumentNode {
  const { type, attrs, content = [], marks, text } = node;
  if (type === 'text') return { type, text: text ?? '', ...(marks && { marks }) };
  const { filler: _, ...kept } = attrs ?? {};
  const blocks = content.filter((child) => child.type !== 'otherwise');
  const isEmpty = FILLED.has(type) && blocks.length === 1 && blocks.every(isFiller);
  const inner = content
    .filter((child) => !isEmpty || child.type === 'otherwise')
    .flatMap(plainTexts)
    .map(emptied);
  return {
    type,
    ...(Object.keys(kept).length > 0 && { attrs: kept }),
    ...(!LEAVES.has(type) && { content: inner }),
    ...(marks && { marks }),
  };
}

/** After the first character of a tag. An incomplete `{{` is text to the API too. */
const TAG_START = /(?<=\{)(?=[%#]|\{[\s\S]*?\}\})/;

/**
 * The API reads complete tags in a text node as variables, and refuses others. What a person has typed is text: a node
 * ends between the characters of a tag.
 */
function plainTexts(node: DocumentNode): DocumentNode[] {
  const parts = node.type === 'text' ? (node.text ?? '').split(TAG_START) : [];
  return parts.length > 1 ? parts.map((text) => ({ ...node, text })) : [node];
}

export const emptyDocument = (lang: string): MailDocument => ({
  version: 1,
  lang,
  preheader: [],
  content: [
    { type: 'paragraph' },
    {
      type: 'footer',
      content: [
        { type: 'paragraph', attrs: { size: 'small' }, content: [{ type: 'variable', attrs: { name: 'address' } }] },
      ],
    },
  ],
});
