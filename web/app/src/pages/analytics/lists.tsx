import { Button, Grid, Text } from '@mantine/core';
import { IconTableExport } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { unwrap } from '../../api/client.ts';
import { useApi } from '../../api/hooks.ts';
import type { DomainFigures, TemplateFigures } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Choice } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { showDone } from '../../ui/notify.ts';
import { Loaded, Panel } from '../../ui/page.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { saveCsv } from './export.ts';
import type { Period } from './period.ts';

const ROWS = 10;
const DOMAINS = 20;

interface Field<Row> {
  id: string;
  header: string;
  /** As text or number, for the file. */
  value(row: Row): string | number;
  /** As the page shows it, where that differs. */
  cell?(row: Row): ReactNode;
}

interface ListPanelProps<Row> {
  title: string;
  description?: string;
  actions?: ReactNode;
  period: Period;
  name: string;
  /** Of the list and of what it is ordered by. */
  parts?: unknown[];
  load(): Promise<Row[]>;
  rowId(row: Row): string;
  /** The first one names the row. */
  fields: Field<Row>[];
}

/** A table over the period, with its file. */
function ListPanel<Row extends object>(props: ListPanelProps<Row>) {
  const { title, description, actions, period, name, parts = [], load, rowId, fields } = props;
  const { key } = useApi();
  const list = useQuery({ queryKey: key('analytics', name, period, ...parts), queryFn: load, staleTime: 30_000 });
  const columns: Column<Row>[] = fields.map(({ id, header, value, cell }, index) => ({
    id,
    header,
    ...(index === 0 ? { main: true } : { align: 'right' as const }),
    cell: cell ?? ((row) => (typeof value(row) === 'number' ? number(Number(value(row))) : value(row))),
  }));
  const exportCsv = () => {
    const file = `everpost-${name}-${period.startDate}-${period.endDate}.csv`;
    const rows = (list.data ?? []).map((row) => fields.map(({ value }) => value(row)));
    saveCsv(file, [fields.map(({ header }) => header), ...rows]);
    showDone(t.analytics.exported(file));
  };
  return (
    <Panel
      flush
      h="100%"
      title={title}
      description={description}
      actions={
        <>
          {actions}
          {list.data && list.data.length > 0 && (
            <Button
              variant="subtle"
              size="xs"
              leftSection={<IconTableExport size={14} />}
              aria-label={t.analytics.csvOf(title)}
              onClick={exportCsv}
            >
              CSV
            </Button>
          )}
        </>
      }
    >
      <Loaded query={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Text c="dimmed" p="lg">
              {t.analytics.empty}
            </Text>
          ) : (
            <DataTable label={title} rows={rows} rowId={rowId} columns={columns} />
          )
        }
      </Loaded>
    </Panel>
  );
}

const labels = t.analytics.figures;

export type CampaignMetric = keyof typeof t.analytics.metrics;

interface ListsProps {
  period: Period;
  metric: CampaignMetric;
  onMetric(metric: CampaignMetric): void;
}

interface HumanCounts {
  sent: number;
  peopleOpened: number;
  humanClicked: number;
  bounced: number;
}

const countFields: Field<HumanCounts>[] = (['sent', 'peopleOpened', 'humanClicked', 'bounced'] as const).map((id) => ({
  id,
  header: labels[id],
  value: (row) => row[id],
}));

export function AnalyticsLists({ period, metric, onMetric }: ListsProps) {
  const { client, projectId } = useApi();
  const query = { ...period, limit: ROWS };
  return (
    <Grid gap="lg">
      <Grid.Col span={12}>
        <ListPanel
          title={t.analytics.topCampaigns}
          description={t.analytics.topCampaignsText}
          actions={
            <Choice
              label={t.analytics.metric}
              value={metric}
              onChange={onMetric}
              data={(Object.keys(t.analytics.metrics) as CampaignMetric[]).map((value) => ({
                value,
                label: t.analytics.metrics[value],
              }))}
            />
          }
          period={period}
          name="campaigns"
          parts={[metric]}
          load={() => unwrap(client.GET('/analytics/top-campaigns', { params: { query: { ...query, metric } } }))}
          rowId={({ id }) => id}
          fields={[
            {
              id: 'name',
              header: t.analytics.campaign,
              value: ({ name }) => name,
              cell: ({ id, name }) => (
                <TextLink to="/p/$projectId/campaigns/$id" params={{ projectId, id }} inherit>
                  {name}
                </TextLink>
              ),
            },
            { id: 'sent', header: labels.sent, value: ({ sentCount }) => sentCount },
            { id: 'peopleOpened', header: labels.peopleOpened, value: ({ peopleOpenedCount }) => peopleOpenedCount },
            { id: 'humanClicked', header: labels.humanClicked, value: ({ humanClickedCount }) => humanClickedCount },
            { id: 'opened', header: labels.opened, value: ({ openedCount }) => openedCount },
            { id: 'bounced', header: labels.bounced, value: ({ bouncedCount }) => bouncedCount },
          ]}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <ListPanel
          title={t.analytics.topEvents}
          period={period}
          name="events"
          load={() => unwrap(client.GET('/analytics/top-events', { params: { query } }))}
          rowId={({ name }) => name}
          fields={[
            {
              id: 'name',
              header: t.analytics.event,
              value: ({ name }) => name,
              cell: ({ name }) => (
                <TextLink to="/p/$projectId/events/$name" params={{ projectId, name }} inherit>
                  {name}
                </TextLink>
              ),
            },
            { id: 'count', header: t.analytics.count, value: ({ count }) => count },
            {
              id: 'trend',
              header: t.analytics.trend,
              value: ({ trend }) => trend,
              cell: ({ trend }) => `${trend > 0 ? '+' : ''}${percent(trend)}`,
            },
          ]}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <ListPanel
          title={t.analytics.topLinks}
          period={period}
          name="links"
          load={() => unwrap(client.GET('/analytics/top-links', { params: { query } }))}
          rowId={({ link }) => link}
          fields={[
            { id: 'link', header: t.analytics.link, value: ({ link }) => link },
            { id: 'humanClicks', header: t.analytics.humanClicks, value: ({ humanClicks }) => humanClicks },
            { id: 'clicks', header: t.analytics.clicks, value: ({ clicks }) => clicks },
          ]}
        />
      </Grid.Col>
      <Grid.Col span={12}>
        <ListPanel<TemplateFigures>
          title={t.analytics.byTemplate}
          period={period}
          name="templates"
          load={() => unwrap(client.GET('/analytics/by-template', { params: { query } }))}
          rowId={({ templateId }) => templateId}
          fields={[
            {
              id: 'template',
              header: t.analytics.template,
              value: ({ name }) => name ?? t.analytics.deletedTemplate,
              cell: ({ templateId, name }) =>
                name === null ? (
                  t.analytics.deletedTemplate
                ) : (
                  <TextLink to="/p/$projectId/templates/$id" params={{ projectId, id: templateId }} inherit>
                    {name}
                  </TextLink>
                ),
            },
            ...countFields,
          ]}
        />
      </Grid.Col>
      <Grid.Col span={12}>
        <ListPanel<DomainFigures>
          title={t.analytics.byDomain}
          period={period}
          name="domains"
          load={() => unwrap(client.GET('/analytics/by-domain', { params: { query: { ...period, limit: DOMAINS } } }))}
          rowId={({ domain }) => domain}
          fields={[{ id: 'domain', header: t.analytics.domain, value: ({ domain }) => domain }, ...countFields]}
        />
      </Grid.Col>
    </Grid>
  );
}
