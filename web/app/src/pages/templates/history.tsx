import { Alert, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TemplateUsage } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList, useRights } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';

function useVersions(id: string) {
  const { client, key } = useApi();
  return useCursorList(key('template-versions', id), (cursor) =>
    unwrap(client.GET('/templates/{id}/versions', { params: { path: { id }, query: { cursor, limit: 10 } } })),
  );
}

interface RestoreProps {
  templateId: string;
  onRestore(version: number): Promise<unknown>;
}

/** Says that a key has replaced the document of the visual editor by HTML, and offers the version that has it. */
export function ApiNotice({ templateId, onRestore }: RestoreProps) {
  const { client, key } = useApi();
  const { write } = useRights();
  const [newest, before] = useVersions(templateId).data?.pages[0]?.data ?? [];
  const version = before?.version ?? 0;
  const replaced = useQuery({
    queryKey: key('template-version', templateId, version),
    queryFn: () =>
      unwrap(client.GET('/templates/{id}/versions/{version}', { params: { path: { id: templateId, version } } })),
    // Versions saved with a key have no user.
    enabled: before !== undefined && newest?.savedBy === null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (replaced.data?.editor !== 'VISUAL') return null;
  return (
    <Alert color="yellow" title={t.templates.becameHtml}>
      <Group>
        <span>{t.templates.becameHtmlText}</span>
        {write && <RestoreButton version={version} onRestore={onRestore} />}
      </Group>
    </Alert>
  );
}

const RestoreButton = ({ version, onRestore }: { version: number; onRestore: RestoreProps['onRestore'] }) => (
  <ConfirmButton
    size="xs"
    label={t.templates.restore}
    ariaLabel={t.templates.restoreVersion(version)}
    title={t.templates.restoreTitle(version)}
    confirm={t.templates.restore}
    onConfirm={() => onRestore(version)}
  >
    {t.templates.restoreText}
  </ConfirmButton>
);

export function VersionsPanel({ templateId, onRestore }: RestoreProps) {
  const { write } = useRights();
  const list = useVersions(templateId);
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
                  {write && <RestoreButton version={version} onRestore={onRestore} />}
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
        {({ campaigns, workflowSteps, confirmations = [] }) =>
          campaigns.length + workflowSteps.length + confirmations.length === 0 ? (
            <Text c="dimmed">{t.templates.unused}</Text>
          ) : (
            <List listStyleType="none" spacing={4}>
              {campaigns.map((campaign) => (
                <List.Item key={campaign.id}>
                  <TextLink
                    to="/p/$projectId/campaigns/$id"
                    params={{ projectId, id: campaign.id }}
                    className="breakable"
                  >
                    {t.templates.usedInCampaign(campaign.name)}
                  </TextLink>
                </List.Item>
              ))}
              {workflowSteps.map(({ stepId, stepName, workflowName }) => (
                <List.Item key={stepId}>
                  <Text className="breakable">{t.templates.usedInWorkflow(workflowName, stepName)}</Text>
                </List.Item>
              ))}
              <ConfirmationItems confirmations={confirmations} />
            </List>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** The forms and topics whose confirmation email a template is. */
export function ConfirmationItems({ confirmations = [] }: Pick<TemplateUsage, 'confirmations'>) {
  const { projectId } = useApi();
  return confirmations.map(({ type, id, name }) => {
    const params = { projectId, id };
    return (
      <List.Item key={id}>
        {type === 'FORM' ? (
          <TextLink to="/p/$projectId/forms/$id" params={params} className="breakable">
            {t.templates.usedInForm(name)}
          </TextLink>
        ) : (
          <TextLink to="/p/$projectId/topics/$id" params={params} className="breakable">
            {t.templates.usedInTopic(name)}
          </TextLink>
        )}
      </List.Item>
    );
  });
}
