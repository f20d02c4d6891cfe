import { List, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { Campaign, Segment } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { type ResourcePath, TextLink } from '../../ui/links.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';

/** Whether the id occurs anywhere in a condition or in the graph of a workflow. */
const refersTo = (value: unknown, id: string): boolean => JSON.stringify(value ?? null).includes(id);

/** Reads what may refer to a segment and keeps what does. */
export function UsageTab({ segment }: { segment: Segment }) {
  const { client, key, projectId } = useApi();
  const { id, slug } = segment;
  const usage = useQuery({
    queryKey: key('segment-usage', id),
    queryFn: async () => {
      const [segments, campaigns, workflows] = await Promise.all([
        unwrap(client.GET('/segments')),
        unwrap(client.GET('/campaigns', { params: { query: { pageSize: 100 } } })),
        unwrap(client.GET('/workflows', { params: { query: { pageSize: 100 } } })),
      ]);
      const graphs = await Promise.all(
        workflows.data.map((workflow) =>
          unwrap(client.GET('/workflows/{id}', { params: { path: { id: workflow.id } } })),
        ),
      );
      const usesSegment = (campaign: Campaign) => campaign.segmentId === id || refersTo(campaign.audienceCondition, id);
      return {
        segments: segments.filter((other) => other.id !== id && refersTo(other.condition, id)),
        campaigns: campaigns.data.filter(usesSegment),
        workflows: graphs.filter((workflow) => refersTo(workflow, id) || refersTo(workflow, `segment.${slug}.`)),
      };
    },
  });
  const section = (title: string, items: { id: string; name: string }[], to?: ResourcePath) =>
    items.length > 0 && (
      <div>
        <Title order={3} size="h5" mb={4}>
          {title}
        </Title>
        <List listStyleType="none" spacing={4}>
          {items.map((item) => (
            <List.Item key={item.id}>
              {to ? (
                <TextLink to={to} params={{ projectId, id: item.id }} className="breakable">
                  {item.name}
                </TextLink>
              ) : (
                <Text className="breakable">{item.name}</Text>
              )}
            </List.Item>
          ))}
        </List>
      </div>
    );
  return (
    <Panel title={t.segments.tabs.usage}>
      <Loaded query={usage}>
        {({ segments, campaigns, workflows }) =>
          segments.length + campaigns.length + workflows.length === 0 ? (
            <Text c="dimmed">{t.segments.usedNowhere}</Text>
          ) : (
            <Stack>
              {section(t.segments.usedInCampaigns, campaigns, '/p/$projectId/campaigns/$id')}
              {section(t.segments.usedInSegments, segments, '/p/$projectId/segments/$id')}
              {section(t.segments.usedInWorkflows, workflows)}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}
