import { Anchor, Badge, Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { accountApi, unwrap } from '../../api/client.ts';
import { useAction, useMe } from '../../api/hooks.ts';
import type { Overview } from '../../api/types.ts';
import { duration, number } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { Copyable, Time } from '../../ui/controls.tsx';
import { TextLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { DataTable } from '../../ui/table.tsx';
import { ProjectsPanel } from './projects.tsx';

type Stuck = Overview['stuckWorkflows']['workflows'][number];
type Parked = Overview['parkedOutbox']['messages'][number];

/** The state of the installation, for its operators. */
export function OperatorPage() {
  const { data: me } = useMe();
  return (
    <Page title={t.operator.title} description={t.operator.description}>
      {me?.operator ? <Console /> : me && <HowToBecomeOne email={me.email} />}
    </Page>
  );
}

const HowToBecomeOne = ({ email }: { email: string }) => {
  const command = `npx everpost user make-operator ${email}`;
  return (
    <Panel title={t.operator.onlyOperators}>
      <Text mb="xs">{t.operator.becomeOperator}</Text>
      <Copyable value={command} label={t.operator.title} />
    </Panel>
  );
};

function Console() {
  const overview = useQuery({
    queryKey: ['operator', 'overview'],
    queryFn: () => unwrap(accountApi.GET('/operator/overview')),
    refetchInterval: 10_000,
  });
  return (
    <>
      <Loaded query={overview} lines={10}>
        {(data) => (
          <Stack gap="lg">
            <FiguresPanel overview={data} />
            <QueuesPanel overview={data} />
            <ParkedPanel overview={data} />
            <StuckPanel overview={data} />
            <EndpointsPanel overview={data} />
            <ProcessesPanel overview={data} />
          </Stack>
        )}
      </Loaded>
      <ProjectsPanel />
    </>
  );
}

const temporalColors = { ok: 'teal', degraded: 'yellow', down: 'red' };

function FiguresPanel({ overview: { oldestDueMail, unknownOutcomes, temporal } }: { overview: Overview }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <Panel title={t.operator.oldestMail}>
        <Text size="lg" fw={600}>
          {oldestDueMail ? duration(oldestDueMail.ageSeconds) : t.operator.noMailDue}
        </Text>
      </Panel>
      <Panel title={t.operator.unknown}>
        <Text size="lg" fw={600}>
          {number(unknownOutcomes)}
        </Text>
      </Panel>
      <Panel title={t.operator.temporal}>
        <Group>
          <Badge color={temporalColors[temporal.status]}>{t.operator.temporalStatuses[temporal.status]}</Badge>
          {temporal.uiUrl && (
            <Anchor href={`${temporal.uiUrl}/workflows`} target="_blank" rel="noreferrer">
              {t.operator.temporalUi} <IconExternalLink size={14} aria-hidden />
            </Anchor>
          )}
        </Group>
      </Panel>
    </SimpleGrid>
  );
}

function QueuesPanel({ overview: { queues } }: { overview: Overview }) {
  return (
    <Panel flush title={t.operator.queues}>
      <DataTable<Overview['queues'][number]>
        label={t.operator.queues}
        rows={queues}
        rowId={({ name }) => name}
        columns={[
          { id: 'name', header: t.operator.queue, main: true, cell: ({ name }) => name },
          { id: 'depth', header: t.operator.depth, align: 'right', cell: ({ depth }) => number(depth) },
          {
            id: 'oldest',
            header: t.operator.oldest,
            align: 'right',
            cell: ({ depth, oldestSeconds }) => (depth === 0 ? '—' : duration(oldestSeconds)),
          },
        ]}
      />
    </Panel>
  );
}

function ParkedPanel({ overview: { parkedOutbox, temporal } }: { overview: Overview }) {
  const { count, messages } = parkedOutbox;
  if (count === 0)
    return (
      <Panel title={t.operator.parked}>
        <Text c="dimmed">{t.operator.parkedEmpty}</Text>
      </Panel>
    );
  return (
    <Panel
      flush
      title={t.operator.parked}
      description={count > messages.length ? t.operator.parkedMore(messages.length, count) : undefined}
    >
      <DataTable<Parked>
        label={t.operator.parked}
        rows={messages}
        rowId={({ id }) => id}
        columns={[
          {
            id: 'message',
            header: t.operator.message,
            main: true,
            cell: ({ id, queue, action, workflowId }) => (
              <div>
                {id} · {queue} · {action}
                <Text size="sm" c="dimmed" fw={400} className="breakable">
                  <WorkflowLink workflowId={workflowId} uiUrl={temporal.uiUrl} />
                </Text>
              </div>
            ),
          },
          { id: 'attempts', header: t.operator.attempts, align: 'right', cell: ({ attempts }) => number(attempts) },
          {
            id: 'error',
            header: t.operator.lastError,
            cell: ({ lastError }) => <span className="breakable">{lastError ?? '—'}</span>,
          },
          { id: 'since', header: t.operator.since, cell: ({ parkedAt }) => <Time at={parkedAt} /> },
          { id: 'retry', header: t.common.actions, cell: (message) => <RetryButton message={message} /> },
        ]}
      />
    </Panel>
  );
}

function RetryButton({ message: { id } }: { message: Parked }) {
  const retry = useAction({
    run: () => unwrap(accountApi.POST('/operator/outbox/{id}/retry', { params: { path: { id } } })),
    done: () => t.operator.retried(id),
    changes: [['operator', 'overview']],
  });
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => retry.mutate()}
      loading={retry.isPending}
      aria-label={t.operator.retryOf(id)}
    >
      {t.operator.retry}
    </Button>
  );
}

function StuckPanel({ overview: { stuckWorkflows, temporal } }: { overview: Overview }) {
  const { count, workflows } = stuckWorkflows;
  if (count === 0)
    return (
      <Panel title={t.operator.stuck}>
        <Text c="dimmed">{t.operator.stuckEmpty}</Text>
      </Panel>
    );
  return (
    <Panel
      flush
      title={t.operator.stuck}
      description={
        <>
          {t.operator.stuckHelp} <Code>npx everpost workflows heal</Code>
          {count > workflows.length && ` ${t.operator.parkedMore(workflows.length, count)}`}
        </>
      }
    >
      <DataTable<Stuck>
        label={t.operator.stuck}
        rows={workflows}
        rowId={({ runId }) => runId}
        columns={[
          {
            id: 'workflow',
            header: t.operator.stuckWorkflow,
            main: true,
            cell: ({ workflowId }) => <WorkflowLink workflowId={workflowId} uiUrl={temporal.uiUrl} />,
          },
          { id: 'attempts', header: t.operator.attempts, align: 'right', cell: ({ attempts }) => number(attempts) },
          {
            id: 'failure',
            header: t.operator.lastError,
            cell: ({ failure }) => <span className="breakable">{failure.slice(0, 200)}</span>,
          },
          { id: 'since', header: t.operator.since, cell: ({ since }) => <Time at={since} /> },
        ]}
      />
    </Panel>
  );
}

function WorkflowLink({ workflowId, uiUrl }: { workflowId: string; uiUrl: string | null }) {
  if (!uiUrl) return <span className="breakable">{workflowId}</span>;
  return (
    <Anchor
      className="breakable"
      href={`${uiUrl}/workflows/${encodeURIComponent(workflowId)}`}
      target="_blank"
      rel="noreferrer"
      title={t.operator.inTemporal}
    >
      {workflowId}
    </Anchor>
  );
}

function EndpointsPanel({ overview: { failingEndpoints } }: { overview: Overview }) {
  return (
    <Panel flush={failingEndpoints.length > 0} title={t.operator.failingEndpoints}>
      {failingEndpoints.length === 0 ? (
        <Text c="dimmed">{t.operator.failingEmpty}</Text>
      ) : (
        <DataTable<Overview['failingEndpoints'][number]>
          label={t.operator.failingEndpoints}
          rows={failingEndpoints}
          rowId={({ id }) => id}
          columns={[
            {
              id: 'url',
              header: t.operator.endpoint,
              main: true,
              cell: ({ url }) => <span className="breakable">{url}</span>,
            },
            {
              id: 'project',
              header: t.operator.project,
              cell: ({ projectId }) => (
                <TextLink to="." search={{ search: projectId }} inherit className="breakable">
                  {projectId}
                </TextLink>
              ),
            },
            {
              id: 'state',
              header: t.operator.state,
              cell: ({ enabled }) => (
                <Badge color={enabled ? 'yellow' : 'gray'} miw="max-content">
                  {enabled ? t.operator.enabled : t.operator.disabled}
                </Badge>
              ),
            },
            { id: 'since', header: t.operator.since, cell: ({ failingSince }) => <Time at={failingSince} /> },
          ]}
        />
      )}
    </Panel>
  );
}

function ProcessesPanel({ overview: { processes, versions } }: { overview: Overview }) {
  return (
    <Panel
      flush
      title={t.operator.processes}
      description={
        <Group gap="xs">
          {versions.map(({ kind, version, processes: count }) => (
            <Badge key={`${kind} ${version}`} color="gray" tt="none">
              {t.operator.kinds[kind]} {version} × {number(count)}
            </Badge>
          ))}
        </Group>
      }
    >
      <DataTable<Overview['processes'][number]>
        label={t.operator.processes}
        rows={processes}
        rowId={({ kind, host, pid, startedAt }) => `${kind}/${host}/${pid}/${startedAt}`}
        columns={[
          { id: 'kind', header: t.operator.kind, main: true, cell: ({ kind }) => t.operator.kinds[kind] },
          {
            id: 'version',
            header: t.operator.version,
            cell: ({ version, build }) => <span className="breakable">{build ?? version}</span>,
          },
          {
            id: 'host',
            header: t.operator.host,
            cell: ({ host, pid }) => (
              <span className="breakable">
                {host} ({pid})
              </span>
            ),
          },
          { id: 'started', header: t.operator.since, cell: ({ startedAt }) => <Time at={startedAt} /> },
          { id: 'seen', header: t.operator.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
        ]}
      />
    </Panel>
  );
}
