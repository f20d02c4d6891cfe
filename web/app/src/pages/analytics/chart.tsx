import { Box, Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPhotoDown, IconTableExport } from '@tabler/icons-react';
import { useRef } from 'react';
import { day, number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { haveDeliveryReports } from '../../ui/delivery-reports.ts';
import { showDone, showProblem } from '../../ui/notify.ts';
import { Plot } from '../../ui/plot.tsx';
import { DataTable } from '../../ui/table.tsx';
import { saveCsv, savePicture } from './export.ts';
import type { Period } from './period.ts';

export interface MailPoint {
  date: string;
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  peopleOpened: number;
  humanClicked: number;
  bounced: number;
  complained: number;
}

const lines = [
  ['sent', 'var(--plot-1)'],
  ['peopleOpened', 'var(--plot-2)'],
  ['humanClicked', 'var(--plot-3)'],
] as const;
const columns = [
  'sent',
  'delivered',
  'peopleOpened',
  'humanClicked',
  'opened',
  'clicked',
  'bounced',
  'complained',
] as const;

interface MailChartProps {
  data: MailPoint[];
  /** The period before, to compare with. */
  before: MailPoint[] | undefined;
  period: Period;
}

/** The days as a plot, as a table, as CSV and as a picture. */
export function MailChart({ data, before, period }: MailChartProps) {
  const [opened, { toggle }] = useDisclosure();
  const box = useRef<HTMLDivElement>(null);
  const labels = t.analytics.figures;
  const isReported = haveDeliveryReports(data);
  const isKnown = (column: (typeof columns)[number]) => column !== 'delivered' || isReported;
  const series = [
    ...lines.map(([name, color]) => ({ label: labels[name], color, values: data.map((point) => point[name]) })),
    ...(before
      ? [
          {
            label: t.analytics.chartBefore(labels.peopleOpened),
            color: 'var(--mantine-color-dimmed)',
            values: data.map((_, index) => before[index]?.peopleOpened ?? 0),
          },
        ]
      : []),
  ];
  const name = `everpost-${period.startDate}-${period.endDate}`;
  const exportCsv = () => {
    const head = [t.analytics.dayColumn, ...columns.map((column) => labels[column])];
    saveCsv(`${name}.csv`, [
      head,
      ...data.map((point) => [point.date, ...columns.map((column) => (isKnown(column) ? point[column] : ''))]),
    ]);
    showDone(t.analytics.exported(`${name}.csv`));
  };
  const exportPicture = async () => {
    const plot = box.current?.querySelector('svg.plot');
    try {
      if (plot instanceof SVGSVGElement) await savePicture(`${name}.png`, plot, series);
      showDone(t.analytics.exported(`${name}.png`));
    } catch (error) {
      showProblem(error);
    }
  };
  return (
    <Box ref={box}>
      <Plot label={t.analytics.chart} points={data.map(({ date }) => day(date))} series={series} />
      <Group gap="xs" mt="xs">
        <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={opened}>
          {opened ? t.home.hideTable : t.home.table}
        </Button>
        <Button variant="subtle" size="xs" leftSection={<IconTableExport size={14} />} onClick={exportCsv}>
          {t.analytics.csv}
        </Button>
        <Button
          variant="subtle"
          size="xs"
          leftSection={<IconPhotoDown size={14} />}
          onClick={() => void exportPicture()}
        >
          {t.analytics.picture}
        </Button>
      </Group>
      {opened && (
        <DataTable
          label={t.analytics.chart}
          rows={[...data].reverse()}
          rowId={({ date }) => date}
          columns={[
            { id: 'date', header: t.analytics.dayColumn, main: true, cell: ({ date }) => day(date) },
            ...columns.map((column) => ({
              id: column,
              header: labels[column],
              align: 'right' as const,
              cell: (point: MailPoint) => (isKnown(column) ? number(point[column]) : '—'),
            })),
          ]}
        />
      )}
    </Box>
  );
}
