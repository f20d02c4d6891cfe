import { ActionIcon, Anchor, Badge, Button, Group, Text } from '@mantine/core';
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
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Workflow } from '../../api/types.ts';
import { number, valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { asCursorPage, pageOf } from '../../ui/offset-list.ts';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { NewWorkflowDialog } from './new-workflow.tsx';
import { RecipesDialog } from './recipes.tsx';

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
  const [isCreating, creation] = useDisclosure();
  const [areRecipesOpen, recipes] = useDisclosure();
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page
      title={t.workflows.title}
      description={t.workflows.description}
      actions={
        <>
          <Button component={Link} to={`/p/${projectId}/executions`} variant="default">
            {t.workflows.showExecutions}
          </Button>
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
        <Group p="md" gap="sm">
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
                  <Anchor component={Link} to={`/p/${projectId}/workflows/${id}`} fw={600} inherit>
                    {name}
                  </Anchor>
                  {description && (
                    <Text size="sm" c="dimmed" fw={400} lineClamp={1}>
                      {description}
                    </Text>
                  )}
                </div>
              ),
            },
            { id: 'state', header: t.workflows.state, cell: ({ enabled }) => <WorkflowStateBadge enabled={enabled} /> },
            { id: 'trigger', header: t.workflows.trigger, cell: triggerText },
            { id: 'steps', header: t.workflows.steps, align: 'right', cell: ({ stepCount }) => number(stepCount) },
            {
              id: 'active',
              header: t.workflows.active,
              align: 'right',
              cell: ({ id, activeExecutions }) => (
                <Anchor component={Link} to={`/p/${projectId}/executions`} search={{ workflowId: id } as never} inherit>
                  {number(activeExecutions)}
                </Anchor>
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

const none: ReadonlySet<string> = new Set();
const actionsOnly: ReadonlySet<string> = new Set(['actions']);

export const WorkflowStateBadge = ({ enabled }: { enabled: boolean }) => (
  <Badge color={enabled ? 'teal' : 'gray'}>{enabled ? t.workflows.enabled : t.workflows.disabled}</Badge>
);

export function triggerText({ triggerType, triggerConfig }: Pick<Workflow, 'triggerType' | 'triggerConfig'>): string {
  const { triggers } = t.workflows;
  if (triggerType === 'EVENT') return triggers.EVENT(valueText(triggerConfig.eventName));
  if (triggerType === 'SCHEDULE') return triggers.SCHEDULE(valueText(triggerConfig.cron));
  return triggers.MANUAL;
}

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
    onDone: (copy) => void navigate({ to: '/p/$projectId/workflows/$id', params: { projectId, id: copy.id } as never }),
  });
  return { setEnabled, duplicate };
}

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
