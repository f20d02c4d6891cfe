import { Badge, Box, Button, CloseButton, Code, Group, Text } from '@mantine/core';
import { IconActivity, IconSearchOff } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { linkOptions, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import { useLive } from '../../api/live.ts';
import type { ActivityItem } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { TopicOf } from '../topics/topic-of.tsx';
import { PersonField } from './person-field.tsx';
import { type ActivitySearch, activityGroups, activityTypes } from './search.ts';
import { UpcomingPanel } from './upcoming.tsx';

const PAGE = 50;

export function ActivityPage() {
  const { client, key } = useApi();
  const cache = useQueryClient();
  const search = useSearch({ from: '/signed-in/p/$projectId/activity' });
  const navigate = useNavigate({ from: '/p/$projectId/activity' });
  const change = (next: ActivitySearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const { type, contactId } = search;
  const types = type && (type in activityGroups ? activityGroups[type as keyof typeof activityGroups].join() : type);
  const [hasNew, setHasNew] = useState(false);
  const list = useCursorList<ActivityItem>(key('activity-feed', search), (cursor) =>
    unwrap(client.GET('/activity', { params: { query: { types, contactId, limit: PAGE, cursor } } })),
  );
  // A stream keeps its first callback; the box always has the newest one.
  const onNews = useRef(() => {});
  onNews.current = () => {
    // After paging, the user is reading: the list must not move.
    if ((list.data?.pages.length ?? 0) > 1) setHasNew(true);
    else void cache.invalidateQueries({ queryKey: key('activity-feed') });
  };
  useLive(['activity'], () => onNews.current());
  const refresh = () => {
    setHasNew(false);
    // Back to the first page: later ones begin where it ended.
    void cache.resetQueries({ queryKey: key('activity-feed', search) });
  };
  return (
    <Page title={t.activity.title} description={t.activity.description}>
      <Panel flush>
        <Group p="md" gap="sm" className="filters" align="flex-start">
          <Choice
            label={t.activity.type}
            visibleLabel
            w={260}
            value={type ?? 'any'}
            onChange={(value) => change({ type: value === 'any' ? undefined : value })}
            data={[
              { value: 'any', label: t.activity.anyType },
              ...(Object.keys(activityGroups) as (keyof typeof activityGroups)[]).map((value) => ({
                value,
                label: t.activity.groups[value],
              })),
              ...activityTypes.map((value) => ({ value, label: t.contacts.events[value] })),
            ]}
          />
          {contactId ? (
            <PersonBadge contactId={contactId} onRemove={() => change({ contactId: undefined })} />
          ) : (
            <PersonField onFound={(id) => change({ contactId: id })} />
          )}
          {hasNew && (
            <Button variant="light" className="beside-field" onClick={refresh}>
              {t.activity.showNew}
            </Button>
          )}
        </Group>
        <CursorTable<ActivityItem>
          label={t.activity.title}
          list={list}
          rowId={({ id, type: kind }) => `${kind}:${id}`}
          empty={
            type || contactId ? (
              <Empty icon={<IconSearchOff size={30} />} title={t.activity.noMatch} />
            ) : (
              <Empty icon={<IconActivity size={30} />} title={t.activity.emptyTitle} text={t.activity.emptyText} />
            )
          }
          columns={[
            { id: 'what', header: t.activity.what, main: true, cell: (item) => <What item={item} /> },
            { id: 'person', header: t.activity.person, cell: (item) => <Person item={item} /> },
            { id: 'detail', header: t.activity.detail, cell: (item) => <Detail item={item} /> },
            { id: 'when', header: t.activity.when, cell: ({ timestamp }) => <Time at={timestamp} /> },
          ]}
        />
      </Panel>
      <UpcomingPanel />
    </Page>
  );
}

function PersonBadge({ contactId, onRemove }: { contactId: string; onRemove(): void }) {
  const { client, key } = useApi();
  const contact = useQuery({
    queryKey: key('contact', contactId),
    queryFn: () => unwrap(client.GET('/contacts/{id}', { params: { path: { id: contactId } } })),
  });
  return (
    <Badge
      variant="light"
      size="lg"
      className="beside-field"
      rightSection={<CloseButton size="xs" aria-label={t.activity.removePerson} onClick={onRemove} />}
    >
      {t.activity.only(contact.data?.email ?? contactId)}
    </Badge>
  );
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function What({ item: { type, metadata } }: { item: ActivityItem }) {
  const name = type === 'event.triggered' ? textOf(metadata.eventName) : undefined;
  return (
    <Box>
      <Text fw={600} size="sm" className="breakable">
        {name ?? t.contacts.events[type]}
      </Text>
      {metadata.machine === true && (
        <Text size="xs" c="dimmed">
          {t.activity.machine}
        </Text>
      )}
    </Box>
  );
}

function Person({ item: { contactId, contactEmail } }: { item: ActivityItem }) {
  const { projectId } = useApi();
  if (contactId === null) return '—';
  if (contactEmail === null) return t.activity.deletedContact;
  return (
    <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contactId }} inherit className="breakable">
      {contactEmail}
    </TextLink>
  );
}

/** Where a detail leads: the mail, the campaign or the execution. */
function Detail({ item: { type, metadata } }: { item: ActivityItem }) {
  const { projectId } = useApi();
  const emailId = textOf(metadata.emailId);
  const campaignId = type.startsWith('campaign.') ? textOf(metadata.campaignId) : undefined;
  // The subject of a campaign is a template with variables; its name is not.
  const subject =
    (campaignId && textOf(metadata.name)) ??
    textOf(metadata.subject) ??
    textOf(metadata.workflowName) ??
    textOf(metadata.reason);
  const workflowId = textOf(metadata.workflowId);
  const executionId = textOf(metadata.executionId);
  const link = emailId
    ? linkOptions({ to: '/p/$projectId/emails/$id', params: { projectId, id: emailId } })
    : campaignId
      ? linkOptions({ to: '/p/$projectId/campaigns/$id', params: { projectId, id: campaignId } })
      : workflowId &&
        executionId &&
        linkOptions({
          to: '/p/$projectId/workflows/$id/executions/$executionId',
          params: { projectId, id: workflowId, executionId },
        });
  if (type.startsWith('topic.')) return <TopicOf item={{ type, metadata }} />;
  const data = type === 'event.triggered' ? (metadata.data as Record<string, unknown> | undefined) : undefined;
  if (data && Object.keys(data).length > 0)
    return <Code className="breakable">{JSON.stringify(data).slice(0, 200)}</Code>;
  if (!subject) return '—';
  if (!link) return subject;
  return (
    <TextLink {...link} inherit className="breakable">
      {subject}
    </TextLink>
  );
}
