import { Badge, Group, Text, UnstyledButton } from '@mantine/core';
import type { SavedBlockSummary } from '../../api/api-types.ts';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { useSavedBlocks } from './use-saved-blocks.ts';
import './saved.css';

interface ChooseSavedDialogProps {
  opened: boolean;
  onClose(): void;
  onChoose(block: SavedBlockSummary): void;
}

/** Chooses a saved block to insert. */
export function ChooseSavedDialog({ opened, onClose, onChoose }: ChooseSavedDialogProps) {
  const { projectId } = useApi();
  const blocks = useSavedBlocks() ?? [];
  return (
    <Dialog opened={opened} onClose={onClose} title={t.editor.blocks.saved}>
      {blocks.length === 0 ? (
        <Text>
          {t.editor.noSavedBlocks}{' '}
          <TextLink to="/p/$projectId/saved-blocks/new" params={{ projectId }} inherit underline="always">
            {t.editor.newSavedBlock}
          </TextLink>
        </Text>
      ) : (
        <ul className="saved-choices">
          {blocks.map((block, index) => (
            <li key={block.id}>
              <UnstyledButton
                className="saved-choice"
                onClick={() => onChoose(block)}
                {...(index === 0 && { 'data-autofocus': true })}
              >
                <Group justify="space-between" wrap="nowrap">
                  <Text className="breakable">{block.name}</Text>
                  <Badge flex="none">{t.editor.savedKinds[block.kind]}</Badge>
                </Group>
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
