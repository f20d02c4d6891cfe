import { blockAttributes, columnAttributes } from './attributes.ts';
import { cleanHtml } from './clean-html.ts';
import { readTest } from './condition.ts';
import { buttonText, readInlines, richText } from './parse-inline.ts';
import { isObject, joinPath, type ParseState, requireKeys } from './parse-state.ts';
import type { Block, Column, ColumnsBlock, ConditionTest, ListItem, OtherwiseBlock, ParagraphBlock } from './types.ts';

const MAX_BLOCKS = 500;
const MAX_DEPTH = 6;
const MAX_COLUMNS = 4;
const MIN_COLUMNS = 2;

/** Where a block stands. */
interface Place {
  depth: number;
  inColumns: boolean;
  inRepeat: boolean;
}

const TOP: Place = { depth: 1, inColumns: false, inRepeat: false };

export const readContent = (state: ParseState, value: unknown): Block[] => readBlocks(state, value, 'content', TOP);

/** Reads a list of nodes. */
function readNodes<Node>(
  state: ParseState,
  value: unknown,
  path: string,
  read: (node: Record<string, unknown>, path: string, index: number) => Node | undefined,
): Node[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    state.report(path, 'invalid_type', 'must be a list of nodes');
    return [];
  }
  const nodes: Node[] = [];
  for (const [index, node] of value.entries()) {
    const at = joinPath(path, index);
    if (state.isFull || state.blocks > MAX_BLOCKS) break;
    const item = isObject(node) ? read(node, at, index) : state.report(at, 'invalid_type', 'must be a node');
    if (item) nodes.push(item);
  }
  return nodes;
}

const readBlocks = (state: ParseState, value: unknown, path: string, place: Place): Block[] =>
  readNodes(state, value, path, (node, at) => readBlock(state, node, at, place));

const isBlockType = (type: unknown): type is Block['type'] =>
  typeof type === 'string' && Object.hasOwn(blockAttributes, type);

function readBlock(state: ParseState, node: Record<string, unknown>, path: string, place: Place): Block | undefined {
  const { type } = node;
  if (!isBlockType(type)) {
    const names = Object.keys(blockAttributes).join(', ');
    return state.report(
      joinPath(path, 'type'),
      type === undefined ? 'required' : 'invalid_enum',
      `must be one of ${names}`,
    );
  }
  if (++state.blocks > MAX_BLOCKS)
    return state.report(path, 'too_big', `is one block too many: a document has at most ${MAX_BLOCKS}`);
  if (place.depth > MAX_DEPTH) return state.report(path, 'too_big', `is nested deeper than ${MAX_DEPTH} levels`);
  if (!isAllowedAt(state, type, path, place)) return undefined;
  requireKeys(state, node, path, ['type', 'attrs', 'content']);
  const attrs = readAttributes(state, type, node.attrs, path);
  const content = joinPath(path, 'content');
  const inside = { ...place, depth: place.depth + 1 };
  // Reads the content of a block with invalid attributes too, so that all violations are found.
  const block = readTyped(state, type, attrs ?? {}, node.content, content, inside);
  if (type === 'bulletList' || type === 'orderedList') return attrs && ({ ...block, type } as Block);
  return attrs && ({ type, attrs, ...block } as Block);
}

function readAttributes(
  state: ParseState,
  type: Block['type'],
  given: unknown,
  path: string,
): Record<string, unknown> | undefined {
  const at = joinPath(path, 'attrs');
  const attrs = state.validate<Record<string, unknown>>(blockAttributes[type].required(), given ?? {}, at);
  if (!attrs) return undefined;
  if (type === 'condition') {
    const reading = readTest(attrs.test, joinPath(at, 'test'));
    if ('test' in reading) return { test: reading.test satisfies ConditionTest };
    state.reportAll(reading.violations);
    return undefined;
  }
  return type === 'html' ? readHtml(state, String(attrs.html), joinPath(at, 'html')) : attrs;
}

function readHtml(state: ParseState, given: string, path: string): { html: string } | undefined {
  const { html, removed, fault } = cleanHtml(given);
  if (fault !== undefined) return state.report(path, 'invalid_string', fault);
  if (removed.length > 0) {
    const detail = removed.join(', ');
    state.warnings.push({
      code: 'html_cleaned',
      level: 'WARNING',
      message: `Removed from the HTML: ${detail}.`,
      path,
      detail,
    });
  }
  return { html };
}

/** Reads what the block has besides its attributes. */
function readTyped(
  state: ParseState,
  type: Block['type'],
  _attrs: Record<string, unknown>,
  content: unknown,
  path: string,
  inside: Place,
): { content?: unknown[] } {
  switch (type) {
    case 'heading':
    case 'paragraph':
      return { content: readInlines(state, content, path, richText) };
    case 'button':
      return { content: readInlines(state, content, path, buttonText) };
    case 'bulletList':
    case 'orderedList':
      return { content: readNodes(state, content, path, (node, at) => readListItem(state, node, at, inside)) };
    case 'columns':
      return { content: readColumns(state, content, path, inside) };
    case 'section':
      return { content: readBlocks(state, content, path, inside) };
    case 'repeat':
      return { content: readBlocks(state, content, path, { ...inside, inRepeat: true }) };
    case 'condition':
      return { content: readBranches(state, content, path, inside) };
    case 'footer':
      return { content: readParagraphs(state, content, path, inside) };
    default:
      if (content !== undefined && !(Array.isArray(content) && content.length === 0))
        state.report(path, 'custom', `is not allowed in a block of type ${type}`);
      return {};
  }
}

function isAllowedAt(state: ParseState, type: Block['type'], path: string, place: Place): boolean {
  const rule = placeRule(state, type, place);
  if (rule !== undefined) state.report(path, 'custom', rule);
  return rule === undefined;
}

function placeRule(state: ParseState, type: Block['type'], place: Place): string | undefined {
  if (type === 'columns' && place.inColumns) return 'must not be columns inside columns';
  if (type === 'repeat' && place.inRepeat) return 'must not be a repeat inside a repeat';
  if (type === 'saved' && state.savedBlock) return 'must not be a saved block inside a saved block';
  if (type !== 'footer') return undefined;
  if (place.depth > 1) return 'must be at the top level, because it is a footer';
  if (state.savedBlock && state.savedBlock !== 'FOOTER')
    return 'must not be a footer: only blocks of kind FOOTER have one';
  return ++state.footers > 1 ? 'must not be a second footer' : undefined;
}

function readListItem(state: ParseState, node: Record<string, unknown>, path: string, inside: Place) {
  if (!isType(state, node, 'listItem', path)) return undefined;
  requireKeys(state, node, path, ['type', 'content']);
  const content = readParagraphs(state, node.content, joinPath(path, 'content'), inside);
  return { type: 'listItem', content } satisfies ListItem;
}

function readParagraphs(state: ParseState, content: unknown, path: string, inside: Place): ParagraphBlock[] {
  return readNodes(state, content, path, (node, at) => {
    if (!isType(state, node, 'paragraph', at)) return undefined;
    return readBlock(state, node, at, inside) as ParagraphBlock | undefined;
  });
}

function readColumns(state: ParseState, content: unknown, path: string, inside: Place): ColumnsBlock['content'] {
  const given: unknown[] = Array.isArray(content) ? content : [];
  if (given.length < MIN_COLUMNS) state.report(path, 'too_small', `must have at least ${MIN_COLUMNS} columns`);
  if (given.length > MAX_COLUMNS) {
    state.report(path, 'too_big', `must have at most ${MAX_COLUMNS} columns`);
    return [];
  }
  const before = state.violations.length;
  const columns = readNodes(state, content, path, (node, at, index) =>
    readColumn(state, node, at, { place: { ...inside, inColumns: true }, width: equalWidth(index, given.length) }),
  );
  const sum = columns.reduce((total, { attrs }) => total + attrs.width, 0);
  if (state.violations.length === before && sum !== 100)
    state.report(path, 'custom', `must have widths that sum to 100, not to ${sum}`);
  return columns;
}

/** The width of a column without one: the same for all, the last takes the rest. */
const equalWidth = (index: number, count: number): number =>
  index === count - 1 ? 100 - Math.floor(100 / count) * (count - 1) : Math.floor(100 / count);

function readColumn(
  state: ParseState,
  node: Record<string, unknown>,
  path: string,
  { place, width }: { place: Place; width: number },
): Column | undefined {
  if (!isType(state, node, 'column', path)) return undefined;
  requireKeys(state, node, path, ['type', 'attrs', 'content']);
  const attrs = state.validate<Partial<Column['attrs']>>(columnAttributes, node.attrs ?? {}, joinPath(path, 'attrs'));
  const content = readBlocks(state, node.content, joinPath(path, 'content'), place);
  return attrs && { type: 'column', attrs: { width, ...attrs }, content };
}

function readBranches(state: ParseState, content: unknown, path: string, inside: Place): (Block | OtherwiseBlock)[] {
  const last = Array.isArray(content) ? content.length - 1 : 0;
  return readNodes<Block | OtherwiseBlock>(state, content, path, (node, at, index) => {
    if (node.type !== 'otherwise') return readBlock(state, node, at, inside);
    if (index !== last) return state.report(at, 'custom', 'must be the last in its condition, and the only otherwise');
    requireKeys(state, node, at, ['type', 'content']);
    return { type: 'otherwise', content: readBlocks(state, node.content, joinPath(at, 'content'), inside) };
  });
}

function isType(state: ParseState, { type }: Record<string, unknown>, wanted: string, path: string): boolean {
  if (type === wanted) return true;
  state.report(joinPath(path, 'type'), type === undefined ? 'required' : 'invalid_enum', `must be ${wanted}`);
  return false;
}
