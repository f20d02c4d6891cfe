import { ActionIcon, Badge, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconCopy,
  IconDots,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconRoute,
  IconSearchOff,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Workflow } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { asCursorPage, pageOf } from '../../ui/offset-list.ts';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { NewWorkflowDialog } from './new-workflow.tsx';
import { RecipesDialog } from './recipes.tsx';
import { useWorkflowActions, WorkflowStateBadge } from './state.tsx';
import { triggerText } from './trigger.ts';

const PAGE_SIZE = 50;

export function WorkflowsPage() {
  const { client, key, projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/workflows' });
  const navigate = useNavigate({ from: '/p/$projectId/workflows' });
  const list = useCursorList<Workflow>(key('workflows', search), async (cursor) =>
    asCursorPage(
      await unwrap(
        client.GET('/workflows', { params: { query: { ...search, page: pageOf(cursor), pageSize: PAGE_SIZE } } }),
      ),
    ),
  );
  const { write } = useRights();
  const problems = useWorkflowProblems();
  const [isCreating, creation] = useDisclosure();
  const [areRecipesOpen, recipes] = useDisclosure();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title={t.workflows.title}
      description={t.workflows.description}
      actions={
        <>
          <ButtonLink to="/p/$projectId/executions" params={{ projectId }} variant="default">
            {t.workflows.showExecutions}
          </ButtonLink>
          {write && (
            <>
              <Button variant="default" onClick={recipes.open}>
                {t.canvas.recipesTitle}
              </Button>
              <Button leftSection={<IconPlus size={16} />} onClick={creation.open}>
                {t.canvas.newWorkflow}
              </Button>
            </>
          )}
        </>
      }
    >
      <Panel flush>
        <Group p="md" gap="sm" className="filters">
          <SearchField
            label={t.workflows.search}
            value={search.search ?? ''}
            onChange={(text) => void navigate({ search: { ...search, search: text || undefined }, replace: true })}
            flex="1 1 14rem"
          />
          <Choice
            label={t.workflows.state}
            w={180}
            value={search.status ?? 'any'}
            onChange={(value) =>
              void navigate({ search: { ...search, status: value === 'any' ? undefined : value }, replace: true })
            }
            data={[
              { value: 'any', label: t.workflows.anyState },
              { value: 'active', label: t.workflows.enabled },
              { value: 'disabled', label: t.workflows.disabled },
            ]}
          />
        </Group>
        <CursorTable<Workflow>
          label={t.workflows.title}
          list={list}
          rowId={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty icon={<IconSearchOff size={30} />} title={t.workflows.noMatch} />
            ) : (
              <Empty
                icon={<IconRoute size={30} />}
                title={t.workflows.emptyTitle}
                text={t.workflows.emptyText}
                action={write && <Button onClick={recipes.open}>{t.canvas.startWithRecipe}</Button>}
              />
            )
          }
          columns={[
            {
              id: 'name',
              header: t.common.name,
              main: true,
              cell: ({ id, name, description }) => (
                <div>
                  <TextLink to="/p/$projectId/workflows/$id" params={{ projectId, id }} fw={600} inherit>
                    {name}
                  </TextLink>
                  {description && (
                    <Text size="sm" c="dimmed" fw={400} lineClamp={1}>
                      {description}
                    </Text>
                  )}
                </div>
              ),
            },
            {
              id: 'state',
              header: t.workflows.state,
              cell: ({ id, enabled }) => (
                <Group gap={6}>
                  <WorkflowStateBadge enabled={enabled} />
                  <ProblemLink workflowId={id} projectId={projectId} problems={problems.get(id)} />
                </Group>
              ),
            },
            { id: 'trigger', header: t.workflows.trigger, cell: triggerText },
            { id: 'steps', header: t.workflows.steps, align: 'right', cell: ({ stepCount }) => number(stepCount) },
            {
              id: 'active',
              header: t.workflows.active,
              align: 'right',
              cell: ({ id, activeExecutions }) => (
                <TextLink to="/p/$projectId/executions" params={{ projectId }} search={{ workflowId: id }} inherit>
                  {number(activeExecutions)}
                </TextLink>
              ),
            },
            { id: 'updated', header: t.common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
            {
              id: 'actions',
              header: t.common.actions,
              screenOnly: true,
              cell: (workflow) => <WorkflowMenu workflow={workflow} />,
            },
          ]}
          hidden={write ? none : actionsOnly}
        />
      </Panel>
      <NewWorkflowDialog opened={isCreating} onClose={creation.close} />
      <RecipesDialog opened={areRecipesOpen} onClose={recipes.close} />
    </Page>
  );
}

interface Problems {
  failed: number;
  retrying: number;
  error: string;
}

/** The workflows in which executions fail or are tried again. */
function useWorkflowProblems(): ReadonlyMap<string, Problems> {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('problems'),
    queryFn: () => unwrap(client.GET('/executions/problems')),
    refetchInterval: 15_000,
  });
  const byWorkflow = new Map<string, Problems>();
  for (const { workflowId, failed, retrying, error } of data?.data ?? []) {
    const before = byWorkflow.get(workflowId) ?? { failed: 0, retrying: 0, error };
    byWorkflow.set(workflowId, {
      ...before,
      failed: before.failed + failed,
      retrying: before.retrying + retrying,
    });
  }
  return byWorkflow;
}

interface ProblemLinkProps {
  workflowId: string;
  projectId: string;
  problems: Problems | undefined;
}

function ProblemLink({ workflowId: id, projectId, problems }: ProblemLinkProps) {
  if (!problems) return null;
  const { failed, retrying, error } = problems;
  const counts = [
    ...(retrying > 0 ? [t.workflows.retryingCount(retrying)] : []),
    ...(failed > 0 ? [t.workflows.failedCount(failed)] : []),
  ];
  return (
    <TextLink to="/p/$projectId/workflows/$id" params={{ projectId, id }} inherit title={error}>
      <Badge variant="light" size="md" color="red" style={{ cursor: 'inherit' }}>
        {counts.join(', ')}
      </Badge>
    </TextLink>
  );
}

const none: ReadonlySet<string> = new Set();
const actionsOnly: ReadonlySet<string> = new Set(['actions']);

function WorkflowMenu({ workflow }: { workflow: Workflow }) {
  const { setEnabled, duplicate } = useWorkflowActions(workflow);
  const { enabled, name } = workflow;
  return (
    <MenuButton
      items={[
        {
          key: 'enable',
          label: enabled ? t.workflows.disable : t.workflows.enable,
          icon: enabled ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />,
          onClick: () => setEnabled.mutate(!enabled),
        },
        {
          key: 'duplicate',
          label: t.common.duplicate,
          icon: <IconCopy size={16} />,
          onClick: () => duplicate.mutate(),
        },
      ]}
    >
      {(props) => (
        <ActionIcon variant="subtle" color="gray" aria-label={t.common.actionsFor(name)} {...props}>
          <IconDots size={18} />
        </ActionIcon>
      )}
    </MenuButton>
  );
}
