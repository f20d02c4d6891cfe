import { Badge, Button, Group, Switch, Text } from '@mantine/core';
import { IconBell, IconChecks } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useCursorList } from '../../api/hooks.ts';
import type { Notification, NotificationSettings } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { type PageLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { CursorTable, DataTable } from '../../ui/table.tsx';

type NotificationType = keyof NotificationSettings;

const ALL = ['notifications'];

export function NotificationsPage() {
  const list = useCursorList<Notification>([...ALL, 'list'], (cursor) =>
    unwrap(accountApi.GET('/notifications', { params: { query: { limit: 50, cursor } } })),
  );
  const read = useAction({
    run: () => unwrap(accountApi.POST('/notifications/read', { body: { all: true } })),
    done: ({ read: count }) => t.notifications.marked(count),
    changes: [ALL],
  });
  const hasUnread = list.data?.pages.some(({ data }) => data.some(({ readAt }) => readAt === null)) ?? false;
  return (
    <Page
      title={t.notifications.title}
      description={t.notifications.description}
      actions={
        hasUnread && (
          <Button
            variant="default"
            leftSection={<IconChecks size={16} />}
            loading={read.isPending}
            onClick={() => read.mutate()}
          >
            {t.notifications.markAll}
          </Button>
        )
      }
    >
      <Panel flush>
        <CursorTable<Notification>
          label={t.notifications.title}
          list={list}
          rowId={({ id }) => id}
          empty={<Empty icon={<IconBell size={30} />} title={t.notifications.empty} text={t.notifications.emptyText} />}
          columns={[
            { id: 'what', header: t.notifications.what, main: true, cell: (item) => <What item={item} /> },
            { id: 'project', header: t.notifications.project, cell: ({ projectName }) => projectName },
            { id: 'when', header: t.notifications.when, cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Panel>
      <SettingsPanel />
    </Page>
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What a notification says, and the page of its project where it can be looked at. */
function newsOf({ type, data, projectId }: Notification): { text: string; link: PageLink } {
  const campaign = linkOptions({
    to: '/p/$projectId/campaigns/$id',
    params: { projectId, id: textOf(data.campaignId) },
  });
  switch (type) {
    case 'campaign.finished':
      return { text: t.notifications.campaignFinished(textOf(data.name)), link: campaign };
    case 'campaign.paused':
      return { text: t.notifications.campaignPaused(textOf(data.name)), link: campaign };
    case 'domain.lost':
      return {
        text: t.notifications.domainLost(textOf(data.domain)),
        link: linkOptions({ to: '/p/$projectId/domains', params: { projectId } }),
      };
    case 'endpoint.disabled':
      return {
        text: t.notifications.endpointDisabled(textOf(data.host)),
        link: linkOptions({ to: '/p/$projectId/webhooks/$id', params: { projectId, id: textOf(data.endpointId) } }),
      };
    case 'form.attacked':
      return {
        text: t.notifications.formAttacked(textOf(data.name)),
        link: linkOptions({ to: '/p/$projectId/forms/$id', params: { projectId, id: textOf(data.formId) } }),
      };
    case 'import.finished':
      return {
        text:
          data.status === 'FAILED' ? t.notifications.importFailed : t.notifications.importFinished(Number(data.total)),
        link: linkOptions({
          to: '/p/$projectId/contacts/import',
          params: { projectId },
          search: { job: textOf(data.jobId) },
        }),
      };
    case 'project.near_limit':
      return {
        text: t.notifications.nearLimit(textOf(data.category), Number(data.used), Number(data.limit)),
        link: linkOptions({ to: '/p/$projectId/billing', params: { projectId } }),
      };
  }
}

function What({ item }: { item: Notification }) {
  const cache = useQueryClient();
  const { text, link } = newsOf(item);
  const markRead = () => {
    if (item.readAt !== null) return;
    void accountApi
      .POST('/notifications/read', { body: { ids: [item.id] } })
      .then(() => cache.invalidateQueries({ queryKey: ALL }));
  };
  const reason = textOf(item.data.reason) || textOf(item.data.failedReason);
  return (
    <>
      <Group gap="xs">
        <TextLink {...link} onClick={markRead} inherit fw={600}>
          {text}
        </TextLink>
        {item.readAt === null && <Badge size="sm">{t.notifications.unread}</Badge>}
      </Group>
      {reason && (
        <Text size="sm" c="dimmed" fw={400} className="breakable">
          {reason}
        </Text>
      )}
    </>
  );
}

function SettingsPanel() {
  const key = ['notification-settings'];
  const settings = useQuery({
    queryKey: key,
    queryFn: () => unwrap(accountApi.GET('/users/@me/notification-settings')),
  });
  const change = useAction({
    run: (body: Partial<Record<NotificationType, { app?: boolean; email?: boolean }>>) =>
      unwrap(accountApi.PATCH('/users/@me/notification-settings', { body })),
    done: () => t.notifications.saved,
    changes: [key],
  });
  const types = Object.keys(t.notifications.types) as NotificationType[];
  return (
    <Panel flush title={t.notifications.settings} description={t.notifications.settingsText}>
      <Loaded query={settings}>
        {(current) => (
          <DataTable
            label={t.notifications.settings}
            rows={types.map((type) => ({ type, ...current[type] }))}
            rowId={({ type }) => type}
            columns={[
              { id: 'type', header: t.notifications.what, main: true, cell: ({ type }) => t.notifications.types[type] },
              ...(['app', 'email'] as const).map((channel) => {
                const header = channel === 'app' ? t.notifications.inApp : t.notifications.byMail;
                return {
                  id: channel,
                  header,
                  cell: ({ type, ...channels }: { type: NotificationType; app: boolean; email: boolean }) => (
                    <Switch
                      aria-label={`${t.notifications.types[type]}: ${header}`}
                      checked={
                        change.isPending ? (change.variables[type]?.[channel] ?? channels[channel]) : channels[channel]
                      }
                      onChange={(event) => change.mutate({ [type]: { [channel]: event.currentTarget.checked } })}
                    />
                  ),
                };
              }),
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
