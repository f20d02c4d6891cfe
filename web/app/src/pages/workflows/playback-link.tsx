import { Button } from '@mantine/core';
import { IconPlayerTrackNext } from '@tabler/icons-react';
import { Link, useRouter } from '@tanstack/react-router';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';

const PLAYBACK = '/p/$projectId/workflows/$id/play';

/** Leads to the playback of the workflow, where the application has that page. */
export function PlaybackLink({ workflowId }: { workflowId: string }) {
  const { projectId } = useApi();
  const { routesByPath } = useRouter();
  if (!(PLAYBACK in routesByPath)) return null;
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
