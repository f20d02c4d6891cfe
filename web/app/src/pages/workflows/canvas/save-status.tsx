import { Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCloudUpload } from '@tabler/icons-react';
import { t } from '../../../texts/index.ts';
import type { SaveState } from './draft-state.ts';

interface SaveStatusProps {
  save: SaveState;
  hasConflict: boolean;
  onRetry(): Promise<unknown>;
}

/** Says whether the server has the draft. */
export function SaveStatus({ save, hasConflict, onRetry }: SaveStatusProps) {
  const isFailed = hasConflict || save.kind === 'refused' || save.kind === 'unreachable';
  const text = hasConflict ? t.canvas.saveStates.conflict : t.canvas.saveStates[save.kind];
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
        {text}
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
