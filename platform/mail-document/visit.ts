import { joinPath } from './parse-state.ts';
import type { Block, Column, Inline, ListItem, MailDocument, OtherwiseBlock, SavedBlocks } from './types.ts';

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

export interface PlacedBlock {
  node: BlockNode;
  /** The nodes around it, the outermost first. */
  parents: readonly BlockNode[];
  /** Returns the path of a part of the block. Everything in a saved block is at the place of that block. */
  at(...keys: (string | number)[]): string;
}

/** Calls `visit` for every block of an email, those of its saved blocks included. */
export function visitEmail(
  { content }: MailDocument,
  savedBlocks: SavedBlocks,
  visit: (block: PlacedBlock) => void,
): void {
  visitBlocks(content, 'content', ({ node, path, parents }) => {
    visit({ node, parents, at: (...keys) => joinPath(path, ...keys) });
    const saved = node.type === 'saved' ? savedBlocks.get(node.attrs.blockId) : undefined;
    visitBlocks(saved?.document.content ?? [], '', (inside) =>
      visit({ node: inside.node, parents: [...parents, ...inside.parents], at: () => path }),
    );
  });
}

type InlineParent = Extract<BlockNode, { content: Inline[] }>;

export const hasInlines = (node: BlockNode): node is InlineParent =>
  node.type === 'heading' || node.type === 'paragraph' || node.type === 'button';
