import { Alert, Badge, Box, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useParams } from '@tanstack/react-router';
import { useApi, useRights } from '../../api/hooks.ts';
import { isOpen, useJob } from '../../api/job.ts';
import type { Job } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Copyable, Time } from '../../ui/controls.tsx';
import { BackLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { DataTable } from '../../ui/table.tsx';
import { DocumentLink } from './apply-panel.tsx';
import { CancelJobButton, JobStatusBadge, resultCounts } from './parts.tsx';

interface JobError {
  /** Of a file. */
  row?: number;
  email?: string | null;
  /** Of a bulk change. */
  contactId?: string;
  /** Of an email that is rendered again. */
  type?: 'TEMPLATE' | 'CAMPAIGN';
  id?: string;
  name?: string;
  error: string;
}

export function JobPage() {
  const { projectId } = useApi();
  const { write } = useRights();
  const { id } = useParams({ from: '/signed-in/p/$projectId/jobs/$id' });
  const job = useJob(id, 'any');
  const { data } = job;
  const back = (
    <BackLink to="/p/$projectId/jobs" params={{ projectId }}>
      {t.jobs.title}
    </BackLink>
  );
  return (
    <Page
      title={data ? t.jobs.types[data.type] : t.jobs.title}
      back={back}
      badge={
        data && (
          <>
            <JobStatusBadge status={data.status} />
            {data.result.dryRun === true && <Badge color="gray">{t.jobs.dryRun}</Badge>}
          </>
        )
      }
      description={data && isOpen(data) && t.jobs.live}
      actions={write && data && isOpen(data) && <CancelJobButton job={data} />}
    >
      <Loaded query={job}>{(loaded) => <JobPanels job={loaded} />}</Loaded>
    </Page>
  );
}

function JobPanels({ job }: { job: Job }) {
  const { projectId } = useApi();
  const { write } = useRights();
  const errors = (job.result.errors ?? []) as JobError[];
  const failed = Number(job.result.failed ?? 0);
  const isImport = job.type === 'IMPORT' || job.type === 'SUPPRESSION_IMPORT';
  return (
    <>
      <Panel title={t.jobs.progress}>
        <Stack>
          {job.failedReason && <Alert color="red">{job.failedReason}</Alert>}
          <Progress
            size="lg"
            value={job.progress}
            animated={isOpen(job)}
            aria-label={t.jobs.progressOf(t.jobs.types[job.type])}
          />
          <Text size="sm" c="dimmed" aria-live="polite" className="number">
            {t.jobs.rows(job.processed, job.total)}
          </Text>
          <SimpleGrid cols={{ base: 2, sm: 4 }}>
            {resultCounts(job).map(([name, count]) => (
              <Box key={name}>
                <Text size="sm" c="dimmed">
                  {t.jobs.counts[name]}
                </Text>
                <Text fw={650} size="xl" className="number" data-count={name}>
                  {number(count)}
                </Text>
              </Box>
            ))}
          </SimpleGrid>
          <dl className="facts">
            <dt>{t.common.created}</dt>
            <dd>
              <Time at={job.createdAt} exact />
            </dd>
            <dt>{t.jobs.started}</dt>
            <dd>
              <Time at={job.startedAt} exact />
            </dd>
            <dt>{t.jobs.ended}</dt>
            <dd>
              <Time at={job.completedAt} exact />
            </dd>
            <dt>ID</dt>
            <dd>
              <Copyable value={job.id} label="ID" />
            </dd>
          </dl>
        </Stack>
      </Panel>
      {errors.length > 0 && (
        <Panel
          flush
          title={t.jobs.errors}
          description={t.jobs.errorsText(errors.length, failed)}
          actions={
            write &&
            isImport &&
            !isOpen(job) && (
              <Button
                component="a"
                size="xs"
                variant="default"
                leftSection={<IconDownload size={14} />}
                href={`/contacts/import/${job.id}/errors?projectId=${projectId}`}
                download
              >
                {t.jobs.download}
              </Button>
            )
          }
        >
          <DataTable<JobError>
            portable
            label={t.jobs.errors}
            rows={errors}
            rowId={({ row, contactId, id }) => String(row ?? contactId ?? id)}
            columns={[
              ...(isImport ? [{ id: 'row', header: t.jobs.row, cell: ({ row }: JobError) => number(row ?? 0) }] : []),
              {
                id: 'about',
                header: t.jobs.about,
                main: true,
                cell: ({ email, contactId, type, id, name }) =>
                  type && id && name ? <DocumentLink type={type} id={id} name={name} /> : (email ?? contactId ?? '—'),
              },
              { id: 'error', header: t.jobs.problem, cell: ({ error }) => error },
            ]}
          />
        </Panel>
      )}
    </>
  );
}
