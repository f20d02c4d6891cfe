import { ActionIcon, Group, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconListCheck, IconPlus } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Topic } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { useTopics } from './queries.ts';

type Which = 'used' | 'archived';

export function TopicsPage() {
  const { projectId } = useApi();
  const { write } = useRights();
  const archived = useSearch({ from: '/signed-in/p/$projectId/topics' }).tab === 'archived';
  const navigate = useNavigate({ from: '/p/$projectId/topics' });
  const topics = useTopics(archived);
  const create = write && (
    <ButtonLink to="/p/$projectId/topics/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
      {t.topics.new}
    </ButtonLink>
  );
  return (
    <Page title={t.topics.title} description={t.topics.description} actions={create}>
      <Panel flush>
        <Group p="md">
          <Choice<Which>
            label={t.topics.which}
            value={archived ? 'archived' : 'used'}
            onChange={(which) =>
              void navigate({ search: { tab: which === 'archived' ? which : undefined }, replace: true })
            }
            data={[
              { value: 'used', label: t.topics.inUse },
              { value: 'archived', label: t.topics.archived },
            ]}
          />
        </Group>
        <Loaded query={topics} lines={6}>
          {(all) =>
            all.length > 0 ? (
              <TopicsTable topics={all} canMove={write && !archived} />
            ) : archived ? (
              <Empty icon={<IconListCheck size={30} />} title={t.topics.archivedEmpty} />
            ) : (
              <Empty
                icon={<IconListCheck size={30} />}
                title={t.topics.emptyTitle}
                text={t.topics.emptyText}
                action={create}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

function TopicsTable({ topics, canMove }: { topics: Topic[]; canMove: boolean }) {
  const { projectId } = useApi();
  const count = (id: 'subscribed' | 'unsubscribed' | 'pending'): Column<Topic> => ({
    id,
    header: t.topics[id],
    align: 'right',
    cell: ({ counts }) => (
      <span title={counts.estimated ? t.topics.estimated : undefined}>
        {counts.estimated && '≈ '}
        {number(counts[id])}
      </span>
    ),
  });
  return (
    <DataTable<Topic>
      portable
      label={t.topics.title}
      rows={topics}
      rowId={({ id }) => id}
      columns={[
        {
          id: 'name',
          header: t.common.name,
          main: true,
          cell: ({ id, name, description }) => (
            <div>
              <TextLink to="/p/$projectId/topics/$id" params={{ projectId, id }} fw={600} inherit className="breakable">
                {name}
              </TextLink>
              {description && (
                <Text size="sm" c="dimmed" fw={400} lineClamp={1}>
                  {description}
                </Text>
              )}
            </div>
          ),
        },
        {
          id: 'kind',
          header: t.topics.kind,
          cell: ({ kind }) => t.topics.kinds[kind],
        },
        count('subscribed'),
        count('unsubscribed'),
        count('pending'),
        ...(canMove && topics.length > 1
          ? [
              {
                id: 'order',
                header: t.topics.order,
                screenOnly: true,
                cell: ({ id }: Topic) => <MoveButtons topics={topics} id={id} />,
              },
            ]
          : []),
      ]}
    />
  );
}

function MoveButtons({ topics, id }: { topics: Topic[]; id: string }) {
  const { client, key } = useApi();
  const at = topics.findIndex((topic) => topic.id === id);
  const name = topics[at]?.name ?? '';
  const move = useAction({
    run: (step: number) => {
      const ids = topics.map((topic) => topic.id).filter((other) => other !== id);
      ids.splice(at + step, 0, id);
      return unwrap(client.POST('/topics/reorder', { body: { ids } }));
    },
    changes: [key('topics')],
  });
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.topics.moveUp(name)}
        disabled={at === 0 || move.isPending}
        onClick={() => move.mutate(-1)}
      >
        <IconArrowUp size={16} />
      </ActionIcon>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t.topics.moveDown(name)}
        disabled={at === topics.length - 1 || move.isPending}
        onClick={() => move.mutate(1)}
      >
        <IconArrowDown size={16} />
      </ActionIcon>
    </Group>
  );
}
