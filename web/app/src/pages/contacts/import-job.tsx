import { Alert, Box, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { isOpen, useJob } from '../../api/job.ts';
import type { Job } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { ButtonLink } from '../../ui/links.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { DataTable } from '../../ui/table.tsx';
import { KeptUnsubscribed } from '../topics/import-consent.tsx';

interface ImportResult {
  totalRows: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  /** Subscriptions that contacts left later. */
  keptUnsubscribed?: number;
  errors: { row: number; email: string | null; error: string }[];
}

const resultOf = (job: Job): ImportResult => job.result as unknown as ImportResult;

interface CheckStepProps {
  jobId: string;
  busy: boolean;
  onBack(): void;
  onStart(): void;
}

/** The dry run: what the import would do, and the first bad rows. */
export function CheckStep({ jobId, busy, onBack, onStart }: CheckStepProps) {
  const job = useJob(jobId, 'import');
  return (
    <Loaded query={job}>
      {(state) => (
        <Panel
          title={isOpen(state) ? t.imports.checkTitle : t.imports.would}
          description={isOpen(state) && t.imports.checking}
        >
          <JobState job={state} label={t.imports.checkTitle} />
          {!isOpen(state) && (
            <Group justify="space-between" mt="lg">
              <Button variant="default" onClick={onBack}>
                {t.imports.changeColumns}
              </Button>
              {state.status === 'COMPLETED' && (
                <Button
                  onClick={onStart}
                  loading={busy}
                  disabled={resultOf(state).totalRows === resultOf(state).failed}
                >
                  {t.imports.start(resultOf(state).totalRows - resultOf(state).failed)}
                </Button>
              )}
            </Group>
          )}
        </Panel>
      )}
    </Loaded>
  );
}

/** The import itself, live, with a way to cancel it. */
export function RunStep({ jobId, onRestart }: { jobId: string; onRestart(): void }) {
  const { client, key, projectId } = useApi();
  const cache = useQueryClient();
  const job = useJob(jobId, 'import');
  const status = job.data?.status;
  // What was read before lacks the imported contacts and their fields.
  useEffect(() => {
    if (status === undefined || status === 'QUEUED' || status === 'RUNNING') return;
    for (const name of ['contacts', 'contact-fields', 'segments'])
      void cache.invalidateQueries({ queryKey: key(name) });
  }, [status]);
  const cancel = useAction({
    run: () => unwrap(client.POST('/contacts/jobs/{jobId}/cancel', { params: { path: { jobId } } })),
    changes: [key('job', jobId)],
    quiet: true,
  });
  const titleOf = ({ status }: Job) =>
    ({
      QUEUED: t.imports.waiting,
      RUNNING: t.imports.running,
      COMPLETED: t.imports.done,
      FAILED: t.imports.failed,
      CANCELLED: t.imports.cancelled,
    })[status];
  return (
    <Loaded query={job}>
      {(state) => (
        <Panel
          title={titleOf(state)}
          actions={
            isOpen(state) && (
              <ConfirmButton
                danger
                size="xs"
                variant="light"
                label={t.imports.cancel}
                title={t.imports.cancelTitle}
                confirm={t.imports.cancel}
                keep={t.contactLists.keepImporting}
                onConfirm={() => cancel.mutateAsync()}
              >
                {t.imports.cancelText}
              </ConfirmButton>
            )
          }
        >
          <JobState job={state} label={t.imports.running} />
          {!isOpen(state) && (
            <Group mt="lg">
              <ButtonLink to="/p/$projectId/contacts" params={{ projectId }} search={{ importId: jobId }}>
                {t.contactLists.importShow}
              </ButtonLink>
              <Button variant="default" onClick={onRestart}>
                {t.imports.another}
              </Button>
            </Group>
          )}
        </Panel>
      )}
    </Loaded>
  );
}

/** Progress, counts and bad rows of an import. */
function JobState({ job, label }: { job: Job; label: string }) {
  const { projectId } = useApi();
  const result = resultOf(job);
  const open = isOpen(job);
  const { errors = [], failed = 0 } = result;
  return (
    <Stack>
      {job.failedReason && <Alert color="red">{job.failedReason}</Alert>}
      <Progress
        size="lg"
        value={job.status === 'COMPLETED' ? 100 : job.total > 0 ? (job.processed / job.total) * 100 : 0}
        animated={open}
        aria-label={label}
      />
      <Text size="sm" c="dimmed" aria-live="polite">
        {t.imports.rows(job.processed, Math.max(job.total, result.totalRows ?? 0))}
      </Text>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        {(['created', 'updated', 'unchanged', 'failed'] as const).map((name) => (
          <Box key={name}>
            <Text size="sm" c="dimmed">
              {t.imports.counts[name]}
            </Text>
            <Text fw={650} size="xl" className="number" data-count={name}>
              {number(result[name] ?? 0)}
            </Text>
          </Box>
        ))}
      </SimpleGrid>
      <KeptUnsubscribed count={result.keptUnsubscribed ?? 0} />
      {errors.length > 0 && (
        <Box>
          <Group justify="space-between" mb="xs">
            <Box>
              <Text fw={600}>{t.imports.badRows}</Text>
              <Text size="sm" c="dimmed">
                {t.imports.badRowsText(Math.min(errors.length, 10), failed)}
              </Text>
            </Box>
            {!open && (
              <Button
                component="a"
                size="xs"
                variant="default"
                leftSection={<IconDownload size={14} />}
                href={`/contacts/import/${job.id}/errors?projectId=${projectId}`}
                download
              >
                {t.imports.downloadBad}
              </Button>
            )}
          </Group>
          <DataTable
            label={t.imports.badRows}
            rows={errors.slice(0, 10)}
            rowId={({ row }) => String(row)}
            columns={[
              { id: 'row', header: t.imports.row, cell: ({ row }) => number(row) },
              { id: 'email', header: t.contacts.email, main: true, cell: ({ email }) => email ?? '—' },
              { id: 'error', header: t.imports.problem, cell: ({ error }) => error },
            ]}
          />
        </Box>
      )}
    </Stack>
  );
}
