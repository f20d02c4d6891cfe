import { Box, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { FormStats } from '../../api/api-types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { Loaded, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { REFRESH_MS, useFormStats } from './queries.ts';

type Period = keyof typeof t.forms.periods;

const periods: Period[] = ['7', '30', '90'];
const figures = ['views', 'submitted', 'confirmed', 'declined', 'expired', 'already'] as const;

/** How many visitors confirm, on which pages they submit, and why submissions were refused. */
export function StatsTab({ formId }: { formId: string }) {
  const [period, setPeriod] = useState<Period>('30');
  const stats = useFormStats(formId, Number(period), REFRESH_MS);
  return (
    <Stack gap="lg">
      <Group>
        <Choice<Period>
          label={t.forms.period}
          value={period}
          onChange={setPeriod}
          data={periods.map((value) => ({ value, label: t.forms.periods[value] }))}
        />
      </Group>
      <Loaded query={stats} lines={8}>
        {(counts) => (
          <>
            <Figures counts={counts} />
            <Refused refused={counts.refused} />
            <Pages pages={counts.byPage} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function Figures({ counts }: { counts: FormStats }) {
  const refused = Object.values(counts.refused).reduce((sum, count) => sum + count, 0);
  const rate = counts.confirmRate;
  const shown: [label: string, value: string, hint?: string][] = [
    [t.forms.confirmRate, rate === null ? '—' : percent(rate), t.forms.rateHint],
    ...figures.map((name): [string, string] => [t.forms[name], number(counts[name])]),
    [t.forms.refused, number(refused)],
  ];
  return (
    <Panel>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="lg">
        {shown.map(([label, value, hint]) => (
          <Box key={label} className="figure">
            <Text size="sm" c="dimmed">
              {label}
            </Text>
            <Text className="big-number">{value}</Text>
            {hint && (
              <Text size="xs" c="dimmed">
                {hint}
              </Text>
            )}
          </Box>
        ))}
      </SimpleGrid>
    </Panel>
  );
}

const reasonName = (reason: string): string => (t.forms.reasons as Record<string, string>)[reason] ?? reason;

function Refused({ refused }: { refused: FormStats['refused'] }) {
  const rows = Object.entries(refused).map(([reason, count]) => ({ reason, count }));
  return (
    <Panel title={t.forms.refusedBy} flush={rows.length > 0}>
      {rows.length === 0 ? (
        <Text c="dimmed">{t.forms.nothingRefused}</Text>
      ) : (
        <DataTable
          portable
          label={t.forms.refusedBy}
          rows={rows}
          rowId={({ reason }) => reason}
          columns={[
            { id: 'reason', header: t.forms.reason, main: true, cell: ({ reason }) => reasonName(reason) },
            { id: 'count', header: t.forms.count, align: 'right', cell: ({ count }) => number(count) },
          ]}
        />
      )}
    </Panel>
  );
}

function Pages({ pages }: { pages: FormStats['byPage'] }) {
  return (
    <Panel title={t.forms.byPage} description={t.forms.byPageText} flush={pages.length > 0}>
      {pages.length === 0 ? (
        <Text c="dimmed">{t.forms.nothingSubmitted}</Text>
      ) : (
        <DataTable
          portable
          label={t.forms.byPage}
          rows={pages}
          rowId={({ pageUrl }) => pageUrl ?? ''}
          columns={[
            {
              id: 'page',
              header: t.forms.page,
              main: true,
              cell: ({ pageUrl }) => <span className="breakable">{pageUrl ?? t.forms.unknownPage}</span>,
            },
            { id: 'submitted', header: t.forms.submitted, align: 'right', cell: (page) => number(page.submitted) },
            { id: 'confirmed', header: t.forms.confirmed, align: 'right', cell: (page) => number(page.confirmed) },
          ]}
        />
      )}
    </Panel>
  );
}
