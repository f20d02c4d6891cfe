// Shows the names of saved blocks, which documents name by id only.
import { Extension } from '@tiptap/core';
import { Plugin, PluginKey, type Transaction } from '@tiptap/pm/state';
import { Decoration, DecorationSet } from '@tiptap/pm/view';

type Names = ReadonlyMap<string, string>;

const key = new PluginKey<Names>('savedNames');

/** Makes names known; no step of undo. */
export const setSavedNames = (tr: Transaction, names: Names): Transaction =>
  tr.setMeta(key, names).setMeta('addToHistory', false);

export const SavedNames = Extension.create({
  name: 'savedNames',
  addProseMirrorPlugins: () => [
    new Plugin<Names>({
      key,
      state: {
        init: () => new Map(),
        apply: (tr, names) => (tr.getMeta(key) as Names | undefined) ?? names,
      },
      props: {
        decorations: (state) => {
          const names = key.getState(state);
          const found: Decoration[] = [];
          state.doc.descendants((node, pos) => {
            const name = node.type.name === 'saved' ? names?.get(String(node.attrs.blockId)) : undefined;
            if (name) found.push(Decoration.node(pos, pos + node.nodeSize, { 'data-name': name }));
            return !node.isTextblock;
          });
          return DecorationSet.create(state.doc, found);
        },
      },
    }),
  ],
});
