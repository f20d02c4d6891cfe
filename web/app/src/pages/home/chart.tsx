import { Box, Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { day, number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { haveDeliveryReports } from '../../ui/delivery-reports.ts';
import { Plot } from '../../ui/plot.tsx';
import { DataTable } from '../../ui/table.tsx';

interface Point {
  date: string;
  sent: number;
  delivered: number;
  peopleOpened: number;
  humanClicked: number;
  bounced: number;
}

const series = [
  ['sent', 'var(--plot-1)'],
  ['peopleOpened', 'var(--plot-2)'],
  ['humanClicked', 'var(--plot-3)'],
] as const;

/** The days as a plot, and as a table for those who cannot see it. */
export function MailChart({ data }: { data: Point[] }) {
  const [opened, { toggle }] = useDisclosure();
  const isReported = haveDeliveryReports(data);
  return (
    <Box>
      <Plot
        label={t.home.chart}
        points={data.map(({ date }) => day(date))}
        series={series.map(([name, color]) => ({
          label: t.home.figures[name],
          color,
          values: data.map((point) => point[name]),
        }))}
      />
      <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={opened}>
        {opened ? t.home.hideTable : t.home.table}
      </Button>
      {opened && (
        <DataTable
          label={t.home.chart}
          rows={[...data].reverse()}
          rowId={({ date }) => date}
          columns={[
            { id: 'date', header: t.home.dayColumn, main: true, cell: ({ date }) => day(date) },
            ...(['sent', 'delivered', 'peopleOpened', 'humanClicked', 'bounced'] as const).map((name) => ({
              id: name,
              header: t.home.figures[name],
              align: 'right' as const,
              cell: (point: Point) => (name === 'delivered' && !isReported ? '—' : number(point[name])),
            })),
          ]}
        />
      )}
    </Box>
  );
}
