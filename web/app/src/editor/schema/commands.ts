// What is done to whole blocks. Each command is one step of undo.
import { closeHistory } from '@tiptap/pm/history';
import { Fragment, type Node, type Schema } from '@tiptap/pm/model';
import { type EditorState, NodeSelection, Selection, TextSelection, type Transaction } from '@tiptap/pm/state';
import type { DocumentNode } from './document.ts';
import { blockAt, currentBlock, type Place } from './places.ts';

const begin = ({ tr }: EditorState): Transaction => closeHistory(tr);

const end = ({ pos, node }: Place): number => pos + node.nodeSize;

const isEmptyParagraph = (node: Node): boolean => node.type.name === 'paragraph' && node.content.size === 0;

/** Selects a block, or places the cursor in its first text. */
function select(tr: Transaction, pos: number): Transaction {
  const node = tr.doc.nodeAt(pos);
  if (!node) return tr;
  if (node.isAtom) return tr.setSelection(NodeSelection.create(tr.doc, pos)).scrollIntoView();
  const selection = Selection.findFrom(tr.doc.resolve(pos + 1), 1, true);
  const isInside = selection && selection.from < pos + node.nodeSize;
  return tr.setSelection(isInside ? selection : NodeSelection.create(tr.doc, pos)).scrollIntoView();
}

export const selectBlock = (state: EditorState, pos: number): Transaction =>
  state.tr.setSelection(NodeSelection.create(state.doc, pos)).scrollIntoView();

/** Inserts a block after another one, by default after that with the cursor, and takes the place of an empty paragraph. */
export function insertBlock(state: EditorState, block: DocumentNode, after?: number): Transaction | undefined {
  const node = state.schema.nodeFromJSON(block);
  const place = after === undefined ? currentBlock(state) : blockAt(state.doc, after);
  if (!place) return insertAt(state, node, 0);
  const isFooter = node.type.name === 'footer';
  if (isFooter) return insertAt(state, node, state.doc.content.size);
  if (place.node.type.name === 'footer' || place.parent.type.name === 'footer') {
    // Nothing but paragraphs stands in a footer, and new blocks stand above it.
    const footer = positionOf(state.doc, 'footer');
    return footer === undefined ? undefined : insertAt(state, node, footer);
  }
  if (isEmptyParagraph(place.node)) {
    const tr = begin(state).replaceWith(place.pos, end(place), node);
    return select(tr, place.pos);
  }
  return insertAt(state, node, end(place));
}

function positionOf(doc: Node, name: string): number | undefined {
  let found: number | undefined;
  doc.forEach((node, offset) => {
    if (node.type.name === name) found = offset;
  });
  return found;
}

const insertAt = (state: EditorState, node: Node, pos: number): Transaction =>
  select(begin(state).insert(pos, node), pos);

/** Inserts a block before another one. */
export const insertBefore = (state: EditorState, block: DocumentNode, pos: number): Transaction =>
  insertAt(state, state.schema.nodeFromJSON(block), pos);

/** Moves a block past its neighbour, or out of its container at the edge. */
export function moveBlock(state: EditorState, direction: -1 | 1, place = currentBlock(state)): Transaction | undefined {
  if (!place || place.node.type.name === 'footer') return undefined;
  const { pos, node, parent, index } = place;
  const neighbour = parent.maybeChild(index + direction);
  const target =
    neighbour && neighbour.type.name !== 'otherwise' && neighbour.type.name !== 'footer'
      ? pos + direction * (direction < 0 ? neighbour.nodeSize : node.nodeSize + neighbour.nodeSize)
      : outsideOf(state, pos, direction);
  if (target === undefined) return undefined;
  const offset = state.selection.from - pos;
  const isSelected = state.selection instanceof NodeSelection && state.selection.from === pos;
  const tr = begin(state);
  // A container keeps at least one block.
  if (parent.childCount === 1 || isLastOfBranch(parent, index))
    tr.replaceWith(pos, pos + node.nodeSize, emptyParagraph(state.schema));
  else tr.delete(pos, pos + node.nodeSize);
  const at = tr.mapping.map(target, direction);
  tr.insert(at, node);
  tr.setSelection(
    isSelected || node.isAtom ? NodeSelection.create(tr.doc, at) : TextSelection.near(tr.doc.resolve(at + offset)),
  );
  return tr.scrollIntoView();
}

const emptyParagraph = (schema: Schema): Node => schema.nodeFromJSON({ type: 'paragraph' });

/** Whether a condition would be left with nothing but its other branch. */
const isLastOfBranch = (parent: Node, index: number): boolean =>
  parent.type.name === 'condition' && index === 0 && parent.maybeChild(1)?.type.name === 'otherwise';

/** Returns the position beside the container of a block. */
function outsideOf({ doc }: EditorState, pos: number, direction: -1 | 1): number | undefined {
  const $pos = doc.resolve(pos);
  for (let depth = $pos.depth; depth > 0; depth--) {
    const name = $pos.node(depth).type.name;
    if (name === 'column' || name === 'otherwise' || name === 'footer') continue;
    return direction < 0 ? $pos.before(depth) : $pos.after(depth);
  }
  return undefined;
}

export function removeBlock(state: EditorState, place = currentBlock(state)): Transaction | undefined {
  if (!place) return undefined;
  const { pos, parent, index } = place;
  const tr = begin(state);
  if (parent.childCount === 1 || isLastOfBranch(parent, index))
    tr.replaceWith(pos, end(place), emptyParagraph(state.schema));
  else tr.delete(pos, end(place));
  return tr.setSelection(Selection.near(tr.doc.resolve(Math.min(pos, tr.doc.content.size)), -1)).scrollIntoView();
}

export function duplicateBlock(state: EditorState, place = currentBlock(state)): Transaction | undefined {
  if (!place || place.node.type.name === 'footer') return undefined;
  return insertAt(state, place.node.copy(place.node.content), end(place));
}

/** Changes attributes of a node. `joined`: typing in one field of the inspector is one step of undo. */
export function setAttributes(
  state: EditorState,
  pos: number,
  attrs: Record<string, unknown>,
  { joined = false } = {},
): Transaction | undefined {
  const node = state.doc.nodeAt(pos);
  if (!node) return undefined;
  const isSelected = state.selection instanceof NodeSelection && state.selection.from === pos;
  const tr = (joined ? state.tr : begin(state)).setNodeMarkup(pos, undefined, { ...node.attrs, ...attrs }, node.marks);
  return isSelected ? tr.setSelection(NodeSelection.create(tr.doc, pos)) : tr;
}

/** Puts a block into a frame, such as a section or a condition. */
export function wrapBlock(
  state: EditorState,
  type: string,
  attrs: Record<string, unknown> = {},
): Transaction | undefined {
  const place = currentBlock(state);
  const frame = state.schema.nodes[type];
  if (!place || !frame || place.node.type.name === 'footer' || place.parent.type.name === 'footer') return undefined;
  const tr = begin(state).replaceWith(place.pos, end(place), frame.create(attrs, place.node));
  return tr.setSelection(NodeSelection.create(tr.doc, place.pos)).scrollIntoView();
}

/** Puts the blocks of a frame in its place. */
export function unwrapBlock(state: EditorState, place: Place): Transaction | undefined {
  const inner: Node[] = [];
  place.node.descendants((node, _pos, parent) => {
    if (
      node.isBlock &&
      (parent === place.node || parent?.type.name === 'column' || parent?.type.name === 'otherwise')
    ) {
      if (node.type.name === 'column' || node.type.name === 'otherwise') return true;
      inner.push(node);
    }
    return false;
  });
  if (inner.length === 0) return undefined;
  return select(begin(state).replaceWith(place.pos, end(place), Fragment.from(inner)), place.pos);
}

/** Changes the number of columns. Those that go leave their blocks in the last one that stays. */
export function setColumnCount(state: EditorState, { pos, node }: Place, count: number): Transaction {
  const columns = [...node.children];
  const kept = columns.slice(0, count);
  const left = columns
    .slice(count)
    .flatMap((column) => [...column.children])
    .filter((block) => !isEmptyParagraph(block));
  while (kept.length < count) {
    const type = columns[0]?.type;
    if (!type) break;
    kept.push(type.create(null, emptyParagraph(state.schema)));
  }
  const shares = evenShares(count);
  const changed = kept.map((column, index) => {
    const content = index === count - 1 ? column.content.append(Fragment.from(left)) : column.content;
    return column.type.create({ ...column.attrs, width: shares[index] }, content);
  });
  const tr = begin(state).replaceWith(pos, pos + node.nodeSize, node.copy(Fragment.from(changed)));
  return tr.setSelection(NodeSelection.create(tr.doc, pos));
}

/** Widths in percent that sum to 100. */
export const evenShares = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => Math.floor(100 / count) + (index < 100 % count ? 1 : 0));

/** Sets the widths of all columns. */
export function setColumnWidths(state: EditorState, { pos, node }: Place, widths: number[]): Transaction {
  const tr = begin(state);
  node.forEach((column, offset, index) => {
    tr.setNodeMarkup(pos + 1 + offset, undefined, { ...column.attrs, width: widths[index] ?? column.attrs.width });
  });
  return tr.setSelection(NodeSelection.create(tr.doc, pos));
}

/** Adds the other branch of a condition, or removes it with its blocks. */
export function toggleOtherwise(state: EditorState, { pos, node }: Place): Transaction {
  const last = node.lastChild;
  const close = pos + node.nodeSize - 1;
  const tr = begin(state);
  if (last?.type.name === 'otherwise') tr.delete(close - last.nodeSize, close);
  else tr.insert(close, state.schema.nodeFromJSON({ type: 'otherwise', content: [{ type: 'paragraph' }] }));
  return tr.setSelection(NodeSelection.create(tr.doc, pos));
}
