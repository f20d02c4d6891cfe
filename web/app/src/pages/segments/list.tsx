import { Badge, Group, Text } from '@mantine/core';
import { IconFilter, IconPlus, IconSearchOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useRights } from '../../api/hooks.ts';
import type { Segment } from '../../api/types.ts';
import { dateTime, number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { SearchField, Time } from '../../ui/controls.tsx';
import { ButtonLink, TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';

const MAX_AGE_MS = 600_000;
const isOld = ({ countedAt }: Segment): boolean => !countedAt || Date.now() - Date.parse(countedAt) > MAX_AGE_MS;

export function SegmentsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const { search = '' } = useSearch({ from: '/signed-in/p/$projectId/segments' });
  const navigate = useNavigate({ from: '/p/$projectId/segments' });
  const segments = useQuery({
    queryKey: key('segments'),
    queryFn: () => unwrap(client.GET('/segments')),
    // Old counts are made again in the background while the list is shown.
    refetchInterval: ({ state }) => (state.dataUpdateCount < 6 && state.data?.some(isOld) ? 3_000 : false),
  });
  const matching = (all: Segment[]) => all.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const create = write && (
    <ButtonLink to="/p/$projectId/segments/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
      {t.segments.new}
    </ButtonLink>
  );
  return (
    <Page title={t.segments.title} description={t.segments.description} actions={create}>
      <Panel flush>
        <Group p="md">
          <SearchField
            label={t.segments.search}
            value={search}
            onChange={(text) => void navigate({ search: { search: text || undefined }, replace: true })}
            flex="1 1 14rem"
          />
        </Group>
        <Loaded query={segments} lines={8}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                icon={<IconFilter size={30} />}
                title={t.segments.emptyTitle}
                text={t.segments.emptyText}
                action={create}
              />
            ) : matching(all).length === 0 ? (
              <Empty icon={<IconSearchOff size={30} />} title={t.segments.noMatch} />
            ) : (
              <DataTable<Segment>
                portable
                label={t.segments.title}
                rows={matching(all)}
                rowId={({ id }) => id}
                columns={[
                  {
                    id: 'name',
                    header: t.common.name,
                    main: true,
                    cell: ({ id, name, description }) => (
                      <div>
                        <TextLink to="/p/$projectId/segments/$id" params={{ projectId, id }} fw={600} inherit>
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
                    id: 'type',
                    header: t.segments.type,
                    cell: ({ type, trackMembership }) => (
                      <Group gap={6}>
                        {t.segments.types[type]}
                        {trackMembership && <Badge color="teal">{t.segments.tracked}</Badge>}
                      </Group>
                    ),
                  },
                  {
                    id: 'members',
                    header: t.segments.members,
                    align: 'right',
                    cell: ({ memberCount, countedAt }) => (
                      <span title={countedAt ? `${t.contactLists.counted} ${dateTime(countedAt)}` : undefined}>
                        {number(memberCount)}
                      </span>
                    ),
                  },
                  { id: 'updated', header: t.common.updated, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}
