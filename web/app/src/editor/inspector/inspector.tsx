import { ActionIcon, Anchor, Button, Group, Stack, Title } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconBoxMargin,
  IconBoxOff,
  IconComponents,
  IconCopy,
  IconFilter,
  IconRepeat,
  IconTrash,
} from '@tabler/icons-react';
import type { Transaction } from '@tiptap/pm/state';
import { useEditorState } from '@tiptap/react';
import type { ReactNode } from 'react';
import { t } from '../../texts/index.ts';
import { duplicateBlock, moveBlock, removeBlock, selectBlock, unwrapBlock, wrapBlock } from '../schema/commands.ts';
import { isPart, type Place, placesOf, selectedVariable } from '../schema/places.ts';
import { isSavable } from '../schema/saved-commands.ts';
import type { BlockKind } from '../view/block-kinds.tsx';
import { useEditorTools } from '../view/context.ts';
import { BlockFields } from './block-fields.tsx';
import './inspector.css';

export const blockName = (type: string): string => t.editor.blocks[type as BlockKind] ?? t.editor.parts[type] ?? type;

const FRAMES = new Set(['section', 'columns', 'condition', 'repeat']);

/** Everything about the block with the cursor, and the way to the blocks around it. */
export function Inspector({ around }: { around: ReactNode }) {
  const { editor, openDialog, readOnly } = useEditorTools();
  const { places, variable } = useEditorState({
    editor,
    selector: ({ editor: { state } }) => ({ places: placesOf(state), variable: selectedVariable(state) }),
    equalityFn: (a, b) => isSamePlaces(a.places, b?.places) && a.variable?.node === b?.variable?.node,
  });
  const place = places.at(-1);
  if (readOnly) return around;
  return (
    <Stack gap="lg">
      {place && (
        <Stack gap="sm" key={place.pos}>
          <Stack gap={4}>
            <Title order={3} size="h5">
              {blockName(place.node.type.name)}
            </Title>
            {places.length > 1 && (
              <ol className="inspector-path" aria-label={t.editor.path}>
                {places.slice(0, -1).map(({ pos, node }) => (
                  <li key={pos}>
                    <Anchor
                      component="button"
                      type="button"
                      size="xs"
                      onClick={() => editor.view.dispatch(selectBlock(editor.state, pos))}
                    >
                      {blockName(node.type.name)}
                    </Anchor>
                  </li>
                ))}
              </ol>
            )}
          </Stack>
          {variable && (
            <Button variant="light" onClick={() => openDialog('variable')}>
              {t.editor.editVariable(String(variable.node.attrs.name))}
            </Button>
          )}
          <BlockActions place={place} />
          <BlockFields place={place} />
        </Stack>
      )}
      {around}
    </Stack>
  );
}

const isSamePlaces = (a: Place[], b: Place[] | undefined): boolean =>
  a.length === b?.length && a.every(({ pos, node }, index) => pos === b[index]?.pos && node === b[index]?.node);

interface BlockAction {
  label: string;
  icon: ReactNode;
  run(): Transaction | undefined;
}

function BlockActions({ place }: { place: Place }) {
  const { editor, choices, openDialog } = useEditorTools();
  const { type } = place.node;
  const savesBlocks = choices.some(({ kind }) => kind === 'saved');
  if (isPart(place.node)) return null;
  const isFooter = type.name === 'footer';
  const isInFooter = place.parent.type.name === 'footer';
  const { state } = editor;
  const icon = { size: 16 };
  const actions: (BlockAction | false)[] = [
    !isFooter && {
      label: t.editor.moveUp,
      icon: <IconArrowUp {...icon} />,
      run: () => moveBlock(editor.state, -1, place),
    },
    !isFooter && {
      label: t.editor.moveDown,
      icon: <IconArrowDown {...icon} />,
      run: () => moveBlock(editor.state, 1, place),
    },
    !isFooter && {
      label: t.common.duplicate,
      icon: <IconCopy {...icon} />,
      run: () => duplicateBlock(editor.state, place),
    },
    FRAMES.has(type.name) && {
      label: t.editor.unwrap,
      icon: <IconBoxOff {...icon} />,
      run: () => unwrapBlock(editor.state, place),
    },
    !isFooter &&
      !isInFooter && {
        label: t.editor.wrapIn(t.editor.blocks.section),
        icon: <IconBoxMargin {...icon} />,
        run: () => wrapBlock(editor.state, 'section'),
      },
    !isFooter &&
      !isInFooter && {
        label: t.editor.wrapIn(t.editor.blocks.condition),
        icon: <IconFilter {...icon} />,
        run: () => wrapBlock(state, 'condition', { test: { field: 'subscribed', operator: 'equals', value: true } }),
      },
    !isFooter &&
      !isInFooter && {
        label: t.editor.wrapIn(t.editor.blocks.repeat),
        icon: <IconRepeat {...icon} />,
        run: () => wrapBlock(editor.state, 'repeat'),
      },
    savesBlocks &&
      !isInFooter &&
      isSavable(place) && {
        label: t.editor.saveBlock,
        icon: <IconComponents {...icon} />,
        run: () => {
          openDialog('save');
          return undefined;
        },
      },
    { label: t.editor.removeBlock, icon: <IconTrash {...icon} />, run: () => removeBlock(editor.state, place) },
  ];
  return (
    <Group gap={4} role="group" aria-label={t.editor.blockActions}>
      {actions
        .filter((action) => action !== false)
        .map(({ label, icon, run }) => (
          <ActionIcon
            key={label}
            variant="default"
            size={32}
            aria-label={label}
            title={label}
            onClick={() => {
              const transaction = run();
              if (transaction) editor.view.dispatch(transaction);
            }}
          >
            {icon}
          </ActionIcon>
        ))}
    </Group>
  );
}
