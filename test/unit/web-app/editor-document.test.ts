import { join } from 'node:path';
import { getSchema } from '@tiptap/core';
import { Node, type Schema } from '@tiptap/pm/model';
import { EditorState, TextSelection, type Transaction } from '@tiptap/pm/state';
import { expect } from 'chai';
import { tsImport } from 'tsx/esm/api';
import { root } from '../../../dev/root.ts';
import { gallery } from '../../../platform/mail-document/gallery/index.ts';
import { parseDocument } from '../../../platform/mail-document/index.ts';
import { goldenBlocks, documentOf as goldenDocument } from '../mail-document/documents.ts';

type Json = Record<string, unknown>;
interface DocumentModule {
  editorContent(document: unknown): unknown;
  documentOf(content: unknown, around: unknown): { content: Json[] };
}
interface LineModule {
  lineOf(template: string): Json[];
  templateOf(line: Json[]): string;
  lineText(line: Json[], values: Json): string;
}
type Command = (state: EditorState, ...given: unknown[]) => Transaction | undefined;

const load = async <T>(name: string): Promise<T> =>
  // Read as a file: it belongs to a program with the types of a browser.
  (await tsImport(join(root, 'web/app/src/editor/schema', name), import.meta.url)) as T;

const text = (value: string, ...marks: Json[]) => ({ type: 'text', text: value, ...(marks.length > 0 && { marks }) });
const paragraph = (value: string) => ({ type: 'paragraph', content: [text(value)] });

/** Every block, mark and place, with as few attributes as the format allows. */
const EVERYTHING = {
  version: 1,
  lang: 'de',
  preheader: [text('Hi '), { type: 'variable', attrs: { name: 'firstName', fallback: 'there' } }],
  theme: { background: '#ffffff' },
  content: [
    { type: 'heading', attrs: { level: 2, align: 'center' }, content: [text('Title')] },
    {
      type: 'paragraph',
      attrs: { size: 'small', align: 'right' },
      content: [
        text('a', { type: 'link', attrs: { href: 'https://example.com/{{ id }}' } }, { type: 'bold' }),
        text('b', { type: 'color', attrs: { color: '#aa0000' } }, { type: 'italic' }, { type: 'underline' }),
        { type: 'hardBreak' },
        {
          type: 'variable',
          attrs: { name: 'order.total', fallback: null, format: 'number' },
          marks: [{ type: 'bold' }],
        },
        text('c', { type: 'strike' }),
      ],
    },
    { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph('One')] }] },
    { type: 'orderedList', content: [{ type: 'listItem', content: [paragraph('1'), paragraph('2')] }] },
    { type: 'image', attrs: { src: 'https://example.com/a.png', alt: 'A', width: 120, href: 'https://example.com' } },
    { type: 'button', attrs: { href: '#', fullOnPhone: true }, content: [text('Go', { type: 'bold' })] },
    {
      type: 'columns',
      attrs: { valign: 'middle', stack: false },
      content: [
        { type: 'column', attrs: { width: 30 }, content: [] },
        {
          type: 'column',
          attrs: { width: 70 },
          content: [{ type: 'divider' }, { type: 'spacer', attrs: { height: 8 } }],
        },
      ],
    },
    { type: 'section', attrs: { background: '#eeeeee', padding: 0 }, content: [paragraph('In a section')] },
    { type: 'social', attrs: { links: [{ network: 'github', href: 'https://github.com/a' }] } },
    { type: 'social' },
    {
      type: 'condition',
      attrs: {
        test: { logic: 'OR', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
      },
      content: [paragraph('Yes'), { type: 'otherwise', content: [] }],
    },
    { type: 'condition', attrs: { test: { expression: 'a and b' } }, content: [{ type: 'otherwise', content: [] }] },
    { type: 'repeat', attrs: { list: 'cart.items', item: 'product', limit: 3 }, content: [paragraph('Item')] },
    { type: 'saved', attrs: { blockId: '0192f0c0-0000-7000-8000-000000000000' } },
    { type: 'html', attrs: { html: '<p>{{ x }}</p>' } },
    { type: 'paragraph' },
    { type: 'footer', content: [paragraph('Bye')] },
  ],
};

/** The marks of a text are a set; the editor writes them in its own order. */
const withSortedMarks = (document: object): unknown =>
  JSON.parse(JSON.stringify(document), (key, value: Json[]) =>
    key === 'marks' ? value.toSorted((a, b) => String(a.type).localeCompare(String(b.type))) : value,
  );

describe('the documents of the visual editor', () => {
  let documents: DocumentModule;
  let line: LineModule;
  let commands: Record<string, Command>;
  let nestingFault: (doc: Node) => string | undefined;
  let positionOfPath: (doc: Node, path: string) => number | undefined;
  let schema: Schema;

  before(async () => {
    documents = await load<DocumentModule>('document.ts');
    line = await load<LineModule>('line.ts');
    commands = await load<Record<string, Command>>('commands.ts');
    ({ nestingFault } = await load<{ nestingFault(doc: Node): string | undefined }>('places.ts'));
    ({ positionOfPath } = await load<{ positionOfPath: typeof positionOfPath }>('paths.ts'));
    const { schemaExtensions } = await load<{ schemaExtensions(texts: object): [] }>('extensions.ts');
    schema = getSchema(schemaExtensions({}));
  });

  const parsed = (document: unknown) => {
    const { document: stored, errors } = parseDocument(document);
    if (!stored) throw new Error(JSON.stringify(errors));
    return stored;
  };
  const opened = (document: unknown): Node => {
    const node = Node.fromJSON(schema, documents.editorContent(document));
    node.check();
    return node;
  };
  const saved = (node: Node, around: unknown) => documents.documentOf(node.toJSON(), around);
  const document = (...content: Json[]) => ({ version: 1, content });

  for (const [name, given] of Object.entries({
    'every block': EVERYTHING,
    'nothing at all': { version: 1, content: [] },
    'empty containers': document({ type: 'section' }, { type: 'repeat' }, { type: 'footer' }),
  }))
    it(`returns a document with ${name} unchanged`, () => {
      const stored = parsed(given);
      expect(saved(opened(stored), stored)).to.deep.equal(stored);
    });

  it('returns the documents of the gallery and of all golden files unchanged', () => {
    const golden = Object.values(goldenBlocks).map((blocks) => parsed(goldenDocument(...blocks)));
    const documents = [...golden, ...gallery.flatMap(({ documents: { en, de } }) => [en, de])];
    expect(documents.length).to.be.greaterThan(30);
    for (const stored of documents)
      expect(withSortedMarks(saved(opened(stored), stored))).to.deep.equal(withSortedMarks(stored));
  });

  it('finds the block that a path of the API names', () => {
    const otherwise = { type: 'otherwise', content: [paragraph('no')] };
    const condition = { type: 'condition', attrs: { test: { expression: 'a' } }, content: [otherwise] };
    const list = { type: 'bulletList', content: [{ type: 'listItem', content: [paragraph('item')] }] };
    const node = opened(document(paragraph('a'), { type: 'section', content: [paragraph('b'), list] }, condition));
    const at = (path: string) => node.nodeAt(positionOfPath(node, path) ?? -1)?.textContent;
    expect(at('content.0')).to.equal('a');
    expect(at('document.content.1.content.0.content.0.attrs.name')).to.equal('b');
    expect(at('content.1.content.1.content.0.content.0')).to.equal('item');
    expect(at('content.2.content.0.content.0')).to.equal('no');
    expect(positionOfPath(node, 'preheader')).to.equal(undefined);
  });

  it('writes typed tags as text, which the API accepts and shows as typed', () => {
    const typed = document(paragraph('{'), paragraph('x'));
    const node = Node.fromJSON(schema, documents.editorContent(document(paragraph('{{ a | b }} {% if %} {# c #}'))));
    const stored = parsed(saved(node, typed));
    expect(opened(stored).textContent).to.equal('{{ a | b }} {% if %} {# c #}');
    expect(saved(opened(stored), stored)).to.deep.equal(stored);
  });

  it('finds what the schema cannot refuse', () => {
    const columns = (inner: Json) => ({
      type: 'columns',
      content: [1, 2].map(() => ({ type: 'column', attrs: { width: 50 }, content: [inner] })),
    });
    const nested = (depth: number): Json =>
      depth === 1 ? paragraph('x') : { type: 'section', content: [nested(depth - 1)] };
    const faultOf = (...content: Json[]) => nestingFault(opened(document(...content)));
    expect(faultOf(columns({ type: 'section', content: [columns(paragraph('x'))] }))).to.equal('columns');
    expect(faultOf({ type: 'repeat', content: [{ type: 'repeat', content: [] }] })).to.equal('repeat');
    expect(faultOf({ type: 'footer' }, { type: 'footer' })).to.equal('footer');
    expect(faultOf(nested(7))).to.equal('depth');
    expect(faultOf(...Array.from({ length: 501 }, () => paragraph('x')))).to.equal('blocks');
    const items = (length: number): Json => ({
      type: 'bulletList',
      content: Array.from({ length }, () => ({ type: 'listItem', content: [paragraph('x')] })),
    });
    expect(faultOf(items(499))).to.equal(undefined);
    expect(faultOf(items(500))).to.equal('blocks');
    expect(faultOf(nested(6), columns(paragraph('x')))).to.equal(undefined);
  });

  describe('commands', () => {
    const stateOf = (...content: Json[]) => EditorState.create({ doc: opened(document(...content)) });
    const cursorIn = (state: EditorState, word: string): EditorState => {
      let at = 0;
      state.doc.descendants((node, pos) => {
        if (node.text?.includes(word)) at = pos;
      });
      return state.apply(state.tr.setSelection(TextSelection.create(state.doc, at)));
    };
    const run = (state: EditorState, name: string, ...given: unknown[]): EditorState => {
      const transaction = commands[name]?.(state, ...given);
      if (!transaction) throw new Error(`${name} does nothing`);
      transaction.doc.check();
      return state.apply(transaction);
    };
    const outline = ({ doc }: EditorState) => doc.toString();

    it('moves a block among its neighbours, and out of its frame at the edge', () => {
      const start = cursorIn(
        stateOf(paragraph('a'), { type: 'section', content: [paragraph('b'), paragraph('c')] }),
        'c',
      );
      const once = run(start, 'moveBlock', -1);
      expect(outline(once)).to.equal('doc(paragraph("a"), section(paragraph("c"), paragraph("b")))');
      const twice = run(once, 'moveBlock', -1);
      expect(outline(twice)).to.equal('doc(paragraph("a"), paragraph("c"), section(paragraph("b")))');
      expect(twice.selection.$from.parent.textContent).to.equal('c');
    });

    it('leaves a paragraph where the last block of a frame was', () => {
      const start = cursorIn(stateOf({ type: 'section', content: [paragraph('b')] }), 'b');
      expect(outline(run(start, 'moveBlock', 1))).to.equal('doc(section(paragraph), paragraph("b"))');
      expect(outline(run(start, 'removeBlock'))).to.equal('doc(section(paragraph))');
    });

    it('keeps the footer last', () => {
      const start = cursorIn(stateOf(paragraph('a'), { type: 'footer', content: [paragraph('f')] }), 'f');
      expect(outline(run(start, 'insertBlock', { type: 'divider' }))).to.equal(
        'doc(paragraph("a"), divider, footer(paragraph("f")))',
      );
      expect(commands.moveBlock?.(cursorIn(start, 'a'), 1)).to.equal(undefined);
    });

    it('keeps the blocks of columns that are taken away', () => {
      const column = (word: string) => ({ type: 'column', attrs: { width: 33 }, content: [paragraph(word)] });
      const widths = { type: 'columns', content: [column('a'), column('b'), { ...column('c'), attrs: { width: 34 } }] };
      const start = stateOf(widths);
      const place = { pos: 0, node: start.doc.firstChild, parent: start.doc, index: 0 };
      const two = run(start, 'setColumnCount', place, 2);
      expect(outline(two)).to.equal('doc(columns(column(paragraph("a")), column(paragraph("b"), paragraph("c"))))');
      expect(two.doc.firstChild?.children.map(({ attrs }) => attrs.width)).to.deep.equal([50, 50]);
    });

    it('adds and removes the other branch of a condition', () => {
      const condition = { type: 'condition', attrs: { test: { expression: 'a' } }, content: [paragraph('yes')] };
      const start = stateOf(condition);
      const placeIn = (state: EditorState) => ({ pos: 0, node: state.doc.firstChild, parent: state.doc, index: 0 });
      const withBoth = run(start, 'toggleOtherwise', placeIn(start));
      expect(outline(withBoth)).to.equal('doc(condition(paragraph("yes"), otherwise(paragraph)))');
      expect(withBoth.selection.toJSON()).to.deep.equal({ type: 'node', anchor: 0 });
      expect(outline(run(withBoth, 'toggleOtherwise', placeIn(withBoth)))).to.equal(outline(start));
    });
  });

  describe('subjects', () => {
    for (const subject of [
      'Plain',
      'News for {{plan ?? "everybody"}}',
      '{{firstName}}, {{order.total}}!',
      'It says \\"hi\\" {{name ?? "a \\"quoted\\" one"}}',
    ])
      it(`keeps ${subject}`, () => expect(line.templateOf(line.lineOf(subject))).to.equal(subject));

    it('leaves other tags as text', () => {
      const subject = '{% if a %}{{ a | upper }}{% endif %}';
      expect(line.lineOf(subject)).to.deep.equal([{ type: 'text', text: subject }]);
    });

    it('reads as a contact sees it', () => {
      const chips = line.lineOf('Hi {{first.name ?? "you"}} {{nobody}}');
      expect(line.lineText(chips, { first: { name: 'Ada' } })).to.equal('Hi Ada ');
      expect(line.lineText(chips, {})).to.equal('Hi you ');
    });
  });
});
