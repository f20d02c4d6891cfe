import { Box, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { hasDeliveryReports } from '../../ui/delivery-reports.ts';
import { Loaded, Panel, Placeholder } from '../../ui/page.tsx';
import type { MailPoint } from './chart.tsx';
import { type Period, periodBefore } from './period.ts';

const Chart = lazy(() => import('./chart.tsx').then(({ MailChart }) => ({ default: MailChart })));

/** People first; the figures with machines stand below in small. */
const figures = ['sent', 'delivered', 'peopleOpened', 'humanClicked', 'bounced', 'complained'] as const;
const withMachines: Partial<Record<(typeof figures)[number], 'opened' | 'clicked'>> = {
  peopleOpened: 'opened',
  humanClicked: 'clicked',
};

const sumOf = (data: MailPoint[], name: Exclude<keyof MailPoint, 'date'>): number =>
  data.reduce((total, point) => total + point[name], 0);

function useTimeseries(period: Period, enabled = true) {
  const { client, key } = useApi();
  return useQuery({
    queryKey: key('timeseries', period),
    queryFn: () =>
      unwrap(client.GET('/analytics/timeseries', { params: { query: { ...period, granularity: 'day' } } })),
    staleTime: 30_000,
    enabled,
  });
}

export function OverviewPanel({ period, compare }: { period: Period; compare: boolean }) {
  const series = useTimeseries(period);
  const before = useTimeseries(periodBefore(period), compare);
  const earlier = compare ? before.data?.data : undefined;
  return (
    <Panel title={t.analytics.overview}>
      <Loaded query={series} lines={8}>
        {({ data }) => {
          const sent = sumOf(data, 'sent');
          const isReported = hasDeliveryReports({ sent, delivered: sumOf(data, 'delivered') });
          return (
            <Stack>
              <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }}>
                {figures.map((name) => {
                  const value = sumOf(data, name);
                  const all = withMachines[name];
                  const isKnown = name !== 'delivered' || isReported;
                  return (
                    <Box key={name}>
                      <Text size="sm" c="dimmed">
                        {t.analytics.figures[name]}
                      </Text>
                      <Group gap={8} align="baseline">
                        <Text className="big-number" data-figure={name}>
                          {isKnown ? number(value) : '—'}
                        </Text>
                        {name !== 'sent' && sent > 0 && isKnown && (
                          <Text size="sm" c="dimmed">
                            {/* Mail of before may be delivered or opened in the period. */}
                            {percent(Math.min(value / sent, 1))}
                          </Text>
                        )}
                      </Group>
                      {!isKnown && (
                        <Text size="xs" c="dimmed">
                          {t.emails.noDeliveryReports}
                        </Text>
                      )}
                      {all && (
                        <Text size="xs" c="dimmed" data-figure={all}>
                          {t.analytics[all === 'opened' ? 'loadedImages' : 'withMachines'](number(sumOf(data, all)))}
                        </Text>
                      )}
                      {earlier && isKnown && <Change value={value} before={sumOf(earlier, name)} name={name} />}
                    </Box>
                  );
                })}
              </SimpleGrid>
              {data.every(isEmpty) ? (
                <Text c="dimmed">{t.analytics.noMail}</Text>
              ) : (
                <Suspense fallback={<Placeholder lines={8} />}>
                  <Chart data={data} before={earlier} period={period} />
                </Suspense>
              )}
            </Stack>
          );
        }}
      </Loaded>
    </Panel>
  );
}

const isEmpty = ({ date: _, ...counts }: MailPoint): boolean => Object.values(counts).every((count) => count === 0);

function Change({ value, before, name }: { value: number; before: number; name: string }) {
  const { more, less, same } = t.analytics.change;
  const share = before === 0 ? '' : `${percent(Math.abs(value - before) / before)} `;
  return (
    <Text size="xs" data-before={name}>
      {t.analytics.before(number(before))}
      <Text span size="xs" c="dimmed" display="block">
        {value === before ? same : `${share}${value > before ? more : less}`}
      </Text>
    </Text>
  );
}
