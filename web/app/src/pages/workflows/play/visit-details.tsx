import { Badge, Box, Code, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { dateTime, shownValue } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { branchName, typeName } from '../steps.ts';
import type { DecidedFilter, Visit } from './recording.ts';

const colors: Record<string, string> = {
  RUNNING: 'blue',
  WAITING: 'violet',
  COMPLETED: 'teal',
  SKIPPED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
};
const MAX_OUTPUT = 2_000;

/** What a step did, and why. */
export function VisitDetails({ visit }: { visit: Visit }) {
  const { name, type, status, branch, reason, filters, output, enteredAt, leftAt, scheduledFor } = visit;
  return (
    <Box component="section" className="visit-details" aria-label={t.playback.now}>
      <Stack gap={6}>
        <Text component="h3" fw={650} className="breakable">
          {visit.visit}. {name}
        </Text>
        <Group gap="xs">
          <Badge>{typeName(type)}</Badge>
          <Badge color={colors[status]}>{t.workflows.stepStatuses[status]}</Badge>
        </Group>
        <Text size="sm" c="dimmed">
          {leftAt && leftAt !== enteredAt
            ? t.playback.fromTo(dateTime(enteredAt), dateTime(leftAt))
            : dateTime(enteredAt)}
        </Text>
        {branch && (
          <Text size="sm" fw={600}>
            {t.workflows.took(branchName(branch))}
          </Text>
        )}
        {reason && (
          <Text size="sm" className="breakable">
            {branch ? t.workflows.because(reason) : reason}
          </Text>
        )}
        {status === 'WAITING' && (
          <Text size="sm">
            {scheduledFor ? `${t.workflows.waitsUntil} ${dateTime(scheduledFor)}` : t.workflows.waitsForEvent}
          </Text>
        )}
        {filters.length > 0 && <Filters filters={filters} />}
        {output && Object.keys(output).length > 0 && (
          <Code block className="breakable" style={{ whiteSpace: 'pre-wrap' }}>
            {JSON.stringify(output, null, 2).slice(0, MAX_OUTPUT)}
          </Code>
        )}
      </Stack>
    </Box>
  );
}

function Filters({ filters }: { filters: readonly DecidedFilter[] }) {
  return (
    <ul className="filter-list" aria-label={t.playback.filters}>
      {filters.map(({ path, field, operator, value, matched, decisive }) => (
        <li key={path} data-decisive={decisive || undefined}>
          {matched ? <IconCheck size={16} aria-hidden /> : <IconX size={16} aria-hidden />}
          <span className="breakable">
            {[field, operatorName(operator), shownValue(value)].filter(Boolean).join(' ')}
          </span>
          <Group gap={4} wrap="nowrap" ml="auto">
            {decisive && <Badge color="iris">{t.playback.decided}</Badge>}
            <Badge color={matched ? 'teal' : 'gray'}>{matched ? t.playback.holds : t.playback.doesNotHold}</Badge>
          </Group>
        </li>
      ))}
    </ul>
  );
}

const operatorName = (operator: string | null): string | null =>
  operator && ((t.segments.operators as Record<string, string>)[operator] ?? operator);
