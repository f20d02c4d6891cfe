// Places that the API names.
import type { Node } from '@tiptap/pm/model';

/**
 * Returns the position of the innermost block on a path such as `content.2.content.0.attrs.href`. Errors of requests begin it
 * with `document`.
 */
export function positionOfPath(doc: Node, path: string): number | undefined {
  let node = doc;
  let inside = 0;
  let found: number | undefined;
  for (const index of indexesIn(path)) {
    const child = node.maybeChild(index + fillersBefore(node));
    if (!child || child.isInline || child.type.name === 'listItem') break;
    found = inside + offsetOf(node, child);
    node = child;
    inside = found + 1;
  }
  return found;
}

function indexesIn(path: string): number[] {
  const [, steps = ''] = /^(?:document\.)?((?:content\.\d+\.?)+)/.exec(path) ?? [];
  return [...steps.matchAll(/\d+/g)].map(([index]) => Number(index));
}

/** The paragraph of an empty branch is not in the document. */
const fillersBefore = (node: Node): number => (node.childCount > 1 && node.firstChild?.attrs.filler === true ? 1 : 0);

function offsetOf(node: Node, wanted: Node): number {
  let found = 0;
  node.forEach((child, offset) => {
    if (child === wanted) found = offset;
  });
  return found;
}
