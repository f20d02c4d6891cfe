import { Alert, Button, Group, Stack } from '@mantine/core';
import type { WorkflowDraft } from '../../../api/types.ts';
import { relative } from '../../../format.ts';
import { t } from '../../../texts/index.ts';

interface ConflictProps {
  theirs: WorkflowDraft;
  isShown: boolean;
  onShow(shown: boolean): void;
  onResolve(choice: 'theirs' | 'mine' | 'merge'): void;
}

/** Says that another user has saved the draft, and lets the user choose which version to keep. */
export function Conflict({ theirs, isShown, onShow, onResolve }: ConflictProps) {
  const who = theirs.updatedBy ?? t.canvas.someone;
  return (
    <Alert color="yellow" title={t.canvas.conflictTitle} role="alert">
      <Stack gap="sm">
        <span>{t.canvas.conflictText(who, relative(theirs.updatedAt))}</span>
        <Group gap="xs">
          <Button size="xs" variant="default" aria-pressed={isShown} onClick={() => onShow(!isShown)}>
            {isShown ? t.canvas.showMine : t.canvas.showTheirs}
          </Button>
          <Button size="xs" onClick={() => onResolve('merge')}>
            {t.canvas.merge}
          </Button>
          <Button size="xs" variant="default" onClick={() => onResolve('mine')}>
            {t.canvas.takeMine}
          </Button>
          <Button size="xs" variant="default" onClick={() => onResolve('theirs')}>
            {t.canvas.takeTheirs}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
