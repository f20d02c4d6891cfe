import { Badge } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Workflow } from '../../api/types.ts';
import { t } from '../../texts/index.ts';

export const WorkflowStateBadge = ({ enabled }: { enabled: boolean }) => (
  <Badge color={enabled ? 'teal' : 'gray'}>{enabled ? t.workflows.enabled : t.workflows.disabled}</Badge>
);

/** Enables, disables and copies a workflow. */
export function useWorkflowActions({ id, name }: Pick<Workflow, 'id' | 'name'>) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const path = { params: { path: { id } } };
  const changes = [key('workflows'), key('workflow', id)];
  const setEnabled = useAction({
    run: (enabled: boolean) => unwrap(client.PATCH('/workflows/{id}', { ...path, body: { enabled } })),
    done: (_, enabled) => (enabled ? t.workflows.enabledNow(name) : t.workflows.disabledNow(name)),
    changes,
  });
  const duplicate = useAction({
    run: () => unwrap(client.POST('/workflows/{id}/duplicate', path)),
    done: (copy) => t.workflows.duplicated(copy.name),
    changes,
    onDone: (copy) => void navigate({ to: '/p/$projectId/workflows/$id', params: { projectId, id: copy.id } }),
  });
  return { setEnabled, duplicate };
}
