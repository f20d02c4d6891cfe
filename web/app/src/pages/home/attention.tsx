import { Group, List, Text, ThemeIcon } from '@mantine/core';
import { IconAlertTriangle, IconMoodSmile } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { type ProjectApi, useApi, useRights } from '../../api/hooks.ts';
import { localDay } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { type PageLink, TextLink } from '../../ui/links.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';
import type { EmailsSearch } from '../emails/search.ts';

interface Notice {
  text: string;
  link: PageLink;
}

const DAYS = 7;

const hostOf = (url: string): string => new URL(url).host;

/** Everything that waits for a person: each line leads to where it can be settled. */
async function readNotices({ client, projectId }: ProjectApi, admin: boolean): Promise<Notice[]> {
  const emails = (query: object) => unwrap(client.GET('/emails', { params: { query } }));
  // A day of the user's own calendar, so that the list behind the number has as many lines.
  const firstDay = localDay(DAYS - 1);
  const startDate = new Date(`${firstDay}T00:00:00`).toISOString();
  const [unknown, failed, blocked, executions, problems, campaigns, domains, endpoints] = await Promise.all([
    emails({ status: 'UNKNOWN', limit: 1 }),
    emails({ status: 'FAILED', limit: 1, startDate }),
    emails({ blocked: true, limit: 1 }),
    unwrap(client.GET('/executions', { params: { query: { status: 'FAILED', limit: 1 } } })),
    unwrap(client.GET('/executions/problems')),
    unwrap(client.GET('/campaigns', { params: { query: { status: 'SENDING', pageSize: 20 } } })),
    unwrap(client.GET('/domains/project/{projectId}', { params: { path: { projectId } } })),
    // Only those who may change endpoints may see them.
    admin ? unwrap(client.GET('/webhook-endpoints')) : [],
  ]);
  const emailsLink = (search: EmailsSearch) =>
    linkOptions({ to: '/p/$projectId/emails', params: { projectId }, search });
  const lines: (Notice | false)[] = [
    unknown.total > 0 && { text: t.home.unknown(unknown.total), link: emailsLink({ status: 'UNKNOWN' }) },
    blocked.total > 0 && { text: t.home.blocked(blocked.total), link: emailsLink({ status: 'BLOCKED' }) },
    failed.total > 0 && {
      text: t.home.failed(failed.total),
      link: emailsLink({ status: 'FAILED', from: firstDay }),
    },
    executions.total > 0 && {
      text: t.home.failedExecutions(executions.total),
      link: linkOptions({ to: '/p/$projectId/executions', params: { projectId }, search: { status: 'FAILED' } }),
    },
    ...problems.data
      .filter(({ retrying }) => retrying > 0)
      .map(({ workflowId: id, workflowName, stepName, retrying, error }) => ({
        text: t.home.retryingStep(retrying, stepName, workflowName, error),
        link: linkOptions({ to: '/p/$projectId/workflows/$id', params: { projectId, id } }),
      })),
    ...endpoints
      .filter(({ failingSince, disabledReason }) => failingSince !== null || disabledReason !== null)
      .map(({ id, url, enabled }) => ({
        text: enabled ? t.home.failingWebhook(hostOf(url)) : t.home.disabledWebhook(hostOf(url)),
        link: linkOptions({ to: '/p/$projectId/webhooks/$id', params: { projectId, id } }),
      })),
    ...campaigns.data
      .filter(({ paused }) => paused)
      .map(({ id, name }) => ({
        text: t.home.pausedCampaign(name),
        link: linkOptions({ to: '/p/$projectId/campaigns/$id', params: { projectId, id } }),
      })),
    ...domains
      .filter(({ verified }) => !verified)
      .map(({ domain }) => ({
        text: t.home.pendingDomain(domain),
        link: linkOptions({ to: '/p/$projectId/domains', params: { projectId } }),
      })),
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
              {lines.map(({ text, link }) => (
                <List.Item key={text}>
                  <TextLink {...link} className="breakable">
                    {text}
                  </TextLink>
                </List.Item>
              ))}
            </List>
          )
        }
      </Loaded>
    </Panel>
  );
}
