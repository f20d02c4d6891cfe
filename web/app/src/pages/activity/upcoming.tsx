import { Anchor, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';

/** Campaigns and steps of workflows have different fields. */
interface UpcomingItem {
  type: string;
  scheduledFor: string;
  campaignId?: string;
  name?: string;
  workflowName?: string | null;
  contactEmail?: string | null;
  workflowId?: string;
  executionId?: string;
}

const ITEMS = 20;

export function UpcomingPanel() {
  const { client, key, projectId } = useApi();
  const upcoming = useQuery({
    queryKey: key('upcoming', ITEMS),
    queryFn: () => unwrap(client.GET('/activity/upcoming', { params: { query: { limit: ITEMS } } })),
  });
  return (
    <Panel title={t.activity.upcoming}>
      <Loaded query={upcoming}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">{t.activity.upcomingEmpty}</Text>
          ) : (
            <ul className="plain-list spaced">
              {(data as UpcomingItem[]).map((item) => (
                <li key={`${item.campaignId ?? item.executionId}:${item.scheduledFor}`}>
                  <Group justify="space-between" wrap="nowrap">
                    <Anchor
                      component={Link}
                      className="breakable"
                      to={
                        item.campaignId
                          ? `/p/${projectId}/campaigns/${item.campaignId}`
                          : `/p/${projectId}/workflows/${item.workflowId}/executions/${item.executionId}`
                      }
                    >
                      {item.campaignId
                        ? t.activity.upcomingCampaign(item.name ?? '')
                        : t.activity.upcomingStep(item.workflowName ?? '', item.contactEmail ?? '')}
                    </Anchor>
                    <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                      <Time at={item.scheduledFor} />
                    </Text>
                  </Group>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
