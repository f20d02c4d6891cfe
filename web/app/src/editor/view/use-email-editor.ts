import { type Editor, Extension } from '@tiptap/core';
import { Dropcursor, Gapcursor, Placeholder, UndoRedo } from '@tiptap/extensions';
import { type RefObject, useEffect, useRef } from 'react';
import { t } from '../../texts/index.ts';
import { showProblem } from '../../ui/notify.ts';
import { BlockRules } from '../schema/block-rules.ts';
import { selectBlock } from '../schema/commands.ts';
import { type DocumentNode, documentOf, editorContent, type MailDocument } from '../schema/document.ts';
import { schemaExtensions } from '../schema/extensions.ts';
import { cleanPastedHtml } from '../schema/paste.ts';
import { SavedNames } from '../schema/saved-names.ts';
import { imagesIn } from '../upload.ts';
import { schemaTexts } from './schema-texts.ts';
import { useOwnEditor } from './use-own-editor.ts';

interface EmailEditorOptions {
  document: MailDocument;
  onChange(document: MailDocument): void;
  readOnly: boolean;
  /** Gets the keys first, while the slash menu is open. */
  keys: RefObject<((event: KeyboardEvent) => boolean) | undefined>;
  onImages(files: File[], at: number | undefined): void;
  openDialog(name: 'variable' | 'link'): void;
}

/** The editor of a document. It is created once; a document from elsewhere needs a new one. */
export function useEmailEditor(options: EmailEditorOptions): Editor {
  const { document, readOnly } = options;
  const current = useRef(options);
  current.current = options;
  const editor = useOwnEditor({
    extensions: [
      ...schemaExtensions(schemaTexts()),
      SavedNames,
      UndoRedo,
      Dropcursor.configure({ color: 'var(--mantine-color-iris-6)', width: 3 }),
      Gapcursor,
      Placeholder.configure({
        includeChildren: true,
        placeholder: ({ node }) => (node.type.name === 'heading' ? t.editor.blocks.heading : t.editor.placeholder),
      }),
      BlockRules.configure({ onRefused: (fault) => showProblem(new Error(t.editor.nesting[fault])) }),
      Extension.create({
        name: 'dialogKeys',
        addKeyboardShortcuts: () => ({
          'Mod-k': () => {
            current.current.openDialog('link');
            return true;
          },
          // On a chip, like a button.
          Enter: ({ editor: { state } }) => {
            if (!('node' in state.selection) || !editorIsOnChip(state.selection)) return false;
            current.current.openDialog('variable');
            return true;
          },
        }),
      }),
    ],
    content: editorContent(document),
    editable: !readOnly,
    injectCSS: false,
    shouldRerenderOnTransaction: false,
    editorProps: {
      attributes: {
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': t.editor.content,
        'aria-haspopup': 'listbox',
        class: 'email-content',
        tabindex: '0',
      },
      transformPastedHTML: cleanPastedHtml,
      handleKeyDown: (_, event) => options.keys.current?.(event) ?? false,
      handlePaste: (view, event) => {
        const files = imagesIn(event.clipboardData);
        // Word puts a picture of the text beside the text.
        if (files.length > 0 && event.clipboardData?.getData('text/html') === '') {
          current.current.onImages(files, undefined);
          return true;
        }
        const text = event.clipboardData?.getData('text/plain').trim() ?? '';
        const { link } = view.state.schema.marks;
        const { from, to, empty } = view.state.selection;
        if (!link || empty || !/^https?:\/\/\S+$/.test(text)) return false;
        view.dispatch(view.state.tr.addMark(from, to, link.create({ href: text })));
        return true;
      },
      handleDrop: (view, event) => {
        const files = imagesIn(event.dataTransfer);
        if (files.length === 0) return false;
        current.current.onImages(files, view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos);
        return true;
      },
      handleDOMEvents: {
        // The sentence of a frame stands for the frame.
        mousedown: (view, event) => {
          const { target } = event;
          if (!(target instanceof Element) || !target.classList.contains('frame-sentence')) return false;
          const content = target.parentElement?.querySelector(':scope > .frame-content');
          if (!content) return false;
          event.preventDefault();
          view.dispatch(selectBlock(view.state, view.posAtDOM(content, 0) - 1));
          view.focus();
          return true;
        },
      },
      handleDoubleClickOn: (_, __, node) => {
        if (node.type.name !== 'variable') return false;
        current.current.openDialog('variable');
        return true;
      },
    },
    onUpdate: ({ editor }) => {
      const { document: around, onChange } = current.current;
      onChange(documentOf(editor.getJSON() as DocumentNode, around));
    },
  });
  useEffect(() => {
    editor.setEditable(!readOnly, false);
  }, [editor, readOnly]);
  return editor;
}

const editorIsOnChip = (selection: object): boolean =>
  (selection as { node?: { type: { name: string } } }).node?.type.name === 'variable';
