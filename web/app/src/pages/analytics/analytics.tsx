import { Alert, Group, Switch } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { DateField } from '../../ui/date-field.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { AnalyticsLists } from './lists.tsx';
import { OverviewPanel } from './overview.tsx';
import { isReversed, periodOf } from './period.ts';
import { type AnalyticsSearch, analyticsDays } from './search.ts';

type PeriodChoice = '7' | '30' | '90' | 'custom';

export function AnalyticsPage() {
  const search = useSearch({ from: '/signed-in/p/$projectId/analytics' });
  const navigate = useNavigate({ from: '/p/$projectId/analytics' });
  const change = (next: AnalyticsSearch) => void navigate({ search: { ...search, ...next }, replace: true });
  const { days = 30, from, to, compare = false, metric = 'peopleOpens' } = search;
  const period = periodOf(search);
  const reversed = isReversed(search);
  const isCustom = from !== undefined || to !== undefined;
  const choices = [...analyticsDays.map((count) => String(count) as '7' | '30' | '90'), 'custom' as const];
  const choose = (value: PeriodChoice) => {
    if (value === 'custom') return change({ days: undefined, from: period.startDate, to: period.endDate });
    change({ days: analyticsDays.find((count) => String(count) === value), from: undefined, to: undefined });
  };
  return (
    <Page title={t.analytics.title} description={t.analytics.description}>
      <Panel>
        <Group gap="md" align="flex-end">
          <Choice<PeriodChoice>
            label={t.analytics.period}
            visibleLabel
            value={isCustom ? 'custom' : (String(days) as PeriodChoice)}
            onChange={choose}
            data={choices.map((value) => ({ value, label: t.analytics.periods[value] }))}
          />
          {isCustom && (
            <>
              <DateField
                label={t.analytics.from}
                value={reversed ? from : period.startDate}
                max={period.endDate}
                error={reversed}
                onChange={(day) => change({ from: day || undefined })}
              />
              <DateField
                label={t.analytics.to}
                value={period.endDate}
                min={period.startDate}
                error={reversed}
                onChange={(day) => change({ to: day || undefined })}
              />
            </>
          )}
          <Switch
            mb={8}
            label={t.analytics.compare}
            checked={compare}
            onChange={(event) => change({ compare: event.currentTarget.checked || undefined })}
          />
        </Group>
      </Panel>
      {reversed ? (
        <Alert color="yellow">{t.analytics.reversed}</Alert>
      ) : (
        <>
          <OverviewPanel period={period} compare={compare} />
          <AnalyticsLists period={period} metric={metric} onMetric={(next) => change({ metric: next })} />
        </>
      )}
    </Page>
  );
}
