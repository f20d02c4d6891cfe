import { Button, Tabs } from '@mantine/core';
import { IconCopy, IconDots, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import type { WorkflowDetail } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { BackLink, ButtonLink } from '../../ui/links.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { Loaded, Page, Placeholder } from '../../ui/page.tsx';
import { useDraftQuery } from './canvas/use-draft.ts';
import { PlaybackLink } from './playback-link.tsx';
import { PublishButton } from './publish.tsx';
import { useWorkflowActions, WorkflowStateBadge } from './state.tsx';
import { triggerText } from './trigger.ts';

/** The graph library is large, and only needed where a graph is shown. */
const CanvasEditor = lazy(() => import('./canvas/editor.tsx'));
const CasesTab = lazy(async () => ({ default: (await import('./cases.tsx')).CasesTab }));
const VersionsTab = lazy(async () => ({ default: (await import('./versions.tsx')).VersionsTab }));

/** A workflow: its canvas, its cases and its versions. */
export function WorkflowPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/workflows/$id' });
  const { tab = 'canvas' } = useSearch({ from: '/signed-in/p/$projectId/workflows/$id' });
  const navigate = useNavigate({ from: '/p/$projectId/workflows/$id' });
  const workflow = useQuery({
    queryKey: key('workflow', id),
    queryFn: () => unwrap(client.GET('/workflows/{id}', { params: { path: { id } } })),
  });
  const back = (
    <BackLink to="/p/$projectId/workflows" params={{ projectId }}>
      {t.workflows.title}
    </BackLink>
  );
  const { data } = workflow;
  if (!data)
    return (
      <Page title={t.workflows.workflow} back={back}>
        <Loaded query={workflow}>{() => null}</Loaded>
      </Page>
    );
  const names = t.canvas.tabs;
  return (
    <Page
      title={data.name}
      back={back}
      badge={<WorkflowStateBadge enabled={data.enabled} />}
      description={
        <>
          {data.description && <div>{data.description}</div>}
          {t.workflows.trigger}: {triggerText(data)} ·{' '}
          {data.allowReentry ? t.workflows.allowReentry : t.workflows.oncePerContact}
        </>
      }
      actions={<WorkflowActions workflow={data} />}
    >
      <Tabs
        value={tab in names ? tab : 'canvas'}
        onChange={(next) => void navigate({ search: { tab: next ?? undefined }, replace: true })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {Object.entries(names).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="canvas">
          <CanvasTab workflow={data} />
        </Tabs.Panel>
        <Tabs.Panel value="cases">
          <Suspense fallback={<Placeholder lines={6} />}>
            <CasesTab workflowId={id} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Suspense fallback={<Placeholder lines={6} />}>
            <VersionsTab workflow={data} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function CanvasTab({ workflow }: { workflow: WorkflowDetail }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const draft = useDraftQuery(workflow.id);
  const types = useQuery({
    queryKey: key('step-types'),
    queryFn: () => unwrap(client.GET('/workflows/step-types')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const loaded = draft.data && types.data ? { draft: draft.data, types: types.data.types } : undefined;
  const failed = draft.data ? types : draft;
  return (
    <Loaded query={{ data: loaded, error: failed.error, refetch: failed.refetch }} lines={8}>
      {(ready) => (
        <Suspense fallback={<Placeholder lines={8} />}>
          <CanvasEditor
            key={workflow.id}
            workflow={workflow}
            draft={ready.draft}
            types={ready.types}
            actions={(editing) => write && <PublishButton workflow={workflow} editing={editing} />}
          />
        </Suspense>
      )}
    </Loaded>
  );
}

function WorkflowActions({ workflow }: { workflow: WorkflowDetail }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const { setEnabled, duplicate } = useWorkflowActions(workflow);
  const { id, name, enabled } = workflow;
  const remove = useAction({
    run: () => unwrap(client.DELETE('/workflows/{id}', { params: { path: { id } } })),
    done: () => t.workflows.deleted(name),
    changes: [key('workflows')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/workflows', params: { projectId } }),
  });
  const link = (to: '/p/$projectId/executions' | '/p/$projectId/emails', label: string) => (
    <ButtonLink to={to} params={{ projectId }} search={{ workflowId: id }} variant="default">
      {label}
    </ButtonLink>
  );
  return (
    <>
      <PlaybackLink workflowId={id} />
      {link('/p/$projectId/executions', t.workflows.showExecutions)}
      {link('/p/$projectId/emails', t.workflows.emails)}
      {write && (
        <>
          <Button
            variant="default"
            leftSection={enabled ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
            onClick={() => setEnabled.mutate(!enabled)}
            loading={setEnabled.isPending}
          >
            {enabled ? t.workflows.disable : t.workflows.enable}
          </Button>
          <MenuButton
            items={[
              {
                key: 'duplicate',
                label: t.common.duplicate,
                icon: <IconCopy size={16} />,
                onClick: () => duplicate.mutate(),
              },
              {
                key: 'delete',
                label: t.common.delete,
                icon: <IconTrash size={16} />,
                danger: true,
                onClick: () => setDeleting(true),
              },
            ]}
          >
            {(props) => (
              <Button variant="default" px="sm" aria-label={t.common.actionsFor(name)} {...props}>
                <IconDots size={18} />
              </Button>
            )}
          </MenuButton>
          <ConfirmDialog
            danger
            opened={isDeleting}
            onClose={() => setDeleting(false)}
            title={t.workflows.deleteTitle(name)}
            confirm={t.common.delete}
            onConfirm={() => remove.mutateAsync()}
          >
            {t.workflows.deleteText(name)}
          </ConfirmDialog>
        </>
      )}
    </>
  );
}
