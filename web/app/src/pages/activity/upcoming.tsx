import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';
import { type UpcomingItem, UpcomingLink } from './upcoming-link.tsx';

const ITEMS = 20;

export function UpcomingPanel() {
  const { client, key } = useApi();
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
                    <UpcomingLink item={item}>
                      {item.campaignId
                        ? t.activity.upcomingCampaign(item.name ?? '')
                        : t.activity.upcomingStep(item.workflowName ?? '', item.contactEmail ?? '')}
                    </UpcomingLink>
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
