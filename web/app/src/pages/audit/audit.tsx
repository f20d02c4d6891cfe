import { Anchor, Box, Button, Group, Text } from '@mantine/core';
import { IconHistory, IconSearchOff } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useApi, useCursorList, useRights } from '../../api/hooks.ts';
import type { AuditEntry } from '../../api/types.ts';
import { shownValue } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice, Time } from '../../ui/controls.tsx';
import { DateField } from '../../ui/date-field.tsx';
import { Empty, Page, Panel } from '../../ui/page.tsx';
import { CursorTable } from '../../ui/table.tsx';
import { ActionName, actionName } from './action-name.tsx';
import type { AuditSearch } from './search.ts';

/** Who did what in the project. */
export function AuditPage() {
  const { admin } = useRights();
  return (
    <Page title={t.audit.title} description={t.audit.description}>
      {admin ? <AuditPanel /> : <Text c="dimmed">{t.audit.onlyAdmins}</Text>}
    </Page>
  );
}

function AuditPanel() {
  const { client, key, projectId } = useApi();
  const search = useSearch({ from: '/signed-in/p/$projectId/audit' });
  const navigate = useNavigate({ from: '/p/$projectId/audit' });
  const change = (next: AuditSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const { from, to, ...filters } = search;
  const list = useCursorList<AuditEntry>(key('audit', search), (cursor) =>
    unwrap(
      client.GET('/projects/{id}/audit', {
        params: {
          path: { id: projectId },
          query: {
            ...filters,
            // Days of the user's own calendar.
            ...(from && { since: new Date(`${from}T00:00:00`).toISOString() }),
            ...(to && { until: new Date(`${to}T23:59:59.999`).toISOString() }),
            limit: 50,
            cursor,
          },
        },
      }),
    ),
  );
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Panel flush>
      <Group p="md" gap="sm" className="filters" align="flex-end">
        <ActorChoice value={search.actor} onChange={(actor) => change({ actor })} />
        <Choice
          label={t.audit.action}
          visibleLabel
          w={240}
          value={search.action ?? 'any'}
          onChange={(value) => change({ action: value === 'any' ? undefined : value })}
          data={[
            { value: 'any', label: t.audit.anyAction },
            ...withOwn(Object.keys(t.audit.actions), search.action).map((value) => ({
              value,
              label: actionName(value),
            })),
          ]}
        />
        <DateField
          label={t.audit.from}
          value={from ?? ''}
          max={to}
          onChange={(day) => change({ from: day || undefined })}
        />
        <DateField
          label={t.audit.to}
          value={to ?? ''}
          min={from}
          onChange={(day) => change({ to: day || undefined })}
        />
        {isFiltered && (
          <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
            {t.common.clearFilters}
          </Button>
        )}
      </Group>
      <CursorTable<AuditEntry>
        label={t.audit.title}
        list={list}
        rowId={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty icon={<IconSearchOff size={30} />} title={t.audit.noMatch} />
          ) : (
            <Empty icon={<IconHistory size={30} />} title={t.audit.empty} />
          )
        }
        columns={[
          { id: 'action', header: t.audit.action, main: true, cell: ({ action }) => <ActionName action={action} /> },
          { id: 'target', header: t.audit.target, cell: (entry) => <Target entry={entry} onChoose={change} /> },
          {
            id: 'actor',
            header: t.audit.actor,
            cell: ({ actor, ip }) => (
              <Box>
                {actorName(actor)}
                {ip && (
                  <Text size="xs" c="dimmed">
                    {t.audit.ip} {ip}
                  </Text>
                )}
              </Box>
            ),
          },
          { id: 'changes', header: t.audit.changes, cell: ({ changes }) => <Changes changes={changes} /> },
          { id: 'when', header: t.audit.when, cell: ({ at }) => <Time at={at} exact /> },
        ]}
      />
    </Panel>
  );
}

/** Keeps a value of the address that is not on the list. */
const withOwn = (known: readonly string[], own: string | undefined): string[] =>
  own === undefined || known.includes(own) ? [...known] : [own, ...known];

interface ActorChoiceProps {
  value: string | undefined;
  onChange(value: string | undefined): void;
}

/** Kinds of actors, and the members of the project. */
function ActorChoice({ value, onChange }: ActorChoiceProps) {
  const { client, key, projectId } = useApi();
  const { data: members = [] } = useQuery({
    queryKey: key('members'),
    queryFn: () => unwrap(client.GET('/projects/{id}/members', { params: { path: { id: projectId } } })),
  });
  const { actors } = t.audit;
  const options = [
    { value: 'any', label: t.audit.anyActor },
    ...(['USER', 'KEY', 'SYSTEM'] as const).map((kind) => ({ value: kind as string, label: actors[kind] })),
    ...members.map(({ userId, email }) => ({ value: userId, label: email })),
  ];
  const isKnown = value === undefined || options.some((option) => option.value === value);
  return (
    <Choice<string>
      label={t.audit.actor}
      visibleLabel
      w={220}
      value={value ?? 'any'}
      onChange={(next) => onChange(next === 'any' ? undefined : next)}
      data={isKnown ? options : [...options, { value, label: value }]}
    />
  );
}

function actorName({ type, name }: AuditEntry['actor']): string {
  if (type === 'SYSTEM') return t.audit.system;
  return name ?? (type === 'KEY' ? t.audit.deletedKey : t.audit.deletedUser);
}

interface TargetProps {
  entry: AuditEntry;
  onChoose(filter: AuditSearch): void;
}

/** Shows all entries of a target when it is clicked. */
function Target({ entry: { target }, onChoose }: TargetProps) {
  if (!target) return '—';
  const { type, id, name } = target;
  if (!id) return type;
  return (
    <Box>
      <Anchor
        component="button"
        type="button"
        inherit
        ta="inherit"
        className="breakable"
        onClick={() => onChoose({ target: id })}
      >
        {name ?? id}
      </Anchor>
      <Text size="xs" c="dimmed">
        {type}
      </Text>
    </Box>
  );
}

function Changes({ changes }: { changes: Record<string, unknown> }) {
  const entries = Object.entries(changes);
  if (entries.length === 0) return '—';
  return (
    <Box>
      {entries.map(([field, change]) => (
        <Text key={field} inherit className="breakable">
          {field}: {changeText(field, change)}
        </Text>
      ))}
    </Box>
  );
}

/** Roles by their names. */
function fieldText(field: string, value: unknown): string {
  const { roles } = t.members;
  return field === 'role' && Object.hasOwn(roles, String(value))
    ? roles[value as keyof typeof roles]
    : shownValue(value);
}

function changeText(field: string, change: unknown): string {
  if (typeof change !== 'object' || change === null || !('to' in change)) return t.audit.changed;
  const { from, to } = change as { from?: unknown; to: unknown };
  const text = fieldText(field, to);
  return from === null || from === undefined ? text : `${fieldText(field, from)} → ${text || '—'}`;
}
