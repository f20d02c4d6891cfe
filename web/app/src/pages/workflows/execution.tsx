import { Alert, Badge, Box, Code, Grid, Group, SegmentedControl, Stack, Text, Timeline } from '@mantine/core';
import { IconPlayerSkipForward, IconPlayerStop, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import type { ExecutionDetail, ExecutionStep } from '../../api/types.ts';
import { t } from '../../texts/index.ts';
import { Copyable, Time } from '../../ui/controls.tsx';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { BackLink, ButtonLink, TextLink } from '../../ui/links.tsx';
import { Loaded, Page, Panel, Placeholder } from '../../ui/page.tsx';
import { ExecutionStatusBadge } from '../../ui/status.tsx';
import { branchName, typeName } from './steps.ts';

/** Loaded when it is opened: it draws the graph. */
const ExecutionPlayer = lazy(() =>
  import('./play/execution-player.tsx').then(({ ExecutionPlayer }) => ({ default: ExecutionPlayer })),
);

const isActive = (status: string): boolean => status === 'RUNNING' || status === 'WAITING';

/** One execution as a timeline, or played. */
export function ExecutionPage() {
  const { client, key, projectId } = useApi();
  const { id, executionId } = useParams({ from: '/signed-in/p/$projectId/workflows/$id/executions/$executionId' });
  const { tab } = useSearch({ from: '/signed-in/p/$projectId/workflows/$id/executions/$executionId' });
  const navigate = useNavigate({ from: '/p/$projectId/workflows/$id/executions/$executionId' });
  const execution = useQuery({
    queryKey: key('execution', executionId),
    queryFn: () =>
      unwrap(client.GET('/workflows/{id}/executions/{executionId}', { params: { path: { id, executionId } } })),
    refetchInterval: ({ state }) => (state.data && isActive(state.data.status) ? 3_000 : false),
  });
  const back = (
    <BackLink to="/p/$projectId/executions" params={{ projectId }}>
      {t.workflows.executions}
    </BackLink>
  );
  const { data } = execution;
  if (!data)
    return (
      <Page title={t.workflows.execution} back={back}>
        <Loaded query={execution}>{() => null}</Loaded>
      </Page>
    );
  return (
    <Page
      title={data.contact?.email ?? t.workflows.personGone}
      back={back}
      badge={<ExecutionStatusBadge status={data.status} />}
      description={
        <TextLink to="/p/$projectId/workflows/$id" params={{ projectId, id: data.workflowId }}>
          {data.workflow.name}
        </TextLink>
      }
      actions={<ExecutionActions execution={data} />}
    >
      {data.error && (
        <Alert color="red" title={t.workflows.error}>
          <span className="breakable">{data.error}</span>
        </Alert>
      )}
      {data.steps.length > 0 && (
        <SegmentedControl
          aria-label={t.workflows.timeline}
          value={tab ?? 'timeline'}
          onChange={(value) => void navigate({ search: value === 'play' ? { tab: 'play' } : {}, replace: true })}
          data={[
            { value: 'timeline', label: t.playback.timelineTab },
            { value: 'play', label: t.playback.playTab },
          ]}
          style={{ alignSelf: 'flex-start' }}
        />
      )}
      {tab === 'play' && data.steps.length > 0 ? (
        <Suspense fallback={<Placeholder lines={8} />}>
          <ExecutionPlayer execution={data} />
        </Suspense>
      ) : (
        <Recorded execution={data} />
      )}
    </Page>
  );
}

function Recorded({ execution: data }: { execution: ExecutionDetail }) {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Panel title={t.workflows.timeline}>
          {data.steps.length === 0 ? (
            <Text c="dimmed">{t.workflows.noSteps}</Text>
          ) : (
            <Timeline active={data.steps.length} bulletSize={16} lineWidth={2}>
              {data.steps.map((step) => (
                <StepItem key={step.id} step={step} />
              ))}
            </Timeline>
          )}
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <FactsPanel execution={data} />
      </Grid.Col>
    </Grid>
  );
}

function ExecutionActions({ execution }: { execution: ExecutionDetail }) {
  const { client, key } = useApi();
  const { write } = useRights();
  const { id: executionId, workflowId: id, status } = execution;
  const params = { params: { path: { id, executionId } } };
  const changes = [key('execution', executionId), key('executions'), key('failures')];
  const retry = useAction({
    run: () => unwrap(client.POST('/workflows/{id}/executions/{executionId}/retry', params)),
    done: () => t.workflows.retriedOne,
    changes,
    quiet: true,
  });
  const skip = useAction({
    run: () => unwrap(client.POST('/workflows/{id}/executions/{executionId}/skip', params)),
    done: () => t.workflows.skippedOne,
    changes,
    quiet: true,
  });
  const cancel = useAction({
    run: () => unwrap(client.DELETE('/workflows/{id}/executions/{executionId}', params)),
    done: () => t.workflows.cancelledOne,
    changes,
    quiet: true,
  });
  if (!write) return null;
  return (
    <>
      {status === 'FAILED' && (
        <ConfirmButton
          label={t.workflows.retry}
          icon={<IconRefresh size={16} />}
          title={t.workflows.retryTitle}
          confirm={t.workflows.retry}
          onConfirm={() => retry.mutateAsync()}
        >
          {t.workflows.retryText}
        </ConfirmButton>
      )}
      {status === 'WAITING' && (
        <ConfirmButton
          label={t.workflows.skip}
          icon={<IconPlayerSkipForward size={16} />}
          title={t.workflows.skipTitle}
          confirm={t.workflows.skip}
          onConfirm={() => skip.mutateAsync()}
        >
          {t.workflows.skipText}
        </ConfirmButton>
      )}
      {isActive(status) && (
        <ConfirmButton
          danger
          variant="light"
          label={t.workflows.cancel}
          icon={<IconPlayerStop size={16} />}
          title={t.workflows.cancelTitle}
          confirm={t.workflows.cancel}
          onConfirm={() => cancel.mutateAsync()}
        >
          {t.workflows.cancelText}
        </ConfirmButton>
      )}
    </>
  );
}

const stepColors: Record<ExecutionStep['status'], string> = {
  RUNNING: 'blue',
  WAITING: 'violet',
  COMPLETED: 'teal',
  SKIPPED: 'gray',
  FAILED: 'red',
  CANCELLED: 'gray',
};

function StepItem({ step }: { step: ExecutionStep }) {
  const { projectId } = useApi();
  const { reason, emailId, ...rest } = step.output ?? {};
  return (
    <Timeline.Item
      title={
        <Group gap="xs">
          <span className="breakable">{step.name}</span>
          <Badge color={stepColors[step.status]}>{t.workflows.stepStatuses[step.status]}</Badge>
        </Group>
      }
      color={stepColors[step.status]}
    >
      <Text size="sm" c="dimmed">
        {typeName(step.type)} · <Time at={step.startedAt} exact />
        {step.attempt > 1 && ` · ${t.workflows.attempt(step.attempt)}`}
      </Text>
      {step.branch && (
        <Text size="sm" fw={600}>
          {t.workflows.took(branchName(step.branch))}
        </Text>
      )}
      {typeof reason === 'string' && (
        <Text size="sm" className="breakable">
          {step.branch ? t.workflows.because(reason) : reason}
        </Text>
      )}
      {step.error && (
        <Text size="sm" className="breakable error-text">
          {step.error}
        </Text>
      )}
      {step.status === 'WAITING' && (
        <Text size="sm">
          {step.scheduledFor ? (
            <>
              {t.workflows.waitsUntil} <Time at={step.scheduledFor} exact />
            </>
          ) : (
            t.workflows.waitsForEvent
          )}
        </Text>
      )}
      {typeof emailId === 'string' && (
        <TextLink to="/p/$projectId/emails/$id" params={{ projectId, id: emailId }} size="sm">
          {t.emails.mail}
        </TextLink>
      )}
      {Object.keys(rest).length > 0 && (
        <Code block mt={4} className="breakable" style={{ whiteSpace: 'pre-wrap' }}>
          {JSON.stringify(rest, null, 2).slice(0, 2_000)}
        </Code>
      )}
    </Timeline.Item>
  );
}

function FactsPanel({ execution }: { execution: ExecutionDetail }) {
  const { projectId } = useApi();
  const facts: [string, ReactNode][] = [
    [
      t.workflows.contact,
      execution.contact && (
        <TextLink to="/p/$projectId/contacts/$id" params={{ projectId, id: execution.contactId }} className="breakable">
          {execution.contact.email}
        </TextLink>
      ),
    ],
    [t.workflows.version, execution.version],
    [t.workflows.started, <Time key="started" at={execution.startedAt} exact />],
    [t.workflows.ended, execution.completedAt && <Time key="ended" at={execution.completedAt} exact />],
    [t.workflows.exitReason, execution.exitReason],
    ['ID', <Copyable key="id" value={execution.id} label="ID" />],
  ];
  const hasContext = Object.keys(execution.context).length > 0;
  return (
    <Stack gap="lg">
      <Panel>
        <dl className="facts">
          {facts
            .filter(([, value]) => value)
            .map(([label, value]) => (
              <Box key={label} display="contents">
                <dt>{label}</dt>
                <dd>{value}</dd>
              </Box>
            ))}
        </dl>
      </Panel>
      {hasContext && (
        <Panel title={t.workflows.context}>
          <Code block className="breakable" style={{ whiteSpace: 'pre-wrap' }}>
            {JSON.stringify(execution.context, null, 2).slice(0, 5_000)}
          </Code>
        </Panel>
      )}
      <ButtonLink
        to="/p/$projectId/executions"
        params={{ projectId }}
        search={{ contactId: execution.contactId }}
        variant="default"
      >
        {t.workflows.executionsOfContact}
      </ButtonLink>
    </Stack>
  );
}
