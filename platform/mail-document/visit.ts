import { joinPath } from './parse-state.ts';
import type { Block, Column, Inline, ListItem, OtherwiseBlock } from './types.ts';

export type BlockNode = Block | Column | ListItem | OtherwiseBlock;

export interface Visit {
  node: BlockNode;
  path: string;
  /** The nodes around it, the outermost first. */
  parents: readonly BlockNode[];
}

/** Calls `visit` for every block, parents first. */
export function visitBlocks(
  nodes: readonly BlockNode[],
  path: string,
  visit: (visit: Visit) => void,
  parents: readonly BlockNode[] = [],
): void {
  for (const [index, node] of nodes.entries()) {
    const at = joinPath(path, index);
    visit({ node, path: at, parents });
    if (hasInlines(node) || !('content' in node)) continue;
    visitBlocks(node.content, joinPath(at, 'content'), visit, [...parents, node]);
  }
}

type InlineParent = Extract<BlockNode, { content: Inline[] }>;

export const hasInlines = (node: BlockNode): node is InlineParent =>
  node.type === 'heading' || node.type === 'paragraph' || node.type === 'button';
