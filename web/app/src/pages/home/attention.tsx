import { Anchor, Group, List, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconMoodSmile } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { type ProjectApi, useApi, useRights } from '../../api/hooks.ts';
import { localDay } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Loaded, Panel } from '../../ui/page.tsx';

interface Notice {
  text: string;
  path: string;
  search?: Record<string, string>;
}

const DAYS = 7;

const hostOf = (url: string): string => new URL(url).host;

/** Everything that waits for a person: each line leads to where it can be settled. */
async function readNotices({ client, projectId }: ProjectApi, admin: boolean): Promise<Notice[]> {
  const emails = (query: object) => unwrap(client.GET('/emails', { params: { query } }));
  // A day of the user's own calendar, so that the list behind the number has as many lines.
  const firstDay = localDay(DAYS - 1);
  const startDate = new Date(`${firstDay}T00:00:00`).toISOString();
  const [unknown, failed, blocked, executions, campaigns, domains, endpoints] = await Promise.all([
    emails({ status: 'UNKNOWN', limit: 1 }),
    emails({ status: 'FAILED', limit: 1, startDate }),
    emails({ blocked: true, limit: 1 }),
    unwrap(client.GET('/executions', { params: { query: { status: 'FAILED', limit: 1 } } })),
    unwrap(client.GET('/campaigns', { params: { query: { status: 'SENDING', pageSize: 20 } } })),
    unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
    // Only those who may change endpoints may see them.
    admin ? unwrap(client.GET('/webhook-endpoints')) : [],
  ]);
  const lines: (Notice | false)[] = [
    unknown.total > 0 && { text: t.home.unknown(unknown.total), path: 'emails', search: { status: 'UNKNOWN' } },
    blocked.total > 0 && { text: t.home.blocked(blocked.total), path: 'emails', search: { status: 'BLOCKED' } },
    failed.total > 0 && {
      text: t.home.failed(failed.total),
      path: 'emails',
      search: { status: 'FAILED', from: firstDay },
    },
    executions.total > 0 && {
      text: t.home.failedExecutions(executions.total),
      path: 'executions',
      search: { status: 'FAILED' },
    },
    ...endpoints
      .filter(({ failingSince, disabledReason }) => failingSince !== null || disabledReason !== null)
      .map(({ id, url, enabled }) => ({
        text: enabled ? t.home.failingWebhook(hostOf(url)) : t.home.disabledWebhook(hostOf(url)),
        path: `webhooks/${id}`,
      })),
    ...campaigns.data
      .filter(({ paused }) => paused)
      .map(({ id, name }) => ({ text: t.home.pausedCampaign(name), path: `campaigns/${id}` })),
    ...domains
      .filter(({ verified }) => !verified)
      .map(({ domain }) => ({ text: t.home.pendingDomain(domain), path: 'domains' })),
  ];
  return lines.filter((line): line is Notice => line !== false);
}

export function AttentionPanel() {
  const api = useApi();
  const { admin } = useRights();
  const notices = useQuery({
    queryKey: api.key('attention', admin),
    queryFn: () => readNotices(api, admin),
    refetchInterval: 30_000,
  });
  return (
    <Panel title={t.home.attention} h="100%">
      <Loaded query={notices}>
        {(lines) =>
          lines.length === 0 ? (
            <Group gap="sm" wrap="nowrap">
              <ThemeIcon variant="light" color="teal" radius="xl" aria-hidden>
                <IconMoodSmile size={18} />
              </ThemeIcon>
              <Text c="dimmed">{t.home.attentionEmpty}</Text>
            </Group>
          ) : (
            <List
              listStyleType="none"
              spacing="sm"
              center
              icon={
                <ThemeIcon variant="light" color="orange" radius="xl" size="md" aria-hidden>
                  <IconAlertTriangle size={16} />
                </ThemeIcon>
              }
            >
              {lines.map(({ text, path, search }) => (
                <List.Item key={text}>
                  <Anchor
                    component={Link}
                    to={`/p/${api.projectId}/${path}`}
                    search={(search ?? {}) as never}
                    className="breakable"
                  >
                    {text}
                  </Anchor>
                </List.Item>
              ))}
            </List>
          )
        }
      </Loaded>
    </Panel>
  );
}
