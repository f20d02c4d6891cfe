import type { EditorState } from '@tiptap/pm/state';
import { useEditorState } from '@tiptap/react';
import { type RefObject, useEffect, useId, useRef, useState } from 'react';
import { t } from '../../texts/index.ts';
import { type BlockChoice, matchingChoices } from './block-kinds.tsx';
import { useEditorTools } from './context.ts';
import './menus.css';

interface Query {
  /** Where the slash stands. */
  from: number;
  to: number;
  text: string;
}

/** Returns what is typed after a slash at the start of a word. */
function slashQuery({ selection }: EditorState): Query | undefined {
  const { $from, empty } = selection;
  const { parent, parentOffset } = $from;
  if (!empty || !parent.isTextblock || parent.type.name === 'button') return undefined;
  const before = parent.textBetween(0, parentOffset, undefined, '\ufffc');
  const text = /(?:^|\s)\/((?:[\p{L}\p{N}][\p{L}\p{N} ]{0,23})?)$/u.exec(before)?.[1];
  if (text === undefined) return undefined;
  return { from: $from.pos - text.length - 1, to: $from.pos, text };
}

interface SlashMenuProps {
  /** Gets the keys of the editor before it does. */
  keys: RefObject<((event: KeyboardEvent) => boolean) | undefined>;
  canvas: RefObject<HTMLElement | null>;
}

/** The blocks to insert, beside the cursor after a slash. The focus stays in the text. */
export function SlashMenu({ keys, canvas }: SlashMenuProps) {
  const { editor, choices: offered, insert } = useEditorTools();
  const id = useId();
  const query = useEditorState({
    editor,
    selector: ({ editor: { state, isFocused } }) => (isFocused ? slashQuery(state) : undefined),
    equalityFn: (a, b) => a?.from === b?.from && a?.text === b?.text,
  });
  const [closedAt, setClosedAt] = useState<number>();
  const [active, setActive] = useState(0);
  const menu = useRef<HTMLDivElement>(null);
  const choices = query ? matchingChoices(offered, query.text) : [];
  const isOpen = query !== undefined && query.from !== closedAt && choices.length > 0;
  const index = Math.min(active, choices.length - 1);

  // A new slash opens it again, and begins at the first choice.
  useEffect(() => {
    if (query === undefined) setClosedAt(undefined);
    setActive(0);
  }, [query?.from, query?.text]);

  const choose = (choice: BlockChoice | undefined) => {
    if (!query || !choice) return;
    editor.view.dispatch(editor.state.tr.delete(query.from, query.to));
    insert(choice);
  };

  keys.current = (event) => {
    if (!isOpen) return false;
    const steps: Record<string, () => void> = {
      ArrowDown: () => setActive((index + 1) % choices.length),
      ArrowUp: () => setActive((index + choices.length - 1) % choices.length),
      Enter: () => choose(choices[index]),
      Tab: () => choose(choices[index]),
      Escape: () => setClosedAt(query.from),
    };
    const step = steps[event.key];
    step?.();
    return step !== undefined;
  };

  // The editor is the combobox of this list.
  useEffect(() => {
    const { dom } = editor.view;
    if (isOpen) {
      dom.setAttribute('aria-controls', id);
      dom.setAttribute('aria-activedescendant', `${id}-${index}`);
      menu.current?.children[index]?.scrollIntoView({ block: 'nearest' });
    } else {
      dom.removeAttribute('aria-controls');
      dom.removeAttribute('aria-activedescendant');
    }
  }, [editor, isOpen, index, id]);

  if (!isOpen) return null;
  const place = placeOf(editor.view.coordsAtPos(Math.min(query.from, editor.state.doc.content.size)), canvas.current);
  return (
    <div ref={menu} id={id} className="slash-menu" role="listbox" aria-label={t.editor.insertBlock} style={place}>
      {choices.map((choice, at) => (
        <div
          key={choice.kind}
          id={`${id}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === index}
          className="slash-item"
          // The cursor stays in the text.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(choice)}
          onKeyDown={() => {}}
        >
          {choice.icon}
          <span>{t.editor.blocks[choice.kind]}</span>
        </div>
      ))}
    </div>
  );
}

const HEIGHT = 320;
const WIDTH = 240;

/** Below the cursor, or above where there is more room. */
function placeOf({ left, top, bottom }: { left: number; top: number; bottom: number }, canvas: HTMLElement | null) {
  const box = canvas?.getBoundingClientRect();
  if (!box) return {};
  const x = Math.max(4, Math.min(left - box.left, box.width - WIDTH - 4));
  const isAbove = bottom + HEIGHT > window.innerHeight && top > HEIGHT;
  return isAbove ? { left: x, bottom: box.bottom - top + 4 } : { left: x, top: bottom - box.top + 4 };
}
