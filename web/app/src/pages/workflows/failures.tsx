import { Button, Loader, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { isOpen } from '../../api/job.ts';
import type { FailureCause } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { showDone, showProblem } from '../../ui/notify.ts';
import { Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';

const none: ReadonlySet<string> = new Set();
const actionsOnly: ReadonlySet<string> = new Set(['retry']);
const causeId = ({ workflowId, error }: FailureCause): string => `${workflowId}:${error}`;

/** Why executions failed, with a way to retry all of one cause. Shows nothing when none has failed. */
export function FailuresPanel({ workflowId }: { workflowId: string | undefined }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const failures = useQuery({
    queryKey: key('failures', workflowId),
    queryFn: () => unwrap(client.GET('/executions/failures', { params: { query: { workflowId } } })),
  });
  const causes = failures.data?.data ?? [];
  if (causes.length === 0) return null;
  return (
    <Panel flush title={t.workflows.causes} description={t.workflows.causesText}>
      <DataTable<FailureCause>
        label={t.workflows.causes}
        rows={causes}
        rowId={causeId}
        hidden={write ? none : actionsOnly}
        columns={[
          {
            id: 'cause',
            header: t.workflows.cause,
            main: true,
            cell: ({ error }) => <span className="breakable">{error || t.workflows.noError}</span>,
          },
          {
            id: 'workflow',
            header: t.workflows.workflow,
            cell: ({ workflowId, workflowName }) => (
              <TextLink to="/p/$projectId/workflows/$id" params={{ projectId, id: workflowId }} inherit>
                {workflowName}
              </TextLink>
            ),
          },
          { id: 'count', header: t.workflows.count, align: 'right', cell: ({ count }) => number(count) },
          { id: 'last', header: t.workflows.lastFailed, cell: ({ lastFailedAt }) => <Time at={lastFailedAt} /> },
          { id: 'retry', header: t.common.actions, screenOnly: true, cell: (cause) => <RetryCause cause={cause} /> },
        ]}
      />
      {failures.data?.truncated && (
        <Text size="sm" c="dimmed" p="md">
          {t.workflows.causesTruncated}
        </Text>
      )}
    </Panel>
  );
}

function RetryCause({ cause }: { cause: FailureCause }) {
  const { client } = useApi();
  const { workflowId, workflowName, error, count } = cause;
  const [opened, { open, close }] = useDisclosure();
  const [jobId, setJobId] = useState<string>();
  const retry = useAction({
    run: () =>
      unwrap(
        client.POST('/workflows/{id}/executions/retry-failed', {
          params: { path: { id: workflowId } },
          body: error ? { error } : {},
        }),
      ),
    onDone: (job) => setJobId(job.jobId),
    quiet: true,
  });
  useRetryJob(jobId, () => setJobId(undefined));
  if (jobId)
    return (
      <Text size="sm" component="span" role="status">
        <Loader size={14} mr={6} /> {t.workflows.retrying}
      </Text>
    );
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconRefresh size={14} />} onClick={open}>
        {t.workflows.retryAll}
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={close}
        title={t.workflows.retryAllTitle(count)}
        confirm={t.workflows.retryAll}
        onConfirm={() => retry.mutateAsync()}
      >
        {t.workflows.retryAllText(workflowName)}
      </ConfirmDialog>
    </>
  );
}

/** Follows the job, says what it did, and reads the lists again. */
function useRetryJob(jobId: string | undefined, onEnd: () => void): void {
  const { client, key } = useApi();
  const cache = useQueryClient();
  const job = useQuery({
    queryKey: key('job', jobId),
    queryFn: () => unwrap(client.GET('/jobs/{jobId}', { params: { path: { jobId: jobId ?? '' } } })),
    enabled: jobId !== undefined,
    refetchInterval: ({ state }) => (!state.data || isOpen(state.data) ? 1_000 : false),
  });
  const ended = job.data && !isOpen(job.data) ? job.data : undefined;
  useEffect(() => {
    if (!ended) return;
    const { changed = 0, failed = 0 } = ended.result as { changed?: number; failed?: number };
    if (ended.status === 'FAILED') showProblem(new Error(ended.failedReason ?? ''));
    else showDone(t.workflows.retried(changed, failed));
    for (const name of ['failures', 'executions', 'attention']) void cache.invalidateQueries({ queryKey: key(name) });
    onEnd();
    // Once per job that has ended.
  }, [ended?.id]);
}
