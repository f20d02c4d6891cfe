import { Badge, Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconHistory } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { WorkflowDetail, WorkflowDraft, WorkflowVersion } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Empty, Loaded, Panel, Placeholder } from '../../ui/page.tsx';
import { diffOf } from './canvas/diff.ts';
import { DiffList } from './canvas/diff-list.tsx';
import { useSummaries } from './canvas/names.ts';
import { draftKey, useDraftQuery } from './canvas/use-draft.ts';
import { triggerText } from './trigger.ts';

const GraphView = lazy(async () => ({ default: (await import('./canvas/graph-view.tsx')).GraphView }));

/** What was published, newest first. A version can be looked at, and become the draft again. */
export function VersionsTab({ workflow }: { workflow: WorkflowDetail }) {
  const { client, key } = useApi();
  const { id } = workflow;
  const [shown, setShown] = useState<number>();
  const draft = useDraftQuery(id).data;
  const list = useCursorList<WorkflowVersion>(key('workflow-versions', id), (cursor) =>
    unwrap(client.GET('/workflows/{id}/versions', { params: { path: { id }, query: { limit: 50, cursor } } })),
  );
  const versions = list.data?.pages.flatMap(({ data }) => data);
  return (
    <Panel title={t.canvas.versionsTitle} description={t.canvas.versionsText}>
      <Loaded query={{ data: versions, error: list.error, refetch: list.refetch }}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={<IconHistory size={30} />} title={t.canvas.noVersions} text={t.canvas.noVersionsText} />
          ) : (
            <Stack component="ul" gap="sm" m={0} p={0} className="plain-list">
              {all.map((version, index) => (
                <Box component="li" key={version.version} className="record">
                  <VersionItem
                    workflow={workflow}
                    version={version}
                    previous={all[index + 1]?.version}
                    draft={draft}
                    isShown={shown === version.version}
                    onShow={(isWanted) => setShown(isWanted ? version.version : undefined)}
                  />
                </Box>
              ))}
              {list.hasNextPage && (
                <Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>
                  {t.common.loadMore}
                </Button>
              )}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}

interface VersionItemProps {
  workflow: WorkflowDetail;
  version: WorkflowVersion;
  /** The version before, which this one is compared with. */
  previous: number | undefined;
  /** What a restored version replaces. */
  draft: WorkflowDraft | undefined;
  isShown: boolean;
  onShow(shown: boolean): void;
}

function VersionItem({ workflow, version: listed, previous, draft, isShown, onShow }: VersionItemProps) {
  const { client, key } = useApi();
  const { write } = useRights();
  const cache = useQueryClient();
  const navigate = useNavigate({ from: '/p/$projectId/workflows/$id' });
  const { version, note, publishedAt, publishedBy, activeExecutions } = listed;
  const params = { params: { path: { id: workflow.id, version } } };
  const restore = useAction({
    run: (expectedRevision: number | undefined) =>
      unwrap(client.POST('/workflows/{id}/versions/{version}/restore', { ...params, body: { expectedRevision } })),
    done: () => t.canvas.restored(version),
    quiet: true,
    onDone: (restored) => {
      cache.setQueryData(key(...draftKey(workflow.id)), restored);
      void navigate({ search: {} });
    },
  });
  const isNewest = version === workflow.version;
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box flex="1 1 14rem" miw={0}>
          <Group gap="sm">
            <Text fw={600}>{t.canvas.version(version)}</Text>
            {isNewest && <Badge color="teal">{t.canvas.newest}</Badge>}
            {activeExecutions > 0 && <Badge>{t.canvas.onVersion(activeExecutions)}</Badge>}
          </Group>
          {note && <Text className="breakable">{note}</Text>}
          <Text size="sm" c="dimmed">
            <Time at={publishedAt} />
            {publishedBy && ` · ${publishedBy}`}
          </Text>
        </Box>
        <Group gap="xs">
          <Button size="xs" variant="default" aria-expanded={isShown} onClick={() => onShow(!isShown)}>
            {isShown ? t.canvas.hideVersion(version) : t.canvas.showVersion(version)}
          </Button>
          {write && (
            <ConfirmButton
              size="xs"
              label={t.canvas.restore}
              ariaLabel={t.canvas.restoreVersion(version)}
              title={t.canvas.restoreVersion(version)}
              confirm={t.canvas.restore}
              onConfirm={() => restore.mutateAsync(draft?.revision)}
            >
              {draft?.changed ? t.canvas.restoreReplaces(draft.updatedBy ?? t.canvas.someone) : t.canvas.restoreText}
            </ConfirmButton>
          )}
        </Group>
      </Group>
      {isShown && previous !== undefined && (
        <VersionChanges workflowId={workflow.id} version={version} previous={previous} />
      )}
      {isShown && <VersionGraph workflow={workflow} version={version} />}
    </Stack>
  );
}

function useVersion(id: string, version: number) {
  const { client, key } = useApi();
  return useQuery({
    queryKey: key('workflow-version', id, version),
    queryFn: () => unwrap(client.GET('/workflows/{id}/versions/{version}', { params: { path: { id, version } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

interface VersionChangesProps {
  workflowId: string;
  version: number;
  previous: number;
}

/** What a version changed of the one before. */
function VersionChanges({ workflowId, version, previous }: VersionChangesProps) {
  const after = useVersion(workflowId, version);
  const before = useVersion(workflowId, previous);
  const both = after.data && before.data ? { after: after.data, before: before.data } : undefined;
  const failed = after.error ? after : before;
  return (
    <section aria-label={t.canvas.diff.since(previous)}>
      <Text fw={600} mb={6}>
        {t.canvas.diff.since(previous)}
      </Text>
      <Loaded query={{ data: both, error: failed.error, refetch: failed.refetch }}>
        {(loaded) => (
          <DiffList
            diff={diffOf(loaded.before, loaded.after)}
            steps={[...loaded.after.graph.steps, ...loaded.before.graph.steps]}
          />
        )}
      </Loaded>
    </section>
  );
}

function VersionGraph({ workflow, version }: { workflow: WorkflowDetail; version: number }) {
  const query = useVersion(workflow.id, version);
  return (
    <Loaded query={query}>
      {({ graph }) => (
        <Suspense fallback={<Placeholder lines={6} />}>
          <DescribedGraph label={t.canvas.version(version)} graph={graph} start={triggerText(workflow)} />
        </Suspense>
      )}
    </Loaded>
  );
}

function DescribedGraph({ label, graph, start }: { label: string; graph: WorkflowDraft['graph']; start: string }) {
  const summaries = useSummaries(graph.steps);
  return (
    <div className="version-graph">
      <GraphView
        label={label}
        steps={graph.steps}
        transitions={graph.transitions}
        start={start}
        summaries={summaries}
      />
    </div>
  );
}
