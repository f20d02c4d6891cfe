import { Button, Group, Text } from '@mantine/core';
import type { WorkflowDetail } from '../../../api/types.ts';
import { t } from '../../../texts/index.ts';

export type CanvasView = 'draft' | 'live';

interface ViewSwitchProps {
  workflow: WorkflowDetail;
  /** Whether the draft differs from the newest version. */
  hasDraft: boolean;
  view: CanvasView;
  onChange(view: CanvasView): void;
}

/** Says whether the canvas shows the draft or the newest version, and switches between them. */
export function ViewSwitch({ workflow, hasDraft, view, onChange }: ViewSwitchProps) {
  const { version, enabled, steps } = workflow;
  const live = enabled ? t.canvas.views.live(version) : t.canvas.views.published(version);
  const isPublished = steps.length > 0;
  const text = !isPublished
    ? t.canvas.views.nothingPublished
    : !hasDraft
      ? enabled
        ? t.canvas.views.sameAsLive
        : t.canvas.views.sameAsPublished
      : view === 'draft'
        ? t.canvas.views.draftText
        : t.canvas.views.liveText;
  const isLive = view === 'live' || !hasDraft;
  const choice = (value: CanvasView, label: string) => (
    <Button
      size="xs"
      variant={view === value ? 'light' : 'default'}
      aria-pressed={view === value}
      onClick={() => onChange(value)}
    >
      {label}
    </Button>
  );
  return (
    <Group gap="sm" data-view={isPublished && isLive ? 'live' : 'draft'} className="view-switch">
      {isPublished && hasDraft ? (
        <Button.Group aria-label={t.canvas.views.label}>
          {choice('draft', t.canvas.views.draft)}
          {choice('live', live)}
        </Button.Group>
      ) : (
        <Text fw={600}>{isPublished ? live : t.canvas.views.draft}</Text>
      )}
      <Text size="sm" c="dimmed" flex="1 1 16rem">
        {text}
      </Text>
    </Group>
  );
}
