import { Badge, Box, Button, Group, Text } from '@mantine/core';
import { IconListCheck, IconSearchOff } from '@tabler/icons-react';
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { type CursorPage, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import { isOpen } from '../../api/job.ts';
import { useLive } from '../../api/live.ts';
import type { Job } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { Term } from '../../ui/term.tsx';
import { CancelJobButton, JobStatusBadge, resultCounts } from './parts.tsx';
import { type JobsSearch, jobStatuses, jobTypes } from './search.ts';

/** The stream takes twenty channels. */
const FOLLOWED = 20;
/** New jobs have no stream yet. */
const REFRESH_MS = 15_000;

export function JobsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const search = useSearch({ from: '/signed-in/p/$projectId/jobs' });
  const navigate = useNavigate({ from: '/p/$projectId/jobs' });
  const cache = useQueryClient();
  const listKey = key('jobs', search);
  const list = useCursorList<Job>(
    listKey,
    (cursor) => unwrap(client.GET('/jobs', { params: { query: { ...search, cursor, limit: 50 } } })),
    { refetchInterval: REFRESH_MS },
  );
  const open = (list.data?.pages.flatMap(({ data }) => data) ?? []).filter(isOpen).slice(0, FOLLOWED);
  useLive(
    open.map(({ id }) => `job:${id}`),
    ({ data }) =>
      cache.setQueryData<InfiniteData<CursorPage<Job>>>(listKey, (known) => known && withJob(known, data as Job)),
    open.length > 0,
  );
  const change = (next: JobsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title={t.jobs.title} badge={<Term name="job" word={t.jobs.title} />} description={t.jobs.description}>
      <Panel flush>
        <Group p="md" gap="sm" className="filters">
          <Choice
            label={t.jobs.type}
            value={search.type ?? 'any'}
            onChange={(value) => change({ type: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.jobs.anyType },
              ...jobTypes.map((value) => ({ value, label: t.jobs.types[value] })),
            ]}
          />
          <Choice
            label={t.common.status}
            value={search.status ?? 'any'}
            onChange={(value) => change({ status: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.jobs.anyStatus },
              ...jobStatuses.map((value) => ({ value, label: t.jobs.statuses[value] })),
            ]}
          />
          {isFiltered && (
            <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
              {t.common.clearFilters}
            </Button>
          )}
        </Group>
        <CursorTable<Job>
          label={t.jobs.title}
          list={list}
          rowId={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty icon={<IconSearchOff size={30} />} title={t.jobs.noMatch} />
            ) : (
              <Empty icon={<IconListCheck size={30} />} title={t.jobs.emptyTitle} text={t.jobs.emptyText} />
            )
          }
          columns={[
            {
              id: 'type',
              header: t.jobs.type,
              main: true,
              cell: ({ id, type, result }) => (
                <Group gap={6}>
                  <TextLink to="/p/$projectId/jobs/$id" params={{ projectId, id }} fw={500} inherit>
                    {t.jobs.types[type]}
                  </TextLink>
                  {result.dryRun === true && <Badge color="gray">{t.jobs.dryRun}</Badge>}
                </Group>
              ),
            },
            { id: 'status', header: t.common.status, cell: ({ status }) => <JobStatusBadge status={status} /> },
            { id: 'progress', header: t.jobs.progress, cell: (job) => <JobProgress job={job} /> },
            { id: 'result', header: t.jobs.result, cell: (job) => job.failedReason ?? resultText(job) },
            { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
            ...(write
              ? [
                  {
                    id: 'actions',
                    header: t.common.actions,
                    align: 'right' as const,
                    screenOnly: true,
                    cell: (job: Job) => isOpen(job) && <CancelJobButton job={job} />,
                  },
                ]
              : []),
          ]}
        />
      </Panel>
    </Page>
  );
}

const withJob = (list: InfiniteData<CursorPage<Job>>, changed: Job): InfiniteData<CursorPage<Job>> => ({
  ...list,
  pages: list.pages.map((page) => ({ ...page, data: page.data.map((job) => (job.id === changed.id ? changed : job)) })),
});

const resultText = (job: Job): string =>
  resultCounts(job)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${t.jobs.counts[name]} ${count}`)
    .join(', ') || '—';

function JobProgress({ job }: { job: Job }) {
  return (
    <Box miw={110}>
      <Progress
        value={job.progress}
        animated={isOpen(job)}
        aria-label={t.jobs.progressOf(t.jobs.types[job.type])}
        className="screen-only"
      />
      <Text size="xs" c="dimmed" className="number">
        {t.jobs.rows(job.processed, job.total)}
      </Text>
    </Box>
  );
}
