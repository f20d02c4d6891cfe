import { Box, Button, Code, Text, Timeline } from '@mantine/core';
import { IconBolt, IconClick, IconEye, IconMail, IconMailOff, IconRoute, IconUser } from '@tabler/icons-react';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import type { ActivityItem } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Loaded } from '../../ui/page.tsx';
import { TopicOf } from '../topics/topic-of.tsx';

const icons: Partial<Record<ActivityItem['type'], typeof IconBolt>> = {
  'event.triggered': IconBolt,
  'email.opened': IconEye,
  'email.clicked': IconClick,
  'contact.subscribed': IconUser,
  'contact.unsubscribed': IconMailOff,
  'form.confirmed': IconUser,
  'topic.subscribed': IconUser,
  'topic.unsubscribed': IconMailOff,
  'workflow.started': IconRoute,
  'workflow.completed': IconRoute,
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What happened to a contact, the newest first. */
export function TimelineTab({ contactId }: { contactId: string }) {
  const { client, key } = useApi();
  const list = useCursorList(key('activity', contactId), (cursor) =>
    unwrap(client.GET('/activity', { params: { query: { contactId, limit: 50, cursor } } })),
  );
  const items = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Box p="lg">
      <Loaded query={list}>
        {() =>
          items.length === 0 ? (
            <Empty icon={<IconBolt size={28} />} title={t.contacts.timelineEmpty} />
          ) : (
            <>
              <Timeline bulletSize={28} lineWidth={2}>
                {items.map((item) => {
                  const Icon = icons[item.type] ?? IconMail;
                  return (
                    <Timeline.Item key={item.id} bullet={<Icon size={15} aria-hidden />} title={titleOf(item)}>
                      <ActivityDetail item={item} />
                      <Text size="xs" c="dimmed">
                        <Time at={item.timestamp} />
                      </Text>
                    </Timeline.Item>
                  );
                })}
              </Timeline>
              {list.hasNextPage && (
                <Button
                  mt="md"
                  variant="default"
                  onClick={() => void list.fetchNextPage()}
                  loading={list.isFetchingNextPage}
                >
                  {t.common.loadMore}
                </Button>
              )}
            </>
          )
        }
      </Loaded>
    </Box>
  );
}

const titleOf = ({ type, metadata }: ActivityItem): string =>
  type === 'event.triggered'
    ? (textOf(metadata.eventName) ?? textOf(metadata.name) ?? t.contacts.events[type])
    : t.contacts.events[type];

function ActivityDetail({ item }: { item: ActivityItem }) {
  const { projectId } = useApi();
  const { metadata } = item;
  const emailId = textOf(metadata.emailId);
  const subject = textOf(metadata.subject) ?? textOf(metadata.workflowName) ?? textOf(metadata.link);
  const data = metadata.data as Record<string, unknown> | undefined;
  const link = item.type === 'email.clicked' ? textOf(metadata.link) : undefined;
  const reason = textOf(metadata.reason);
  return (
    <>
      <TopicOf item={item} />
      {subject &&
        (emailId ? (
          <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id: emailId }} size="sm" className="breakable">
            {subject}
          </TextLink>
        ) : (
          <Text size="sm" className="breakable">
            {subject}
          </Text>
        ))}
      {link && (
        <Text size="sm" className="breakable">
          {t.outcomes.clickedLink(link)}
        </Text>
      )}
      {reason && (
        <Text size="sm" c="dimmed" className="breakable">
          {reason}
        </Text>
      )}
      {item.type === 'event.triggered' && data && Object.keys(data).length > 0 && (
        <Code className="breakable">{JSON.stringify(data).slice(0, 300)}</Code>
      )}
    </>
  );
}
