import { Badge, Box, Button, Group, Tabs, Text } from '@mantine/core';
import { IconBolt, IconSearchOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { ContactField, EventName } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Empty, Loaded, Page, Panel } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { DataTable } from '../../ui/table.tsx';
import type { EventsSearch } from './search.ts';

export function EventsPage() {
  const { tab = 'events' } = useSearch({ from: '/signed-in/p/$projectId/events' });
  const navigate = useNavigate({ from: '/p/$projectId/events' });
  return (
    <Page title={t.events.title} description={t.events.description}>
      <Panel flush>
        <Tabs
          value={tab}
          onChange={(next) => void navigate({ search: next === 'fields' ? { tab: next } : {}, replace: true })}
        >
          <Tabs.List px="md" pt="xs">
            <Tabs.Tab value="events">{t.events.tabs.events}</Tabs.Tab>
            <Tabs.Tab value="fields">{t.events.tabs.fields}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="events">{tab === 'events' && <EventNames />}</Tabs.Panel>
          <Tabs.Panel value="fields">{tab === 'fields' && <Fields />}</Tabs.Panel>
        </Tabs>
      </Panel>
    </Page>
  );
}

/** The filters of the page, and how to change them. */
function useFilters() {
  const search = useSearch({ from: '/signed-in/p/$projectId/events' });
  const navigate = useNavigate({ from: '/p/$projectId/events' });
  const change = (next: EventsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const wanted = search.search?.toLowerCase() ?? '';
  return { search, change, isWanted: (name: string) => name.toLowerCase().includes(wanted) };
}

interface EventRow extends EventName {
  /** Of the last 30 days. */
  recent: { count: number; uniqueContacts: number; lastSeenAt: string } | undefined;
}

function EventNames() {
  const { client, key, projectId } = useApi();
  const { search, change, isWanted } = useFilters();
  const names = useQuery({
    queryKey: key('events', 'names'),
    queryFn: () => unwrap(client.GET('/events/names')),
  });
  const stats = useQuery({
    queryKey: key('events', 'stats'),
    queryFn: () => unwrap(client.GET('/events/stats')),
  });
  const recent = useMemo(() => new Map(stats.data?.data.map((each) => [each.name, each])), [stats.data]);
  const rowsOf = (all: EventName[]): EventRow[] =>
    all
      .filter(({ name, reserved }) => isWanted(name) && (!search.kind || reserved === (search.kind === 'reserved')))
      .map((each) => ({ ...each, recent: recent.get(each.name) }));
  return (
    <>
      <Group p="md" gap="sm" className="filters">
        <SearchField
          label={t.events.search}
          value={search.search ?? ''}
          onChange={(text) => change({ search: text || undefined })}
          flex="1 1 14rem"
        />
        <Choice
          label={t.events.kind}
          value={search.kind ?? 'any'}
          onChange={(value) => change({ kind: value === 'any' ? undefined : value })}
          data={[
            { value: 'any', label: t.events.anyKind },
            { value: 'own', label: t.events.own },
            { value: 'reserved', label: t.events.reserved },
          ]}
        />
      </Group>
      <Loaded query={names} lines={8}>
        {({ names: all }) => {
          const rows = rowsOf(all);
          if (rows.length === 0) return <NoEvents search={search} onClear={() => change(noFilters)} />;
          return (
            <DataTable<EventRow>
              portable
              label={t.events.tabs.events}
              rows={rows}
              rowId={({ name }) => name}
              columns={[
                {
                  id: 'name',
                  header: t.events.name,
                  main: true,
                  cell: ({ name, reserved }) => (
                    <Group gap={6}>
                      <TextLink to="/p/$projectId/events/$name" params={{ projectId, name }} fw={500} inherit>
                        {name}
                      </TextLink>
                      {reserved && <Badge color="gray">{t.events.reserved}</Badge>}
                    </Group>
                  ),
                },
                { id: 'count', header: t.events.count, align: 'right', cell: ({ count }) => number(count) },
                {
                  id: 'recent',
                  header: t.events.last30,
                  align: 'right',
                  cell: (row) => number(row.recent?.count ?? 0),
                },
                {
                  id: 'people',
                  header: t.events.people,
                  align: 'right',
                  cell: (row) => number(row.recent?.uniqueContacts ?? 0),
                },
                {
                  id: 'lastSeen',
                  header: t.events.lastSeen,
                  cell: (row) => <Time at={row.recent?.lastSeenAt ?? null} />,
                },
              ]}
            />
          );
        }}
      </Loaded>
    </>
  );
}

const noFilters: EventsSearch = { search: undefined, kind: undefined };

function NoEvents({ search, onClear }: { search: EventsSearch; onClear(): void }) {
  if (!search.search && !search.kind)
    return <Empty icon={<IconBolt size={30} />} title={t.events.emptyTitle} text={t.events.emptyText} />;
  return (
    <Empty
      icon={<IconSearchOff size={30} />}
      title={t.events.noMatch}
      action={
        <Button variant="default" onClick={onClear}>
          {t.common.clearFilters}
        </Button>
      }
    />
  );
}

function Fields() {
  const { client, key, projectId } = useApi();
  const { search, change, isWanted } = useFilters();
  const fields = useQuery({
    queryKey: key('contact-fields'),
    queryFn: () => unwrap(client.GET('/contacts/fields')),
  });
  return (
    <>
      <Group p="md" gap="sm" className="filters">
        <SearchField
          label={t.events.search}
          value={search.search ?? ''}
          onChange={(text) => change({ search: text || undefined })}
          flex="1 1 14rem"
        />
      </Group>
      <Loaded query={fields} lines={8}>
        {({ fields: all }) => {
          const rows = all.filter(({ field }) => isWanted(field));
          if (rows.length === 0) return <Empty icon={<IconSearchOff size={30} />} title={t.events.noFieldMatch} />;
          return (
            <DataTable<ContactField>
              portable
              label={t.events.fields}
              rows={rows}
              rowId={({ field }) => field}
              columns={[
                {
                  id: 'field',
                  header: t.events.field,
                  main: true,
                  cell: ({ field, isCustom }) => (
                    <Group gap={6}>
                      <TextLink to="/p/$projectId/fields/$name" params={{ projectId, name: field }} fw={500} inherit>
                        {field}
                      </TextLink>
                      {!isCustom && <Badge color="gray">{t.events.standard}</Badge>}
                    </Group>
                  ),
                },
                { id: 'type', header: t.events.type, cell: ({ type }) => t.events.fieldTypes[type] ?? type },
                { id: 'coverage', header: t.events.coverage, cell: ({ coverage }) => <Coverage share={coverage} /> },
              ]}
            />
          );
        }}
      </Loaded>
    </>
  );
}

export const Coverage = ({ share }: { share: number }) => (
  <Box miw={120}>
    <Progress value={share * 100} aria-label={t.events.coverage} className="screen-only" />
    <Text size="xs" c="dimmed">
      {t.events.coverageText(percent(share))}
    </Text>
  </Box>
);
