// Commands for saved blocks, which documents name by id. Each is one step of undo.
import { closeHistory } from '@tiptap/pm/history';
import { Fragment } from '@tiptap/pm/model';
import { type EditorState, NodeSelection, type Transaction } from '@tiptap/pm/state';
import type { SavedBlock } from '../../api/api-types.ts';
import { insertBlock } from './commands.ts';
import { type DocumentNode, documentOf, editorContent, type MailDocument } from './document.ts';
import type { Place } from './places.ts';

type SavedBlockKind = SavedBlock['kind'];

/** Returns the document of a saved block that has the content of a block. */
export const documentOfBlock = ({ node }: Place): MailDocument =>
  documentOf({ type: 'doc', content: [node.toJSON() as DocumentNode] }, { version: 1, content: [] });

/** Whether a block can become a saved one, which holds no other saved block. */
export function isSavable({ node }: Place): boolean {
  let holdsSaved = node.type.name === 'saved';
  node.descendants((inner) => {
    holdsSaved ||= inner.type.name === 'saved';
    return !holdsSaved;
  });
  return !holdsSaved;
}

/** Inserts a saved block. A footer stands at the end, in place of the present one. */
export function insertSaved(
  state: EditorState,
  { id, kind }: { id: string; kind: SavedBlockKind },
  after?: number,
): Transaction | undefined {
  const block: DocumentNode = { type: 'saved', attrs: { blockId: id } };
  if (kind !== 'FOOTER') return insertBlock(state, block, after);
  const { lastChild, content } = state.doc;
  const start = lastChild?.type.name === 'footer' ? content.size - lastChild.nodeSize : content.size;
  const tr = closeHistory(state.tr).replaceWith(start, content.size, state.schema.nodeFromJSON(block));
  return tr.setSelection(NodeSelection.create(tr.doc, start)).scrollIntoView();
}

/** Puts a saved block in the place of the block that it was made of. */
export function replaceBySaved(state: EditorState, { pos, node }: Place, blockId: string): Transaction {
  const saved = state.schema.nodeFromJSON({ type: 'saved', attrs: { blockId } });
  const tr = closeHistory(state.tr).replaceWith(pos, pos + node.nodeSize, saved);
  return tr.setSelection(NodeSelection.create(tr.doc, pos));
}

/** Puts the blocks of a saved block in its place; from then on they are the email's own. */
export function replaceByContent(state: EditorState, { pos, node }: Place, document: MailDocument): Transaction {
  const blocks = editorContent(document).content ?? [];
  const nodes = blocks.map((block) => state.schema.nodeFromJSON(block));
  return closeHistory(state.tr)
    .replaceWith(pos, pos + node.nodeSize, Fragment.from(nodes))
    .scrollIntoView();
}
