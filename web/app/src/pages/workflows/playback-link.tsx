import { Button } from '@mantine/core';
import { IconPlayerTrackNext } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';

/** Leads to the playback of the workflow. */
export function PlaybackLink({ workflowId }: { workflowId: string }) {
  const { projectId } = useApi();
  return (
    <Button
      component={Link}
      to={`/p/${projectId}/workflows/${workflowId}/play`}
      variant="default"
      leftSection={<IconPlayerTrackNext size={16} />}
    >
      {t.canvas.play}
    </Button>
  );
}
