import { Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCloudUpload } from '@tabler/icons-react';
import { t } from '../../../texts/index.ts';
import type { SaveState } from './draft-state.ts';

interface SaveStatusProps {
  save: SaveState;
  hasConflict: boolean;
  /** Whether there is anything that is not published. */
  hasDraft: boolean;
  onRetry(): Promise<unknown>;
}

/** Says whether the server has the draft. */
export function SaveStatus({ save, hasConflict, hasDraft, onRetry }: SaveStatusProps) {
  const isFailed = hasConflict || save.kind === 'refused' || save.kind === 'unreachable';
  const state = hasConflict ? 'conflict' : save.kind === 'saved' && !hasDraft ? 'unchanged' : save.kind;
  return (
    <Group gap={6} role="status" data-save={hasConflict ? 'conflict' : save.kind}>
      {isFailed ? (
        <IconAlertTriangle size={16} aria-hidden />
      ) : save.kind === 'saved' ? (
        <IconCheck size={16} aria-hidden />
      ) : (
        <IconCloudUpload size={16} aria-hidden />
      )}
      <Text size="sm" maw={360} className="breakable">
        {t.canvas.saveStates[state]}
        {'message' in save && !hasConflict && `: ${save.message}`}
      </Text>
      {save.kind === 'unreachable' && !hasConflict && (
        <Button size="compact-xs" variant="default" onClick={() => void onRetry().catch(() => {})}>
          {t.common.retry}
        </Button>
      )}
    </Group>
  );
}
