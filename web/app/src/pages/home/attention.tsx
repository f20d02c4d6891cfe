import { Anchor, Group, List, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconMoodSmile } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { type ProjectApi, useApi } from '../../api/hooks.ts';
import { t } from '../../texts/index.ts';
import { Loaded, Panel } from '../../ui/page.tsx';

interface Notice {
  text: string;
  path: string;
  search?: Record<string, string>;
}

const WEEK_MS = 7 * 86_400_000;

/** Everything that waits for a person: each line leads to where it can be settled. */
async function readNotices({ client, projectId }: ProjectApi): Promise<Notice[]> {
  const emails = (query: object) => unwrap(client.GET('/emails', { params: { query } }));
  const startDate = new Date(Date.now() - WEEK_MS).toISOString();
  const [unknown, failed, pending, executions, campaigns, domains] = await Promise.all([
    emails({ status: 'UNKNOWN', limit: 1 }),
    emails({ status: 'FAILED', limit: 1, startDate }),
    emails({ status: 'PENDING', limit: 100 }),
    unwrap(client.GET('/executions', { params: { query: { status: 'FAILED', limit: 1 } } })),
    unwrap(client.GET('/campaigns', { params: { query: { status: 'SENDING', pageSize: 20 } } })),
    unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
  ]);
  // Mail that may not leave waits with the reason why.
  const blocked = pending.data.filter(({ reason, attemptCount }) => reason !== null && attemptCount === 0).length;
  const lines: (Notice | false)[] = [
    unknown.total > 0 && { text: t.home.unknown(unknown.total), path: 'emails', search: { status: 'UNKNOWN' } },
    blocked > 0 && { text: t.home.blocked(blocked), path: 'emails', search: { status: 'PENDING' } },
    failed.total > 0 && { text: t.home.failed(failed.total), path: 'emails', search: { status: 'FAILED' } },
    executions.total > 0 && {
      text: t.home.failedExecutions(executions.total),
      path: 'executions',
      search: { status: 'FAILED' },
    },
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
  const notices = useQuery({
    queryKey: api.key('attention'),
    queryFn: () => readNotices(api),
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
