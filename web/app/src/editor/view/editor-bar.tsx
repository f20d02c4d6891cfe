import { ActionIcon, Button, Group } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp, IconBraces, IconPlus } from '@tabler/icons-react';
import { useEditorState } from '@tiptap/react';
import { t } from '../../texts/index.ts';
import { MenuButton } from '../../ui/menu-button.tsx';
import { useEditorTools } from './context.ts';

/** What can be done at any time: undo, redo, insert. */
export function EditorBar() {
  const { editor, choices, insert, openDialog } = useEditorTools();
  const { canUndo, canRedo } = useEditorState({
    editor,
    selector: ({ editor }) => ({ canUndo: editor.can().undo(), canRedo: editor.can().redo() }),
  });
  return (
    <Group gap="xs" role="toolbar" aria-label={t.editor.tools}>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={t.editor.undo}
        title={t.editor.undo}
        disabled={!canUndo}
        onClick={() => editor.chain().focus().undo().run()}
      >
        <IconArrowBackUp size={18} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={t.editor.redo}
        title={t.editor.redo}
        disabled={!canRedo}
        onClick={() => editor.chain().focus().redo().run()}
      >
        <IconArrowForwardUp size={18} />
      </ActionIcon>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={t.editor.insertVariable}
        title={t.editor.insertVariable}
        onClick={() => openDialog('variable')}
      >
        <IconBraces size={18} />
      </ActionIcon>
      <MenuButton
        position="bottom-start"
        items={choices.map((choice) => ({
          key: choice.kind,
          label: t.editor.blocks[choice.kind],
          icon: choice.icon,
          onClick: () => insert(choice),
        }))}
      >
        {(props) => (
          <Button
            variant="light"
            size="sm"
            leftSection={<IconPlus size={16} />}
            aria-label={t.editor.insertBlock}
            className="insert-button"
            {...props}
          >
            {t.editor.insertBlock}
          </Button>
        )}
      </MenuButton>
    </Group>
  );
}
