import { Editor, type UseEditorOptions } from '@tiptap/react';
import { useEffect, useRef, useState } from 'react';

/**
 * An editor that lives as long as its component. The library's `useEditor` destroys an editor whose component is not
 * mounted a millisecond after its first render, as on a busy computer or beside a part that is still loaded; what is
 * shown then fails, or loses text that was typed.
 */
export function useOwnEditor(options: UseEditorOptions): Editor {
  const [editor] = useState(() => new Editor(options));
  const removal = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // A component may be unmounted and mounted again in the same task.
    clearTimeout(removal.current);
    return () => {
      removal.current = setTimeout(() => editor.destroy());
    };
  }, [editor]);
  // A label may have changed, and handlers see the newest render.
  const { editorProps } = options;
  useEffect(() => {
    if (editorProps) editor.setOptions({ editorProps });
  }, [editor, editorProps]);
  return editor;
}
