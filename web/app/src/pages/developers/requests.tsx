import { Badge, Button, Code, Group, List, SegmentedControl, Switch, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCircleCheck, IconListSearch, IconSearchOff } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useApi, useCursorList, useProject } from '../../api/hooks.ts';
import type { FailedRequest } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Choice, SearchField, Time } from '../../ui/controls.tsx';
import { Empty, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import type { DevelopersSearch } from './search.ts';

const STATUSES = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503];
const REFRESH_MS = 15_000;

export function RequestsTab() {
  const { client, key } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/developers' });
  const navigate = useNavigate({ from: '/p/$projectId/developers' });
  const { status, route, successful } = search;
  const list = useCursorList<FailedRequest>(
    key('requests', status, route, successful),
    (cursor) =>
      unwrap(client.GET('/requests', { params: { query: { status, route, successful, cursor, limit: 50 } } })),
    { refetchInterval: REFRESH_MS },
  );
  const change = (next: DevelopersSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const isFiltered = status !== undefined || route !== undefined;
  const { requestLog } = t;
  return (
    <Panel flush title={t.developers.requests} description={t.developers.requestsText} actions={<LogSwitch />}>
      <Group p="md" gap="sm" className="filters">
        <SegmentedControl
          aria-label={requestLog.kind}
          value={successful ? 'successful' : 'failed'}
          onChange={(kind) => change({ status: undefined, successful: kind === 'successful' ? true : undefined })}
          data={[
            { value: 'failed', label: requestLog.failed },
            { value: 'successful', label: requestLog.successful },
          ]}
        />
        <SearchField
          label={t.developers.route}
          value={route ?? ''}
          maxLength={500}
          onChange={(text) => change({ route: text.trim() || undefined })}
          flex="1 1 12rem"
        />
        {!successful && (
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
        )}
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
          ) : successful ? (
            <Empty icon={<IconListSearch size={30} />} title={requestLog.none} text={requestLog.noneText} />
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
            cell: ({ status: answered, code, message, errors }) => (
              <div>
                <Group gap={6}>
                  <Badge color={answered >= 500 ? 'red' : answered >= 400 ? 'orange' : 'teal'}>{answered}</Badge>
                  <span>{code}</span>
                </Group>
                <Text size="sm" c="dimmed">
                  {message}
                </Text>
                <RequestErrors errors={errors} />
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

/** Whether requests that succeed are logged from now on. */
function LogSwitch() {
  const project = useProject();
  const save = useAction({
    run: (logRequests: boolean) =>
      unwrap(
        accountApi.PATCH('/users/@me/projects/{id}', {
          params: { path: { id: project?.id ?? '' } },
          body: { logRequests },
        }),
      ),
    changes: [['projects']],
  });
  if (!project) return null;
  return (
    <Switch
      label={t.requestLog.record}
      description={t.requestLog.recordText}
      checked={save.isPending ? save.variables : project.logRequests}
      onChange={(event) => save.mutate(event.currentTarget.checked)}
    />
  );
}

/** What each field has wrong. */
function RequestErrors({ errors }: Pick<FailedRequest, 'errors'>) {
  const [opened, { toggle }] = useDisclosure();
  if (errors.length === 0) return null;
  return (
    <>
      <Button size="compact-xs" variant="subtle" onClick={toggle} aria-expanded={opened} mt={4}>
        {opened ? t.developers.hideErrors : t.developers.showErrors(errors.length)}
      </Button>
      {opened && (
        <List size="sm" listStyleType="none" mt={4}>
          {errors.map(({ field, code, message }) => (
            <List.Item key={`${field} ${code}`} className="breakable">
              <Code>{field}</Code> <Code>{code}</Code> {message}
            </List.Item>
          ))}
        </List>
      )}
    </>
  );
}
