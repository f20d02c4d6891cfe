// Keys for whole blocks, and the refusal of what the document format does not allow.
import { Extension } from '@tiptap/core';
import { Plugin, type Transaction } from '@tiptap/pm/state';
import { duplicateBlock, moveBlock, removeBlock, selectBlock } from './commands.ts';
import { type NestingFault, nestingFault, placesOf } from './places.ts';

interface BlockRulesOptions {
  /** Tells the user why nothing happened. */
  onRefused(fault: NestingFault): void;
}

export const BlockRules = Extension.create<BlockRulesOptions>({
  name: 'blockRules',
  addOptions: () => ({ onRefused: () => {} }),
  addKeyboardShortcuts() {
    const { editor } = this;
    const run = (transaction: Transaction | undefined): boolean => {
      if (transaction) editor.view.dispatch(transaction);
      // Browsers move by words or go back with these keys.
      return true;
    };
    return {
      'Alt-ArrowUp': () => run(moveBlock(editor.state, -1)),
      'Alt-ArrowDown': () => run(moveBlock(editor.state, 1)),
      'Mod-d': () => run(duplicateBlock(editor.state)),
      'Mod-Shift-Backspace': () => run(removeBlock(editor.state)),
      // Selects the block, then the one around it.
      Escape: () => {
        const { state } = editor;
        const outer = placesOf(state).findLast(({ pos }) => state.selection.empty || pos < state.selection.from);
        return outer ? run(selectBlock(state, outer.pos)) : false;
      },
    };
  },
  addProseMirrorPlugins() {
    const { onRefused } = this.options;
    return [
      new Plugin({
        filterTransaction: (transaction, state) => {
          if (!transaction.docChanged) return true;
          const fault = nestingFault(transaction.doc);
          // What came from the server that way can still be edited.
          if (!fault || nestingFault(state.doc)) return true;
          onRefused(fault);
          return false;
        },
      }),
    ];
  },
});
