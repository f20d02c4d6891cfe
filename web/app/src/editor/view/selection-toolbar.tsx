import { ActionIcon, Divider } from '@mantine/core';
import {
  IconBold,
  IconBraces,
  IconClearFormatting,
  IconH1,
  IconH2,
  IconItalic,
  IconLink,
  IconPalette,
  IconStrikethrough,
  IconUnderline,
} from '@tabler/icons-react';
import { useEditorState } from '@tiptap/react';
import { type KeyboardEvent, type ReactNode, type RefObject, useRef } from 'react';
import { t } from '../../texts/index.ts';
import { ColorButton } from '../../ui/color-button.tsx';
import { useEditorTools } from './context.ts';
import './menus.css';

const MARKS = ['bold', 'italic', 'underline', 'strike', 'link'] as const;
type MarkName = (typeof MARKS)[number];

interface Tool {
  key: string;
  label: string;
  icon: ReactNode;
  isOn?: boolean;
  run(): void;
}

/** Formats of the selected text, beside it. F10 with Alt moves the focus here, Escape back. */
export function SelectionToolbar({ canvas }: { canvas: RefObject<HTMLElement | null> }) {
  const { editor, openDialog } = useEditorTools();
  const bar = useRef<HTMLDivElement>(null);
  const state = useEditorState({
    editor,
    selector: ({ editor: { state, isFocused, isActive, isEditable } }) => {
      const { from, to, empty } = state.selection;
      const isText = !empty && 'textBetween' in state.doc && state.doc.textBetween(from, to).length > 0;
      const isChosen = isText && !('node' in state.selection);
      return {
        from,
        to,
        isShown:
          isEditable && isChosen && (isFocused || document.activeElement?.closest('.selection-toolbar') !== null),
        on: MARKS.filter((name) => editor.isActive(name)).join(),
        level: editor.isActive('heading') ? Number(editor.getAttributes('heading').level) : 0,
        color: String(editor.getAttributes('color').color ?? ''),
        isButton: isActive.call(editor, 'button'),
      };
    },
  });
  if (!state.isShown) return null;

  const chain = () => editor.chain().focus();
  const isOn = (name: MarkName) => state.on.split(',').includes(name);
  const mark = (name: Exclude<MarkName, 'link'>, icon: ReactNode): Tool => ({
    key: name,
    label: t.editor.marks[name],
    icon,
    isOn: isOn(name),
    run: () => void chain().toggleMark(name).run(),
  });
  const heading = (level: number, icon: ReactNode): Tool => ({
    key: `heading${level}`,
    label: t.editor.headingLevel(level),
    icon,
    isOn: state.level === level,
    run: () => void chain().toggleNode('heading', 'paragraph', { level }).run(),
  });
  const tools: Tool[] = [
    mark('bold', <IconBold size={16} />),
    mark('italic', <IconItalic size={16} />),
    mark('underline', <IconUnderline size={16} />),
    mark('strike', <IconStrikethrough size={16} />),
    ...(state.isButton
      ? []
      : [
          {
            key: 'link',
            label: t.editor.marks.link,
            icon: <IconLink size={16} />,
            isOn: isOn('link'),
            run: () => openDialog('link'),
          },
          heading(1, <IconH1 size={16} />),
          heading(2, <IconH2 size={16} />),
        ]),
    {
      key: 'variable',
      label: t.editor.replaceByVariable,
      icon: <IconBraces size={16} />,
      run: () => openDialog('variable'),
    },
    {
      key: 'clear',
      label: t.editor.clearFormats,
      icon: <IconClearFormatting size={16} />,
      run: () => void chain().unsetAllMarks().run(),
    },
  ];

  const onKeyDown = (event: KeyboardEvent) => {
    const buttons = [...(bar.current?.querySelectorAll<HTMLElement>('button, input') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      event.preventDefault();
      buttons[(at + step + buttons.length) % buttons.length]?.focus();
    }
    if (event.key === 'Escape') editor.commands.focus();
  };
  // The state of this render may be older than the text.
  const { from, to } = editor.state.selection;
  const start = editor.view.coordsAtPos(from);
  const end = editor.view.coordsAtPos(to);
  const box = canvas.current?.getBoundingClientRect();
  const middle = start.top === end.top ? (start.left + end.left) / 2 : (start.left + (box?.right ?? end.left)) / 2;
  const left = Math.max(4, Math.min(middle - (box?.left ?? 0) - 170, (box?.width ?? 0) - 360));
  const top = start.top - (box?.top ?? 0) - 50;
  return (
    <div
      ref={bar}
      className="selection-toolbar"
      role="toolbar"
      aria-label={t.editor.formats}
      style={{ left, top: top < 0 ? end.bottom - (box?.top ?? 0) + 8 : top }}
      onKeyDown={onKeyDown}
    >
      {tools.map(({ key, label, icon, isOn, run }) => (
        <ActionIcon
          key={key}
          size={32}
          variant={isOn ? 'light' : 'subtle'}
          color={isOn ? undefined : 'gray'}
          aria-label={label}
          title={label}
          {...(isOn !== undefined && { 'aria-pressed': isOn })}
          onMouseDown={(event) => event.preventDefault()}
          onClick={run}
        >
          {icon}
        </ActionIcon>
      ))}
      <Divider orientation="vertical" mx={4} />
      <ColorButton value={state.color || '#1f2933'} onChange={(color) => editor.commands.setMark('color', { color })}>
        {(props) => (
          <ActionIcon
            size={32}
            variant="subtle"
            color="gray"
            aria-label={t.editor.marks.color}
            title={t.editor.marks.color}
            onMouseDown={(event) => event.preventDefault()}
            {...props}
          >
            <IconPalette size={16} />
          </ActionIcon>
        )}
      </ColorButton>
    </div>
  );
}
