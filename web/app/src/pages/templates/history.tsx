import { Anchor, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { Template } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';

interface VersionsPanelProps {
  template: Template;
  onRestored(template: Template): void;
}

export function VersionsPanel({ template, onRestored }: VersionsPanelProps) {
  const { client, key } = useApi();
  const { write } = useRights();
  const { id } = template;
  const list = useCursorList(key('template-versions', id), (cursor) =>
    unwrap(client.GET('/templates/{id}/versions', { params: { path: { id }, query: { cursor, limit: 10 } } })),
  );
  const restore = useAction({
    run: (version: number) =>
      unwrap(client.POST('/templates/{id}/versions/{version}/restore', { params: { path: { id, version } } })),
    done: (_, version) => t.templates.restored(version),
    changes: [key('template', id), key('templates'), key('template-versions', id)],
    quiet: true,
    onDone: onRestored,
  });
  const versions = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Panel title={t.templates.versions} description={t.templates.versionsText}>
      <Loaded query={list}>
        {() =>
          versions.length === 0 ? (
            <Text c="dimmed">{t.templates.noVersions}</Text>
          ) : (
            <Stack gap="sm">
              {versions.map(({ version, savedAt, savedBy, subject }) => (
                <Group key={version} justify="space-between" wrap="nowrap" align="flex-start">
                  <div>
                    <Text size="sm" fw={600}>
                      {t.templates.version(version)}
                    </Text>
                    <Text size="sm" c="dimmed" className="breakable">
                      <Time at={savedAt} /> {savedBy && t.templates.savedBy(savedBy)} · {subject}
                    </Text>
                  </div>
                  {write && (
                    <ConfirmButton
                      size="xs"
                      label={t.templates.restore}
                      title={t.templates.restoreTitle(version)}
                      confirm={t.templates.restore}
                      onConfirm={() => restore.mutateAsync(version)}
                    >
                      {t.templates.restoreText}
                    </ConfirmButton>
                  )}
                </Group>
              ))}
              {list.hasNextPage && (
                <Button variant="default" size="xs" onClick={() => void list.fetchNextPage()}>
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

export function useTemplateUsage(id: string) {
  const { client, key } = useApi();
  return useQuery({
    queryKey: key('template-usage', id),
    queryFn: () => unwrap(client.GET('/templates/{id}/usage', { params: { path: { id } } })),
  });
}

export function UsagePanel({ templateId: id }: { templateId: string }) {
  const { projectId } = useApi();
  const usage = useTemplateUsage(id);
  return (
    <Panel title={t.templates.usage}>
      <Loaded query={usage}>
        {({ campaigns, workflowSteps }) =>
          campaigns.length + workflowSteps.length === 0 ? (
            <Text c="dimmed">{t.templates.unused}</Text>
          ) : (
            <List listStyleType="none" spacing={4}>
              {campaigns.map((campaign) => (
                <List.Item key={campaign.id}>
                  <Anchor component={Link} to={`/p/${projectId}/campaigns/${campaign.id}`} className="breakable">
                    {t.templates.usedInCampaign(campaign.name)}
                  </Anchor>
                </List.Item>
              ))}
              {workflowSteps.map(({ stepId, stepName, workflowName }) => (
                <List.Item key={stepId}>
                  <Text className="breakable">{t.templates.usedInWorkflow(workflowName, stepName)}</Text>
                </List.Item>
              ))}
            </List>
          )
        }
      </Loaded>
    </Panel>
  );
}
