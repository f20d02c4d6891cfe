import { Alert, Badge, Button, Group, Stack, Switch, Tabs, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useApi, useProject, useRights } from '../../api/hooks.ts';
import { messageOf } from '../../api/problem.ts';
import type { Project, Security } from '../../api/types.ts';
import { number, percent } from '../../format.ts';
import { partTexts, t } from '../../texts/index.ts';
import { Choice, Copyable, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Loaded, Page, Panel, Placeholder } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { useReauthentication } from '../security/reauthenticate.tsx';

const PageSettingsTab = lazy(async () => {
  const [{ PageSettingsTab }] = await Promise.all([import('./page-settings.tsx'), partTexts('forms')]);
  return { default: PageSettingsTab };
});

const tabs = ['general', 'pages'] as const;

export function ProjectPage() {
  const project = useProject();
  const search = useSearch({ from: '/signed-in/p/$projectId/project' });
  const navigate = useNavigate({ from: '/p/$projectId/project' });
  const tab = tabs.find((one) => one === search.tab) ?? 'general';
  return (
    <Page title={t.project.title} description={t.project.description}>
      {!project ? (
        <Placeholder lines={6} />
      ) : (
        <Tabs value={tab} onChange={(next) => void navigate({ search: { tab: next ?? undefined }, replace: true })}>
          <Tabs.List mb="lg">
            {tabs.map((one) => (
              <Tabs.Tab key={one} value={one}>
                {t.project[one]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="general">{tab === 'general' && <GeneralTab project={project} />}</Tabs.Panel>
          <Tabs.Panel value="pages">
            {tab === 'pages' && (
              <Suspense fallback={<Placeholder lines={6} />}>
                <PageSettingsTab />
              </Suspense>
            )}
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  );
}

function GeneralTab({ project }: { project: Project }) {
  const { admin } = useRights();
  return (
    <Stack gap="lg">
      {admin ? <GeneralPanel key={project.id} project={project} /> : <GeneralFacts project={project} />}
      <RatesPanel />
      {admin && <DangerPanel project={project} />}
    </Stack>
  );
}

/** Those that the browser knows, and the present one. */
const timezonesWith = (present: string): string[] =>
  [...new Set(['UTC', present, ...Intl.supportedValuesOf('timeZone')])].sort();

const trackings = ['ENABLED', 'MARKETING_ONLY', 'DISABLED'] as const;

function GeneralPanel({ project }: { project: Project }) {
  const form = useForm({
    initialValues: {
      name: project.name,
      language: project.language,
      timezone: project.timezone,
      tracking: project.tracking,
      topicRequired: project.topicRequired,
    },
  });
  const save = useAction({
    run: (body: typeof form.values) =>
      unwrap(accountApi.PATCH('/users/@me/projects/{id}', { params: { path: { id: project.id } }, body })),
    done: () => t.project.saved,
    changes: [['projects']],
    quiet: true,
    onDone: () => form.resetDirty(),
  });
  return (
    <Panel title={t.project.general}>
      <form onSubmit={form.onSubmit((values) => save.mutate({ ...values, name: values.name.trim() }))}>
        <Stack maw={520}>
          {save.error && <Alert color="red">{messageOf(save.error)}</Alert>}
          <TextInput label={t.project.name} required maxLength={255} {...form.getInputProps('name')} />
          <TextInput
            label={t.project.language}
            description={t.project.languageHint}
            required
            {...form.getInputProps('language')}
          />
          <div>
            <Choice
              label={t.project.timezone}
              visibleLabel
              value={form.values.timezone}
              onChange={(timezone) => form.setFieldValue('timezone', timezone)}
              data={timezonesWith(project.timezone).map((value) => ({ value, label: value.replaceAll('_', ' ') }))}
            />
            <Text size="xs" c="dimmed" mt={4}>
              {t.project.timezoneHint}
            </Text>
          </div>
          <div>
            <Choice
              label={t.project.tracking}
              visibleLabel
              value={form.values.tracking}
              onChange={(tracking) => form.setFieldValue('tracking', tracking)}
              data={trackings.map((value) => ({ value, label: t.project.trackings[value] }))}
            />
            <Text size="xs" c="dimmed" mt={4}>
              {t.project.trackingHint}
            </Text>
          </div>
          <Switch
            label={t.project.topicRequired}
            description={t.project.topicRequiredHint}
            {...form.getInputProps('topicRequired', { type: 'checkbox' })}
          />
          <div>
            <Text size="sm" fw={500}>
              {t.project.id}
            </Text>
            <Copyable value={project.id} label={t.project.id} />
          </div>
          <Group>
            <Button type="submit" loading={save.isPending} disabled={!form.isDirty()}>
              {t.common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

function GeneralFacts({ project }: { project: Project }) {
  return (
    <Panel title={t.project.general} description={t.project.onlyAdmins}>
      <dl className="facts">
        <dt>{t.project.name}</dt>
        <dd>{project.name}</dd>
        <dt>{t.project.language}</dt>
        <dd>{project.language}</dd>
        <dt>{t.project.timezone}</dt>
        <dd>{project.timezone}</dd>
        <dt>{t.project.tracking}</dt>
        <dd>{t.project.trackings[project.tracking]}</dd>
        <dt>{t.project.topicRequired}</dt>
        <dd>{project.topicRequired ? t.common.yes : t.common.no}</dd>
        <dt>{t.project.id}</dt>
        <dd>
          <Copyable value={project.id} label={t.project.id} />
        </dd>
      </dl>
    </Panel>
  );
}

const levelColors = { healthy: 'teal', warning: 'yellow', critical: 'red' };
type Level = keyof typeof levelColors;

export const LevelBadge = ({ level }: { level: Level }) => (
  <Badge color={levelColors[level]}>{t.project.levels[level]}</Badge>
);

const periods = ['last24h', 'last7d', 'allTime'] as const;
interface Thresholds {
  bounceRate: Record<'warning' | 'critical', number>;
  complaintRate: Record<'warning' | 'critical', number>;
}

function RatesPanel() {
  const { client, key, projectId } = useApi();
  const security = useQuery({
    queryKey: key('security'),
    queryFn: () => unwrap(client.GET('/projects/{id}/security', { params: { path: { id: projectId } } })),
  });
  return (
    <Panel
      flush
      title={t.project.rates}
      description={security.data && t.project.ratesText(security.data.minimumMails)}
      actions={security.data && <LevelBadge level={security.data.level} />}
    >
      <Loaded query={security}>
        {(data) => (
          <>
            <RatesTable security={data} />
            {data.suspensions.length > 0 && (
              <Stack gap={4} p="lg">
                <Text fw={600}>{t.project.suspensions}</Text>
                {data.suspensions.map(({ reason, automatic, disabledAt, enabledAt }) => (
                  <Text key={disabledAt} size="sm" className="breakable">
                    <Time at={disabledAt} exact /> {t.project.until}{' '}
                    {enabledAt ? <Time at={enabledAt} exact /> : t.project.stillOn},{' '}
                    {automatic ? t.project.automatic : t.project.byOperator}: {reason}
                  </Text>
                ))}
              </Stack>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

type Period = (typeof periods)[number];

function RatesTable({ security }: { security: Security }) {
  const { bounceRate, complaintRate } = security.thresholds as unknown as Thresholds;
  const limits = ({ warning, critical }: Record<'warning' | 'critical', number>) =>
    t.project.limits(percent(warning), percent(critical));
  return (
    <DataTable<{ period: Period }>
      label={t.project.rates}
      rows={periods.map((period) => ({ period }))}
      rowId={({ period }) => period}
      columns={[
        { id: 'period', header: t.project.period, main: true, cell: ({ period }) => t.project.periods[period] },
        {
          id: 'sent',
          header: t.project.sent,
          align: 'right',
          cell: ({ period }) => number(security[period].sent),
        },
        {
          id: 'bounced',
          header: t.project.bounced,
          cell: ({ period }) => (
            <Rate
              rate={security[period].bounceRate}
              level={security[period].bounceLevel}
              title={limits(bounceRate)}
              count={security[period].bounced}
            />
          ),
        },
        {
          id: 'complained',
          header: t.project.complained,
          cell: ({ period }) => (
            <Rate
              rate={security[period].complaintRate}
              level={security[period].complaintLevel}
              title={limits(complaintRate)}
              count={security[period].complained}
            />
          ),
        },
      ]}
    />
  );
}

interface RateProps {
  rate: number;
  level: Level;
  /** The limits, on hover. */
  title: string;
  count: number;
}

const Rate = ({ rate, level, title, count }: RateProps) => (
  <Group gap="xs" title={title}>
    <span>
      {percent(rate)} ({number(count)})
    </span>
    <LevelBadge level={level} />
  </Group>
);

function DangerPanel({ project }: { project: Project }) {
  const { key } = useApi();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { confirmed, dialog } = useReauthentication();
  const params = { params: { path: { id: project.id } } };
  const reset = useAction({
    run: () => confirmed(() => unwrap(accountApi.POST('/users/@me/projects/{id}/reset', params))),
    done: () => t.project.resetDone,
    changes: [key()],
    quiet: true,
  });
  const remove = useAction({
    run: () => confirmed(() => unwrap(accountApi.DELETE('/users/@me/projects/{id}', params))),
    done: () => t.project.deleted(project.name),
    quiet: true,
    onDone: () => {
      localStorage.removeItem('everpost.project');
      cache.removeQueries({ queryKey: ['projects'] });
      void navigate({ to: '/' });
    },
  });
  return (
    <Panel title={t.project.danger} description={t.project.dangerText}>
      <Group>
        <NamedConfirm
          name={project.name}
          label={t.project.reset}
          title={t.project.resetTitle(project.name)}
          text={t.project.resetText}
          onConfirm={() => reset.mutateAsync()}
        />
        {project.role === 'OWNER' && (
          <NamedConfirm
            name={project.name}
            label={t.project.delete}
            title={t.project.deleteTitle(project.name)}
            text={t.project.deleteText}
            onConfirm={() => remove.mutateAsync()}
          />
        )}
      </Group>
      {dialog}
    </Panel>
  );
}

interface NamedConfirmProps {
  name: string;
  label: string;
  title: string;
  text: string;
  onConfirm(): Promise<unknown>;
}

/** Asks for the project's name before an act that cannot be undone. */
function NamedConfirm({ name, label, title, text, onConfirm }: NamedConfirmProps) {
  const [typed, setTyped] = useState('');
  const run = async () => {
    if (typed.trim() !== name) throw new Error(t.project.typeName(name));
    await onConfirm();
    setTyped('');
  };
  return (
    <ConfirmButton danger variant="light" label={label} title={title} confirm={label} onConfirm={run}>
      <Stack>
        <span>{text}</span>
        <TextInput
          label={t.project.typeName(name)}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
      </Stack>
    </ConfirmButton>
  );
}
