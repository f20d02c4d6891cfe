import { Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCloudUpload } from '@tabler/icons-react';
import { t } from '../../texts/index.ts';
import type { Revised } from './draft-state.ts';
import type { DraftEditing } from './use-draft.ts';

interface SaveStatusProps<C, S extends Revised> {
  draft: Pick<DraftEditing<C, S>, 'save' | 'conflict' | 'flush'>;
  /** Opens the dialog of the conflict again. */
  onConflict(): void;
}

/** Says whether the server has the content, and what to do if not. */
export function SaveStatus<C, S extends Revised>({ draft, onConflict }: SaveStatusProps<C, S>) {
  const { save, conflict, flush } = draft;
  const kind = conflict ? 'conflict' : save.kind;
  const Icon =
    kind === 'saved' ? IconCheck : kind === 'saving' || kind === 'unsaved' ? IconCloudUpload : IconAlertTriangle;
  return (
    <Group gap={6} data-save={kind}>
      <Icon size={16} aria-hidden />
      <Text size="sm" maw={420} className="breakable" role="status">
        {t.editor.saveStates[kind]}
        {'message' in save && !conflict && ` ${save.message}`}
      </Text>
      {kind === 'unreachable' && (
        <Button size="compact-xs" variant="default" onClick={() => void flush().catch(() => {})}>
          {t.common.retry}
        </Button>
      )}
      {kind === 'conflict' && (
        <Button size="compact-xs" variant="default" onClick={onConflict}>
          {t.editor.compareVersions}
        </Button>
      )}
    </Group>
  );
}
