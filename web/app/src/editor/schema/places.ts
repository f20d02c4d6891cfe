// Blocks around the cursor, and the rules of nesting that the schema itself cannot express.
import type { Node, ResolvedPos } from '@tiptap/pm/model';
import { type EditorState, NodeSelection } from '@tiptap/pm/state';

/** A block and where it stands. */
export interface Place {
  pos: number;
  node: Node;
  parent: Node;
  index: number;
}

const CONTAINERS = new Set(['doc', 'column', 'section', 'condition', 'otherwise', 'repeat', 'footer']);
/** Parts of a frame that are no blocks themselves, but can be chosen. */
const PARTS = new Set(['column', 'otherwise']);

const isContainer = (node: Node): boolean => CONTAINERS.has(node.type.name);
export const isPart = (node: Node): boolean => PARTS.has(node.type.name);

/** Returns the blocks and parts around a position, outermost first. */
export function placesAround($pos: ResolvedPos): Place[] {
  const places: Place[] = [];
  for (let depth = 1; depth <= $pos.depth; depth++) {
    const parent = $pos.node(depth - 1);
    const node = $pos.node(depth);
    if (isContainer(parent) || isPart(node))
      places.push({ pos: $pos.before(depth), node, parent, index: $pos.index(depth - 1) });
  }
  return places;
}

/** Returns the blocks around the selection, outermost first; a selected block is the last. */
export function placesOf({ selection }: EditorState): Place[] {
  const { $from } = selection;
  const places = placesAround($from);
  if (selection instanceof NodeSelection && !selection.node.isInline)
    places.push({ pos: $from.pos, node: selection.node, parent: $from.parent, index: $from.index() });
  return places;
}

export const blockAt = (doc: Node, pos: number): Place | undefined => {
  const node = doc.nodeAt(pos);
  if (!node) return undefined;
  const $pos = doc.resolve(pos);
  return { pos, node, parent: $pos.parent, index: $pos.index() };
};

/** The innermost block around the selection that can be moved, copied and removed. */
export const currentBlock = (state: EditorState): Place | undefined =>
  placesOf(state).findLast(({ node, parent }) => isContainer(parent) && !isPart(node));

/** The selected chip. */
export const selectedVariable = ({ selection }: EditorState): Place | undefined =>
  selection instanceof NodeSelection && selection.node.type.name === 'variable'
    ? { pos: selection.from, node: selection.node, parent: selection.$from.parent, index: selection.$from.index() }
    : undefined;

export type NestingFault = 'columns' | 'repeat' | 'footer' | 'depth' | 'blocks';

const MAX_DEPTH = 6;
const MAX_BLOCKS = 500;
/** They add no depth and are no blocks. */
const FLAT = new Set(['column', 'listItem', 'otherwise']);

/** Returns the first rule of the document format that a content breaks. */
export function nestingFault(doc: Node): NestingFault | undefined {
  let blocks = 0;
  let footers = 0;
  const visit = (node: Node, depth: number, inside: ReadonlySet<string>): NestingFault | undefined => {
    const { name } = node.type;
    if (node.isInline) return undefined;
    const isRoot = name === 'doc';
    if (!isRoot) {
      if (!FLAT.has(name) && ++blocks > MAX_BLOCKS) return 'blocks';
      if (name === 'footer' && ++footers > 1) return 'footer';
      if ((name === 'columns' || name === 'repeat') && inside.has(name)) return name;
    }
    const own = isRoot || FLAT.has(name) ? depth : depth + 1;
    if (own > MAX_DEPTH) return 'depth';
    const within = name === 'columns' || name === 'repeat' ? new Set([...inside, name]) : inside;
    for (const child of node.children) {
      const fault = visit(child, own, within);
      if (fault) return fault;
    }
    return undefined;
  };
  return visit(doc, 0, new Set());
}
