import { IconPlayerTrackNext } from '@tabler/icons-react';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { ButtonLink } from '../../ui/links.tsx';

/** Leads to the playback of the workflow. */
export function PlaybackLink({ workflowId }: { workflowId: string }) {
  const { projectId } = useApi();
  return (
    <ButtonLink
      to="/p/$projectId/workflows/$id/play"
      params={{ projectId, id: workflowId }}
      variant="default"
      leftSection={<IconPlayerTrackNext size={16} />}
    >
      {t.canvas.play}
    </ButtonLink>
  );
}
