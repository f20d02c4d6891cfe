import { Badge, Box, Button, CloseButton, Group, Text } from '@mantine/core';
import { IconRoute, IconSearchOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ApiClient, unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import type { Execution, Workflow } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { ExecutionStatusBadge } from '../../ui/status.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { Term } from '../../ui/term.tsx';
import { PersonField } from '../activity/person-field.tsx';
import { FailuresPanel } from './failures.tsx';
import { type ExecutionsSearch, executionStatuses } from './search.ts';

/** The most that the API returns at once. */
const PAGE_SIZE = 100;

const references = {
  contactId: t.workflows.onlyContact,
  stepId: t.workflows.onlyStep,
  enteredStepId: t.workflows.onlyEntered,
} as const;

async function allWorkflows(client: ApiClient): Promise<Workflow[]> {
  const all: Workflow[] = [];
  for (let page = 1; ; page++) {
    const read = await unwrap(client.GET('/workflows', { params: { query: { page, pageSize: PAGE_SIZE } } }));
    all.push(...read.data);
    if (page >= read.totalPages) return all;
  }
}

/** The executions of all workflows. */
export function ExecutionsPage() {
  const { client, key, projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/executions' });
  const navigate = useNavigate({ from: '/p/$projectId/executions' });
  const change = (next: ExecutionsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const list = useCursorList<Execution>(key('executions', search), (cursor) =>
    unwrap(client.GET('/executions', { params: { query: { ...search, limit: 50, cursor } } })),
  );
  const workflows = useQuery({
    queryKey: key('workflows', 'names'),
    queryFn: () => allWorkflows(client),
    staleTime: 60_000,
  });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title={t.workflows.executions}
      badge={<Term name="execution" word={t.workflows.executions} />}
      description={t.workflows.executionsDescription}
    >
      {(search.status ?? 'FAILED') === 'FAILED' && <FailuresPanel workflowId={search.workflowId} />}
      <Panel flush>
        <Group p="md" gap="sm" className="filters" align="flex-end">
          <Choice
            label={t.common.status}
            visibleLabel
            w={180}
            value={search.status ?? 'any'}
            onChange={(value) => change({ status: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.workflows.anyStatus },
              ...executionStatuses.map((value) => ({ value, label: t.contacts.executionStatuses[value] })),
            ]}
          />
          <Choice
            label={t.workflows.workflow}
            visibleLabel
            w={240}
            value={search.workflowId ?? 'any'}
            onChange={(value) =>
              change({ workflowId: value === 'any' ? undefined : value, stepId: undefined, enteredStepId: undefined })
            }
            data={[
              { value: 'any', label: t.workflows.anyWorkflow },
              ...(workflows.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
          {!search.contactId && <PersonField onFound={(contactId) => change({ contactId })} />}
          {(['contactId', 'stepId', 'enteredStepId'] as const)
            .filter((name) => search[name])
            .map((name) => (
              <Badge
                variant="light"
                key={name}
                size="lg"
                mb={6}
                rightSection={
                  <CloseButton
                    size="xs"
                    aria-label={t.workflows.removeFilter}
                    onClick={() => change({ [name]: undefined })}
                  />
                }
              >
                {references[name]}
              </Badge>
            ))}
          {isFiltered && (
            <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
              {t.common.clearFilters}
            </Button>
          )}
        </Group>
        <CursorTable<Execution>
          label={t.workflows.executions}
          list={list}
          rowId={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty icon={<IconSearchOff size={30} />} title={t.workflows.executionsNoMatch} />
            ) : (
              <Empty
                icon={<IconRoute size={30} />}
                title={t.workflows.executionsEmptyTitle}
                text={t.workflows.executionsEmptyText}
              />
            )
          }
          columns={[
            {
              id: 'person',
              header: t.workflows.person,
              main: true,
              cell: ({ id, workflowId, contactEmail, workflowName }) => (
                <Box>
                  <TextLink
                    to="/p/$projectId/workflows/$id/executions/$executionId"
                    params={{ projectId, id: workflowId, executionId: id }}
                    fw={600}
                    inherit
                  >
                    {contactEmail ?? t.workflows.personGone}
                  </TextLink>
                  <Text size="sm" c="dimmed" fw={400}>
                    {workflowName}
                  </Text>
                </Box>
              ),
            },
            { id: 'status', header: t.common.status, cell: ({ status }) => <ExecutionStatusBadge status={status} /> },
            { id: 'step', header: t.workflows.step, cell: ({ currentStepName }) => currentStepName ?? '—' },
            {
              id: 'error',
              header: t.workflows.errorOrReason,
              cell: ({ error, exitReason }) => error ?? exitReason ?? '—',
            },
            { id: 'started', header: t.workflows.started, cell: ({ startedAt }) => <Time at={startedAt} /> },
            { id: 'ended', header: t.workflows.ended, cell: ({ completedAt }) => <Time at={completedAt} /> },
          ]}
        />
      </Panel>
    </Page>
  );
}
