import { Badge, Box, Grid, Group, Paper, SimpleGrid, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconCheck, IconCircle, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { UpcomingGroup } from '../../api/api-types.ts';
import { unwrap } from '../../api/client.ts';
import { useApi, useProject, useRights } from '../../api/hooks.ts';
import type { Security, SetupState } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Time } from '../../ui/controls.tsx';
import { hasDeliveryReports } from '../../ui/delivery-reports.ts';
import { ButtonLink, type ProjectPath, TextLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel, Placeholder } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { AttentionPanel } from './attention.tsx';

const Chart = lazy(() => import('./chart.tsx').then(({ MailChart }) => ({ default: MailChart })));
const DAY_MS = 86_400_000;

export function HomePage() {
  const project = useProject();
  const { projectId } = useApi();
  const { write } = useRights();
  return (
    <Page
      title={project?.name ?? t.home.title}
      actions={
        write && (
          <ButtonLink to="/p/$projectId/campaigns/new" params={{ projectId }} leftSection={<IconPlus size={16} />}>
            {t.campaigns.new}
          </ButtonLink>
        )
      }
    >
      <SetupPanel />
      <MailPanel />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <AttentionPanel />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <HealthPanel />
        </Grid.Col>
        <Grid.Col span={{ base: 12 }}>
          <UpcomingPanel />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

const setupSteps: { name: string; to: ProjectPath; isDone(state: SetupState): boolean }[] = [
  { name: 'domain', to: '/p/$projectId/domains', isDone: ({ domainVerified }) => domainVerified },
  { name: 'contact', to: '/p/$projectId/contacts', isDone: ({ contactCreated }) => contactCreated },
  { name: 'template', to: '/p/$projectId/templates/new', isDone: ({ templateCreated }) => templateCreated },
  { name: 'email', to: '/p/$projectId/campaigns/new', isDone: ({ emailSent }) => emailSent },
];

/** Shown until everything is done. */
function SetupPanel() {
  const { client, key, projectId } = useApi();
  const setup = useQuery({
    queryKey: key('setup'),
    queryFn: () => unwrap(client.GET('/projects/{id}/setup-state', { params: { path: { id: projectId } } })),
  });
  const { data } = setup;
  if (!data) return null;
  const done = setupSteps.filter((step) => step.isDone(data)).length;
  if (done === setupSteps.length) return null;
  return (
    <Panel
      title={t.home.setup}
      description={t.home.setupText}
      actions={<Text fw={600}>{t.home.setupProgress(done, setupSteps.length)}</Text>}
    >
      <Box mb="md">
        <Progress value={(done / setupSteps.length) * 100} aria-label={t.home.setup} />
      </Box>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} component="ol" className="plain-list">
        {setupSteps.map((step) => {
          const isDone = step.isDone(data);
          const [title, text] = t.home.steps[step.name] ?? ['', ''];
          return (
            <li key={step.name}>
              <Group gap="sm" wrap="nowrap" align="flex-start">
                <ThemeIcon
                  size={24}
                  radius="xl"
                  variant={isDone ? 'filled' : 'light'}
                  color={isDone ? 'teal.8' : 'gray'}
                  role="img"
                  aria-label={isDone ? t.home.stepDone : t.home.stepOpen}
                >
                  {isDone ? <IconCheck size={15} /> : <IconCircle size={13} />}
                </ThemeIcon>
                <Box>
                  {isDone ? (
                    <Text fw={600}>{title}</Text>
                  ) : (
                    <TextLink to={step.to} params={{ projectId }} fw={600}>
                      {title}
                    </TextLink>
                  )}
                  <Text size="sm" c="dimmed">
                    {text}
                  </Text>
                </Box>
              </Group>
            </li>
          );
        })}
      </SimpleGrid>
    </Panel>
  );
}

/** The figures are the sums of the plot, so that both always agree. */
function MailPanel() {
  const { client, key } = useApi();
  const series = useQuery({
    queryKey: key('timeseries'),
    queryFn: () => {
      const startDate = new Date(Date.now() - 29 * DAY_MS).toISOString().slice(0, 10);
      return unwrap(
        client.GET('/analytics/timeseries', {
          params: { query: { startDate: `${startDate}T00:00:00.000Z`, granularity: 'day' } },
        }),
      );
    },
    staleTime: 30_000,
  });
  return (
    <Panel title={t.home.last30}>
      <Loaded query={series} lines={8}>
        {({ data }) => {
          const sum = (name: keyof typeof t.home.figures) => data.reduce((total, point) => total + point[name], 0);
          const sent = sum('sent');
          const isReported = hasDeliveryReports({ sent, delivered: sum('delivered') });
          return (
            <Stack>
              <SimpleGrid cols={{ base: 2, xs: 3, md: 5 }}>
                {(Object.keys(t.home.figures) as (keyof typeof t.home.figures)[]).map((name) => {
                  const isKnown = name !== 'delivered' || isReported;
                  return (
                    <Box key={name}>
                      <Text size="sm" c="dimmed">
                        {t.home.figures[name]}
                      </Text>
                      <Group gap={8} align="baseline">
                        <Text className="big-number" data-figure={name}>
                          {isKnown ? number(sum(name)) : '—'}
                        </Text>
                        {name !== 'sent' && sent > 0 && isKnown && (
                          <Text size="sm" c="dimmed">
                            {percent(sum(name) / sent)}
                          </Text>
                        )}
                      </Group>
                      {!isKnown && (
                        <Text size="xs" c="dimmed">
                          {t.emails.noDeliveryReports}
                        </Text>
                      )}
                    </Box>
                  );
                })}
              </SimpleGrid>
              {sent === 0 ? (
                <Text c="dimmed">{t.home.noMail}</Text>
              ) : (
                <Suspense fallback={<Placeholder lines={8} />}>
                  <Chart data={data} />
                </Suspense>
              )}
            </Stack>
          );
        }}
      </Loaded>
    </Panel>
  );
}

const levelColors: Record<Security['level'], string> = { healthy: 'teal', warning: 'yellow', critical: 'red' };

function HealthPanel() {
  const { client, key, projectId } = useApi();
  const security = useQuery({
    queryKey: key('security'),
    queryFn: () => unwrap(client.GET('/users/@me/projects/{id}/security', { params: { path: { id: projectId } } })),
  });
  return (
    <Panel title={t.home.health} description={t.home.healthText} h="100%">
      <Loaded query={security}>
        {({ last7d }) => (
          <SimpleGrid cols={2}>
            {(
              [
                [t.home.bounceRate, last7d.bounceRate, last7d.bounceLevel],
                [t.home.complaintRate, last7d.complaintRate, last7d.complaintLevel],
              ] as const
            ).map(([label, rate, level]) => (
              <Paper key={label} p="md" className="record">
                <Text size="sm" c="dimmed">
                  {label}
                </Text>
                <Text className="big-number">{percent(rate)}</Text>
                <Badge color={levelColors[level]}>{t.home.levels[level]}</Badge>
              </Paper>
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Panel>
  );
}

/** Scheduled campaigns, and the people who leave a step of a workflow on a day. */
function UpcomingPanel() {
  const { client, key } = useApi();
  const upcoming = useQuery({
    queryKey: key('upcoming-groups'),
    queryFn: () => unwrap(client.GET('/activity/upcoming', { params: { query: { limit: 8, grouped: true } } })),
  });
  return (
    <Panel title={t.home.upcoming}>
      <Loaded query={upcoming}>
        {({ data }) =>
          data.length === 0 ? (
            <Text c="dimmed">{t.home.upcomingEmpty}</Text>
          ) : (
            <ul className="plain-list spaced">
              {(data as UpcomingGroup[]).map((group) => (
                <li key={`${group.id}:${group.stepId}:${group.at}`}>
                  <Group justify="space-between" wrap="nowrap">
                    <UpcomingGroupLink group={group} />
                    <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
                      <Time at={group.at} />
                    </Text>
                  </Group>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function UpcomingGroupLink({ group: { type, id, name, stepId, count } }: { group: UpcomingGroup }) {
  const { projectId } = useApi();
  if (type === 'campaign')
    return (
      <TextLink to="/p/$projectId/campaigns/$id" params={{ projectId, id }} className="breakable">
        {t.results.upcomingCampaign(name, count)}
      </TextLink>
    );
  return (
    <TextLink
      to="/p/$projectId/executions"
      params={{ projectId }}
      search={{ workflowId: id, status: 'WAITING', stepId: stepId ?? undefined }}
      className="breakable"
    >
      {t.results.upcomingPeople(name, count)}
    </TextLink>
  );
}
