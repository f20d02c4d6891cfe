import { ActionIcon } from '@mantine/core';
import { IconGripVertical, IconPlus } from '@tabler/icons-react';
import { NodeSelection } from '@tiptap/pm/state';
import { useEditorState } from '@tiptap/react';
import { type DragEvent, type RefObject, useEffect, useState } from 'react';
import { t } from '../../texts/index.ts';
import { MenuButton } from '../../ui/menu-button.tsx';
import { selectBlock } from '../schema/commands.ts';
import { blockAt, currentBlock, isPart, placesAround } from '../schema/places.ts';
import { useEditorTools } from './context.ts';
import './menus.css';

/** Beside the block under the pointer: to drag it, to choose it, and to insert another one below it. */
export function BlockHandle({ canvas }: { canvas: RefObject<HTMLElement | null> }) {
  const { editor, choices, insert } = useEditorTools();
  const [hovered, setHovered] = useState<number>();
  const current = useEditorState({
    editor,
    selector: ({ editor: { state } }) => ({ pos: currentBlock(state)?.pos, doc: state.doc }),
    equalityFn: (a, b) => a?.pos === b?.pos && a?.doc === b?.doc,
  });

  useEffect(() => {
    const { current: box } = canvas;
    if (!box) return undefined;
    const follow = (event: PointerEvent) => {
      if (event.pointerType === 'touch' || (event.target as Element).closest('.block-handle')) return;
      setHovered(blockUnder(editor, event));
    };
    const leave = () => setHovered(undefined);
    editor.on('update', leave);
    box.addEventListener('pointermove', follow);
    box.addEventListener('pointerleave', leave);
    return () => {
      editor.off('update', leave);
      box.removeEventListener('pointermove', follow);
      box.removeEventListener('pointerleave', leave);
    };
  }, [canvas, editor]);

  const pos = hovered ?? current.pos;
  const place = pos === undefined ? undefined : blockAt(editor.state.doc, Math.min(pos, editor.state.doc.content.size));
  const frame = canvas.current?.getBoundingClientRect();
  // Before the text is there.
  if (!place || !frame) return null;
  const element = editor.view.nodeDOM(place.pos);
  if (!(element instanceof HTMLElement)) return null;
  const box = element.getBoundingClientRect();
  const isFixed = place.node.type.name === 'footer';
  const startDrag = (event: DragEvent) => {
    const { view } = editor;
    view.dispatch(selectBlock(view.state, place.pos));
    const slice = view.state.selection.content();
    event.dataTransfer.clearData();
    event.dataTransfer.setData('text/html', ' ');
    event.dataTransfer.effectAllowed = 'move';
    event.dataTransfer.setDragImage(element, 0, 0);
    const node = NodeSelection.create(view.state.doc, place.pos);
    view.dragging = Object.assign({ slice, move: true }, { node });
  };
  return (
    <div className="block-handle" style={{ left: Math.max(0, box.left - frame.left - 58), top: box.top - frame.top }}>
      <MenuButton
        position="bottom-start"
        items={choices.map((choice) => ({
          key: choice.kind,
          label: t.editor.blocks[choice.kind],
          icon: choice.icon,
          onClick: () => insert(choice, place.pos),
        }))}
      >
        {(props) => (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={26}
            tabIndex={-1}
            aria-label={t.editor.insertBelow}
            title={t.editor.insertBelow}
            {...props}
          >
            <IconPlus size={16} />
          </ActionIcon>
        )}
      </MenuButton>
      {!isFixed && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size={26}
          tabIndex={-1}
          draggable
          aria-label={t.editor.drag}
          title={t.editor.drag}
          onDragStart={startDrag}
          onDragEnd={() => {
            editor.view.dragging = null;
          }}
          onClick={() => {
            editor.view.dispatch(selectBlock(editor.state, place.pos));
            editor.view.focus();
          }}
        >
          <IconGripVertical size={16} />
        </ActionIcon>
      )}
    </div>
  );
}

/** Returns the innermost block at the height of the pointer. */
function blockUnder(
  editor: ReturnType<typeof useEditorTools>['editor'],
  { clientX, clientY }: PointerEvent,
): number | undefined {
  const box = editor.view.dom.getBoundingClientRect();
  // Left of the text stands the handle itself, at the height of its block.
  const left = Math.min(Math.max(clientX, box.left + 24), box.right - 8);
  const found = editor.view.posAtCoords({ left, top: clientY });
  if (!found) return undefined;
  const { doc } = editor.state;
  const inside = found.inside >= 0 ? doc.nodeAt(found.inside) : null;
  if (inside?.isAtom && !inside.isInline) return found.inside;
  return placesAround(doc.resolve(found.pos)).findLast(({ node }) => !isPart(node))?.pos;
}
