import { renderedViolations } from './check-rendered.ts';
import { joinPath, sentence } from './parse-state.ts';
import type { Block, DocumentViolation, MailDocument, SavedBlocks } from './types.ts';
import { type BlockNode, visitBlocks } from './visit.ts';

const MAX_BLOCKS = 500;

/** Returns the ids of the saved blocks that a document uses, each once. */
export function savedBlockIds(document: MailDocument): string[] {
  const ids = new Set<string>();
  visitBlocks(document.content, 'content', ({ node }) => {
    if (node.type === 'saved') ids.add(node.attrs.blockId);
  });
  return [...ids];
}

/** Checks what only the saved blocks themselves tell: that they exist, and that their content may stand there. */
export function checkSavedBlocks(document: MailDocument, savedBlocks: SavedBlocks): DocumentViolation[] {
  const violations: DocumentViolation[] = [];
  const report = (path: string, code: DocumentViolation['code'], rule: string) =>
    violations.push({ path, code, message: sentence(path, rule) });
  let footers = document.content.filter(({ type }) => type === 'footer').length;
  let blocks = 0;
  visitBlocks(document.content, 'content', ({ node, path, parents }) => {
    if (isCounted(node)) blocks++;
    if (node.type !== 'saved') return;
    const saved = savedBlocks.get(node.attrs.blockId);
    if (!saved) {
      report(joinPath(path, 'attrs.blockId'), 'custom', 'is not the id of a saved block');
      return;
    }
    if (saved.kind === 'FOOTER') {
      if (parents.length > 0) report(path, 'custom', 'must be at the top level, because it is a footer');
      else if (++footers > 1) report(path, 'custom', 'must not be a second footer');
    }
    blocks += countBlocks(saved.document.content);
    const inside = new Set(parents.map(({ type }) => type));
    visitBlocks(saved.document.content, '', ({ node: own }) => {
      if (own.type === 'columns' && inside.has('columns')) inside.delete('columns');
      else if (own.type === 'repeat' && inside.has('repeat')) inside.delete('repeat');
      else return;
      report(path, 'custom', `must not be ${own.type} inside ${own.type}: the saved block has some`);
    });
  });
  if (blocks > MAX_BLOCKS) report('content', 'too_big', `must have at most ${MAX_BLOCKS} blocks with its saved blocks`);
  return violations.length > 0 ? violations : renderedViolations(document, savedBlocks);
}

function countBlocks(content: Block[]): number {
  let count = 0;
  visitBlocks(content, '', ({ node }) => {
    if (isCounted(node)) count++;
  });
  return count;
}

/** Columns, items of lists and the other branch of a condition are parts of their blocks. */
const isCounted = ({ type }: BlockNode): boolean => type !== 'column' && type !== 'listItem' && type !== 'otherwise';
