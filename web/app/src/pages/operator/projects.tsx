import { Badge, Group, Text, TextInput } from '@mantine/core';
import { IconSearchOff } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useCursorList } from '../../api/hooks.ts';
import type { OperatorProject } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { SearchField, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Empty, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { LevelBadge } from '../project/project.tsx';

/** All projects of the installation. */
export function ProjectsPanel() {
  // The console has two addresses: with a project and without one.
  const { search } = useSearch({ strict: false });
  const navigate = useNavigate();
  const list = useCursorList<OperatorProject>(['operator', 'projects', search], (cursor) =>
    unwrap(accountApi.GET('/operator/projects', { params: { query: { search, limit: 50, cursor } } })),
  );
  return (
    <Panel flush title={t.operator.projects}>
      <Group p="md">
        <SearchField
          label={t.operator.projectSearch}
          value={search ?? ''}
          onChange={(text) => void navigate({ to: '.', search: { search: text || undefined }, replace: true })}
          flex="1 1 14rem"
        />
      </Group>
      <CursorTable<OperatorProject>
        label={t.operator.projects}
        list={list}
        rowId={({ id }) => id}
        empty={<Empty icon={<IconSearchOff size={30} />} title={t.operator.noProjects} />}
        columns={[
          {
            id: 'name',
            header: t.operator.project,
            main: true,
            cell: ({ id, name }) => (
              <div>
                {name}
                <Text size="xs" c="dimmed" fw={400}>
                  {id}
                </Text>
              </div>
            ),
          },
          {
            id: 'state',
            header: t.operator.state,
            cell: ({ disabled, disabledReason }) =>
              disabled ? (
                <Badge color="red" miw="max-content" title={disabledReason ?? undefined}>
                  {t.operator.disabled}
                </Badge>
              ) : (
                <Badge color="teal" miw="max-content">
                  {t.operator.enabled}
                </Badge>
              ),
          },
          {
            id: 'volume',
            header: t.operator.volume,
            align: 'right',
            cell: ({ volume: { last24h, last7d, last30d } }) => [last24h, last7d, last30d].map(number).join(' / '),
          },
          {
            id: 'bounces',
            header: t.operator.bounces,
            cell: ({ rates: { last7d } }) => <Rate rate={last7d.bounceRate} level={last7d.bounceLevel} />,
          },
          {
            id: 'complaints',
            header: t.operator.complaints,
            cell: ({ rates: { last7d } }) => <Rate rate={last7d.complaintRate} level={last7d.complaintLevel} />,
          },
          { id: 'members', header: t.operator.members, align: 'right', cell: ({ members }) => number(members) },
          { id: 'created', header: t.common.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
          {
            id: 'actions',
            header: t.common.actions,
            screenOnly: true,
            cell: (project) => <StateButton project={project} />,
          },
        ]}
      />
    </Panel>
  );
}

type Level = OperatorProject['rates']['last7d']['level'];

const Rate = ({ rate, level }: { rate: number; level: Level }) => (
  <Group gap="xs">
    <span>{percent(rate)}</span>
    {level !== 'healthy' && <LevelBadge level={level} />}
  </Group>
);

function StateButton({ project: { id, name, disabled } }: { project: OperatorProject }) {
  const [reason, setReason] = useState('');
  const params = { params: { path: { id } } };
  const changes = [['operator', 'projects'], ['projects']];
  const disable = useAction({
    run: () =>
      unwrap(accountApi.POST('/operator/projects/{id}/disable', { ...params, body: { reason: reason.trim() } })),
    done: () => t.operator.disabledNow(name),
    changes,
    quiet: true,
    onDone: () => setReason(''),
  });
  const enable = useAction({
    run: () => unwrap(accountApi.POST('/operator/projects/{id}/enable', params)),
    done: () => t.operator.enabledNow(name),
    changes,
    quiet: true,
  });
  if (disabled)
    return (
      <ConfirmButton
        size="xs"
        label={t.operator.enable}
        title={t.operator.enableTitle(name)}
        confirm={t.operator.enable}
        onConfirm={() => enable.mutateAsync()}
      >
        {t.operator.enableText}
      </ConfirmButton>
    );
  return (
    <ConfirmButton
      danger
      variant="subtle"
      size="xs"
      label={t.operator.disable}
      title={t.operator.disableTitle(name)}
      confirm={t.operator.disable}
      onConfirm={() => disable.mutateAsync()}
    >
      <Text mb="md">{t.operator.disableText}</Text>
      <TextInput
        label={t.operator.reason}
        required
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmButton>
  );
}
