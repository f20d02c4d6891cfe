import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { Campaign } from '../../api/types.ts';
import { date, hour } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Loaded, Panel } from '../../ui/page.tsx';
import { Plot } from '../../ui/plot.tsx';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Hours are shown for the first days, days after that. */
const MAX_HOURS = 72;
const MAX_DAYS = 60;

interface Point {
  at: string;
  opened: number;
  clicked: number;
}

export function TimelinePanel({ campaign }: { campaign: Campaign }) {
  const { client, key } = useApi();
  const { id, status } = campaign;
  const read = (granularity: 'hour' | 'day') =>
    unwrap(client.GET('/campaigns/{id}/timeline', { params: { path: { id }, query: { granularity } } }));
  const timeline = useQuery({
    queryKey: key('campaign-timeline', id),
    queryFn: async () => {
      const { data: hours } = await read('hour');
      const span = hours.length > 1 ? Date.parse(hours.at(-1)?.at ?? '') - Date.parse(hours[0]?.at ?? '') : 0;
      if (span <= MAX_HOURS * HOUR_MS) return { step: HOUR_MS, points: filled(hours, HOUR_MS, MAX_HOURS) };
      return { step: DAY_MS, points: filled((await read('day')).data, DAY_MS, MAX_DAYS) };
    },
    refetchInterval: status === 'SENDING' ? 10_000 : 60_000,
  });
  return (
    <Panel title={t.results.timeline} description={t.results.timelineText}>
      <Loaded query={timeline}>
        {({ step, points }) =>
          points.every(({ opened, clicked }) => opened + clicked === 0) ? (
            <Text c="dimmed" size="sm">
              {t.results.timelineEmpty}
            </Text>
          ) : (
            <Plot
              label={t.results.timeline}
              points={points.map(({ at }) => (step === DAY_MS ? date(at) : hour(at)))}
              height={200}
              series={[
                {
                  label: t.results.opened,
                  color: 'var(--plot-2)',
                  values: points.map(({ opened }) => opened),
                },
                {
                  label: t.results.clicked,
                  color: 'var(--plot-3)',
                  values: points.map(({ clicked }) => clicked),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** The API leaves out hours and days in which nothing happened. The plot begins before the first one, at zero. */
function filled(points: Point[], step: number, most: number): Point[] {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return [];
  const known = new Map(points.map((point) => [Date.parse(point.at), point]));
  const start = Math.max(Date.parse(first.at) - step, Date.parse(last.at) - (most - 1) * step);
  const count = (Date.parse(last.at) - start) / step + 1;
  return Array.from({ length: count }, (_, n) => {
    const at = start + n * step;
    return known.get(at) ?? { at: new Date(at).toISOString(), opened: 0, clicked: 0 };
  });
}
