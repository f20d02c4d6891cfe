import { Badge } from '@mantine/core';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import type { Job } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';

const colors: Record<Job['status'], string> = {
  QUEUED: 'gray',
  RUNNING: 'blue',
  COMPLETED: 'teal',
  FAILED: 'red',
  CANCELLED: 'gray',
};

export const JobStatusBadge = ({ status }: { status: Job['status'] }) => (
  <Badge color={colors[status]}>{t.jobs.statuses[status]}</Badge>
);

/** The counts of the result that its type has. */
export const resultCounts = ({ result }: Job): [name: string, count: number][] =>
  ['created', 'updated', 'changed', 'rendered', 'unchanged', 'failed'].flatMap((name): [string, number][] => {
    const count = result[name];
    return typeof count === 'number' ? [[name, count]] : [];
  });

export function CancelJobButton({ job }: { job: Job }) {
  const { client, key } = useApi();
  const cancel = useAction({
    run: () => unwrap(client.POST('/contacts/jobs/{jobId}/cancel', { params: { path: { jobId: job.id } } })),
    done: () => t.jobs.cancelled,
    changes: [key('jobs'), key('job', job.id)],
    quiet: true,
  });
  return (
    <ConfirmButton
      danger
      size="xs"
      variant="light"
      label={t.jobs.cancel}
      ariaLabel={t.jobs.cancelOf(t.jobs.types[job.type])}
      title={t.jobs.cancelTitle}
      keep={t.jobs.keepRunning}
      confirm={t.jobs.cancel}
      onConfirm={() => cancel.mutateAsync()}
    >
      {t.jobs.cancelText}
    </ConfirmButton>
  );
}
