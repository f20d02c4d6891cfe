import { Anchor, Badge, Button, Group, Text } from '@mantine/core';
import { IconFilter, IconPlus, IconSearchOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useRights } from '../../api/hooks.ts';
import type { Segment } from '../../api/types.ts';
import { number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { SearchField, Time } from '../../ui/controls.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';

export function SegmentsPage() {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const { search = '' } = useSearch({ from: '/signed-in/p/$projectId/segments' });
  const navigate = useNavigate({ from: '/p/$projectId/segments' });
  const segments = useQuery({ queryKey: key('segments'), queryFn: () => unwrap(client.GET('/segments')) });
  const matching = (all: Segment[]) => all.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const create = write && (
    <Button component={Link} to={`/p/${projectId}/segments/new`} leftSection={<IconPlus size={16} />}>
      {t.segments.new}
    </Button>
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
                        <Anchor component={Link} to={`/p/${projectId}/segments/${id}`} fw={600} inherit>
                          {name}
                        </Anchor>
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
                        <Badge color={type === 'DYNAMIC' ? 'iris' : 'gray'}>{t.segments.types[type]}</Badge>
                        {trackMembership && <Badge color="teal">{t.segments.tracked}</Badge>}
                      </Group>
                    ),
                  },
                  {
                    id: 'members',
                    header: t.segments.members,
                    align: 'right',
                    cell: ({ memberCount }) => number(memberCount),
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
