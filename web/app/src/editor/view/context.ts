// What the parts of the editor share.
import type { Editor } from '@tiptap/core';
import { createContext, useContext } from 'react';
import type { BlockChoice } from './block-kinds.tsx';

export type DialogName = 'variable' | 'link' | 'image' | 'saved' | 'save';

export interface EditorTools {
  editor: Editor;
  readOnly: boolean;
  /** The blocks that this document can have. */
  choices: BlockChoice[];
  /** Inserts a block after the one with the cursor, or after the one at a position. */
  insert(choice: BlockChoice, after?: number): void;
  openDialog(name: DialogName): void;
  /** Uploads images and inserts them after the block with the cursor, or at a position. */
  addImages(files: File[], at?: number): void;
}

const ToolsContext = createContext<EditorTools | undefined>(undefined);

export const EditorToolsProvider = ToolsContext.Provider;

export function useEditorTools(): EditorTools {
  const tools = useContext(ToolsContext);
  if (!tools) throw new Error('A part of the editor is outside of it.');
  return tools;
}
