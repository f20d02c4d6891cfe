import { Badge, Button, Code, Group, Text } from '@mantine/core';
import { IconCircleCheck, IconSearchOff } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList } from '../../api/hooks.ts';
import type { FailedRequest } from '../../api/types.ts';
import type { DevelopersSearch } from '../../search.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { Empty, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';

const STATUSES = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503];
const REFRESH_MS = 15_000;

export function RequestsTab() {
  const { client, key } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/developers' });
  const navigate = useNavigate({ from: '/p/$projectId/developers' });
  const { status, route } = search;
  const list = useCursorList<FailedRequest>(
    key('requests', status, route),
    (cursor) => unwrap(client.GET('/requests', { params: { query: { status, route, cursor, limit: 50 } } })),
    { refetchInterval: REFRESH_MS },
  );
  const change = (next: DevelopersSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const isFiltered = status !== undefined || route !== undefined;
  return (
    <Panel flush title={t.developers.requests} description={t.developers.requestsText}>
      <Group p="md" gap="sm">
        <SearchField
          label={t.developers.route}
          value={route ?? ''}
          maxLength={500}
          onChange={(text) => change({ route: text.trim() || undefined })}
          flex="1 1 12rem"
        />
        <Choice
          label={t.developers.status}
          value={status === undefined ? 'any' : String(status)}
          onChange={(value) => change({ status: value === 'any' ? undefined : Number(value) })}
          data={[
            { value: 'any', label: t.developers.anyStatus },
            ...[...new Set([...STATUSES, ...(status === undefined ? [] : [status])])].map((value) => ({
              value: String(value),
              label: String(value),
            })),
          ]}
        />
        {isFiltered && (
          <Button variant="subtle" onClick={() => change({ status: undefined, route: undefined })}>
            {t.common.clearFilters}
          </Button>
        )}
      </Group>
      <CursorTable<FailedRequest>
        label={t.developers.requests}
        list={list}
        rowId={({ requestId, at }) => `${at} ${requestId}`}
        empty={
          isFiltered ? (
            <Empty icon={<IconSearchOff size={30} />} title={t.developers.noRequestMatch} />
          ) : (
            <Empty icon={<IconCircleCheck size={30} />} title={t.developers.noRequests} />
          )
        }
        columns={[
          {
            id: 'request',
            header: t.developers.request,
            main: true,
            cell: ({ method, route: path }) => (
              <Code>
                {method} {path}
              </Code>
            ),
          },
          {
            id: 'answer',
            header: t.developers.answer,
            cell: ({ status: answered, code, message }) => (
              <div>
                <Group gap={6}>
                  <Badge color={answered >= 500 ? 'red' : 'orange'}>{answered}</Badge>
                  <span>{code}</span>
                </Group>
                <Text size="sm" c="dimmed">
                  {message}
                </Text>
              </div>
            ),
          },
          { id: 'by', header: t.developers.by, cell: ({ key: name, user }) => name ?? user ?? '—' },
          { id: 'id', header: t.developers.requestId, cell: ({ requestId }) => <Code>{requestId}</Code> },
          { id: 'at', header: t.developers.at, cell: ({ at }) => <Time at={at} /> },
        ]}
      />
    </Panel>
  );
}
