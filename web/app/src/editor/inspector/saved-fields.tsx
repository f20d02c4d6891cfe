import { Button, Group, Stack, Text } from '@mantine/core';
import { IconLinkOff } from '@tabler/icons-react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { TextLink } from '../../ui/links.tsx';
import { useSavedBlocks } from '../saved/use-saved-blocks.ts';
import type { MailDocument } from '../schema/document.ts';
import { replaceByContent } from '../schema/saved-commands.ts';
import { useEditorTools } from '../view/context.ts';
import type { FieldsProps } from './block-fields.tsx';

/** Which saved block it is, the way to it, and how to make its content the email's own. */
export function SavedFields({ place }: FieldsProps) {
  const { client, projectId } = useApi();
  const { editor } = useEditorTools();
  const id = String(place.node.attrs.blockId);
  const block = useSavedBlocks()?.find((each) => each.id === id);
  const detach = useAction({
    run: () => unwrap(client.GET('/saved-blocks/{id}', { params: { path: { id } } })),
    onDone: ({ document }) => {
      // It may have moved meanwhile.
      const isThere = editor.state.doc.nodeAt(place.pos)?.attrs.blockId === id;
      if (isThere) editor.view.dispatch(replaceByContent(editor.state, place, document as MailDocument));
    },
  });
  return (
    <Stack gap="sm">
      {block && (
        <Text className="breakable">
          <TextLink to="/p/$projectId/saved-blocks/$id" params={{ projectId, id }} target="_blank" fw={600}>
            {block.name}
          </TextLink>{' '}
          ({t.editor.savedKinds[block.kind]})
        </Text>
      )}
      <Text size="sm">{t.editor.savedHint}</Text>
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconLinkOff size={14} />}
          loading={detach.isPending}
          onClick={() => detach.mutate()}
        >
          {t.editor.detachBlock}
        </Button>
      </Group>
    </Stack>
  );
}
