import { Badge, Box, Code, SimpleGrid, Text } from '@mantine/core';
import { IconBolt, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { EventUsage } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { BackLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { DeleteWarning, Uses } from './uses.tsx';

const SHOWN_DATA = 300;

export function EventPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const { name } = useParams({ from: '/signed-in/p/$projectId/events/$name' });
  const usage = useQuery({
    queryKey: key('events', 'usage', name),
    queryFn: () => unwrap(client.GET('/events/{eventName}/usage', { params: { path: { eventName: name } } })),
  });
  const names = useQuery({
    queryKey: key('events', 'names'),
    queryFn: () => unwrap(client.GET('/events/names')),
  });
  const reserved = names.data?.names.find((each) => each.name === name)?.reserved;
  return (
    <Page
      title={name}
      back={
        <BackLink to="/p/$projectId/events" params={{ projectId }}>
          {t.events.title}
        </BackLink>
      }
      badge={reserved && <Badge color="gray">{t.events.reserved}</Badge>}
      description={reserved && t.events.reservedText}
      actions={write && reserved === false && usage.data && <DeleteEventButton name={name} usage={usage.data} />}
    >
      <Loaded query={usage}>
        {(loaded) => (
          <Panel title={t.events.usage}>
            <SimpleGrid cols={{ base: 2, sm: 4 }} mb="md">
              <Figure label={t.events.recorded} value={loaded.totalCount} />
              <Figure label={t.events.uniqueContacts} value={loaded.uniqueContacts} />
            </SimpleGrid>
            <Uses usage={loaded} />
          </Panel>
        )}
      </Loaded>
      <NewestEvents name={name} />
    </Page>
  );
}

export const Figure = ({ label, value }: { label: string; value: number }) => (
  <Box>
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text fw={650} size="xl" className="number">
      {number(value)}
    </Text>
  </Box>
);

function DeleteEventButton({ name, usage }: { name: string; usage: EventUsage }) {
  const { client, key, projectId } = useApi();
  const navigate = useNavigate();
  const remove = useAction({
    run: async () => {
      const answer = await unwrap(client.DELETE('/events/{eventName}', { params: { path: { eventName: name } } }));
      await navigate({ to: '/p/$projectId/events', params: { projectId } });
      return answer;
    },
    done: ({ deleted }) => t.events.eventDeleted(name, deleted),
    changes: [key('events')],
    quiet: true,
  });
  return (
    <ConfirmButton
      danger
      variant="light"
      label={t.events.delete}
      icon={<IconTrash size={16} />}
      title={t.events.deleteEventTitle(name)}
      confirm={t.events.delete}
      onConfirm={() => remove.mutateAsync()}
    >
      <DeleteWarning usage={usage}>{t.events.deleteEventText(usage.totalCount)}</DeleteWarning>
    </ConfirmButton>
  );
}

function NewestEvents({ name }: { name: string }) {
  const { client, key, projectId } = useApi();
  const list = useCursorList(key('events', 'newest', name), (cursor) =>
    unwrap(client.GET('/events', { params: { query: { eventName: name, cursor, limit: 20 } } })),
  );
  return (
    <Panel flush title={t.events.recent}>
      <CursorTable
        label={t.events.recent}
        list={list}
        rowId={({ id }) => id}
        empty={<Empty icon={<IconBolt size={30} />} title={t.events.recentEmpty} />}
        columns={[
          { id: 'at', header: t.common.created, main: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            id: 'person',
            header: t.events.person,
            cell: ({ contactId }) => (
              <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: contactId }} inherit>
                {t.events.showPerson}
              </TextLink>
            ),
          },
          {
            id: 'data',
            header: t.events.data,
            cell: ({ data }) =>
              Object.keys(data ?? {}).length > 0 ? <Code>{JSON.stringify(data).slice(0, SHOWN_DATA)}</Code> : '—',
          },
        ]}
      />
    </Panel>
  );
}
