import { Alert, Anchor, Badge, Box, Button, Group, List, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconCopy, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { unwrap } from '../../api/client.ts';
import { useAction, useApi, useRights } from '../../api/hooks.ts';
import type { WorkflowDetail, WorkflowStep } from '../../api/types.ts';
import { valueText } from '../../format.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/dialog.tsx';
import { Loaded, Page, Panel } from '../../ui/page.tsx';
import { triggerText, useWorkflowActions, WorkflowStateBadge } from './list.tsx';
import { branchName, inOrder, typeName } from './steps.ts';

/** A workflow to read: its steps in order, and where each leads. */
export function WorkflowPage() {
  const { client, key, projectId } = useApi();
  const { id } = useParams({ from: '/signed-in/p/$projectId/workflows/$id' });
  const workflow = useQuery({
    queryKey: key('workflow', id),
    queryFn: () => unwrap(client.GET('/workflows/{id}', { params: { path: { id } } })),
  });
  const back = { to: `/p/${projectId}/workflows`, label: t.workflows.title };
  const { data } = workflow;
  if (!data)
    return (
      <Page title={t.workflows.workflow} back={back}>
        <Loaded query={workflow}>{() => null}</Loaded>
      </Page>
    );
  return (
    <Page
      title={data.name}
      back={back}
      badge={<WorkflowStateBadge enabled={data.enabled} />}
      description={
        <>
          {data.description && <div>{data.description}</div>}
          {t.workflows.trigger}: {triggerText(data)} ·{' '}
          {data.allowReentry ? t.workflows.allowReentry : t.workflows.oncePerContact}
        </>
      }
      actions={<WorkflowActions workflow={data} />}
    >
      {data.faults.length > 0 && (
        <Alert color="yellow" title={t.workflows.faults}>
          <List size="sm">
            {data.faults.map(({ stepId, message }) => (
              <List.Item key={`${stepId}:${message}`} className="breakable">
                {message}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Panel title={t.workflows.stepsTitle}>
        {data.steps.length === 0 ? <Text c="dimmed">{t.workflows.stepsEmpty}</Text> : <StepList workflow={data} />}
      </Panel>
    </Page>
  );
}

function WorkflowActions({ workflow }: { workflow: WorkflowDetail }) {
  const { client, key, projectId } = useApi();
  const { write } = useRights();
  const navigate = useNavigate();
  const { setEnabled, duplicate } = useWorkflowActions(workflow);
  const { id, name, enabled } = workflow;
  const remove = useAction({
    run: () => unwrap(client.DELETE('/workflows/{id}', { params: { path: { id } } })),
    done: () => t.workflows.deleted(name),
    changes: [key('workflows')],
    quiet: true,
    onDone: () => void navigate({ to: '/p/$projectId/workflows', params: { projectId } }),
  });
  const link = (path: string, label: string) => (
    <Button component={Link} to={`/p/${projectId}/${path}`} search={{ workflowId: id } as never} variant="default">
      {label}
    </Button>
  );
  return (
    <>
      <Button component={Link} to={`/p/${projectId}/workflows/${id}/play`} variant="default">
        {t.playback.link}
      </Button>
      {link('executions', t.workflows.showExecutions)}
      {link('emails', t.workflows.emails)}
      {write && (
        <>
          <Button
            variant="default"
            leftSection={<IconCopy size={16} />}
            onClick={() => duplicate.mutate()}
            loading={duplicate.isPending}
          >
            {t.common.duplicate}
          </Button>
          <Button
            leftSection={enabled ? <IconPlayerPause size={16} /> : <IconPlayerPlay size={16} />}
            onClick={() => setEnabled.mutate(!enabled)}
            loading={setEnabled.isPending}
          >
            {enabled ? t.workflows.disable : t.workflows.enable}
          </Button>
          <ConfirmButton
            danger
            variant="light"
            label={t.common.delete}
            icon={<IconTrash size={16} />}
            title={t.workflows.deleteTitle(name)}
            confirm={t.common.delete}
            onConfirm={() => remove.mutateAsync()}
          >
            {t.workflows.deleteText(name)}
          </ConfirmButton>
        </>
      )}
    </>
  );
}

function StepList({ workflow }: { workflow: WorkflowDetail }) {
  const steps = inOrder(workflow);
  const numbers = new Map(steps.map(({ id }, index) => [id, index + 1]));
  const reached = new Set(workflow.transitions.map(({ toStepId }) => toStepId));
  return (
    <Stack component="ol" gap="md" m={0} p={0} style={{ listStyle: 'none' }}>
      {steps.map((step, index) => (
        <Box component="li" key={step.id} className="record" id={`step-${step.id}`}>
          <Group gap="sm">
            <Text fw={600} className="breakable">
              {index + 1}. {step.name}
            </Text>
            <Badge>{typeName(step.type)}</Badge>
            {index > 0 && !reached.has(step.id) && <Badge color="orange">{t.workflows.unreachable}</Badge>}
          </Group>
          <StepConfig step={step} />
          <Exits workflow={workflow} step={step} numbers={numbers} />
        </Box>
      ))}
    </Stack>
  );
}

const MAX_VALUE = 200;

function StepConfig({ step }: { step: WorkflowStep }) {
  const { projectId } = useApi();
  const entries = Object.entries(step.config).filter(([name]) => name !== 'templateId');
  return (
    <>
      {step.templateId && (
        <Anchor component={Link} to={`/p/${projectId}/templates/${step.templateId}`} size="sm">
          {t.workflows.template}
        </Anchor>
      )}
      {entries.length > 0 && (
        <dl className="facts">
          {entries.map(([name, value]) => (
            <Box key={name} display="contents">
              <dt>{name}</dt>
              <dd className="breakable">{cut(valueText(value))}</dd>
            </Box>
          ))}
        </dl>
      )}
    </>
  );
}

const cut = (text: string): string => (text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text);

interface ExitsProps {
  workflow: WorkflowDetail;
  step: WorkflowStep;
  numbers: Map<string, number>;
}

function Exits({ workflow, step, numbers }: ExitsProps) {
  const exits = workflow.transitions.filter(({ fromStepId }) => fromStepId === step.id);
  const nameOf = (stepId: string) => workflow.steps.find(({ id }) => id === stepId)?.name ?? '';
  if (exits.length === 0)
    return (
      <Text size="sm" c="dimmed" mt={4}>
        {t.workflows.endsHere}
      </Text>
    );
  return (
    <Stack gap="xs" mt={4}>
      {exits.map(({ id, branch, toStepId }) => (
        <Group key={id} gap={6} wrap="nowrap">
          <Text size="sm" c="dimmed">
            {branch === null ? t.workflows.leadsTo : t.workflows.onBranch(branchName(branch))}
          </Text>
          <IconArrowRight size={14} aria-hidden />
          <Anchor href={`#step-${toStepId}`} size="sm" className="breakable">
            {numbers.get(toStepId)}. {nameOf(toStepId)}
          </Anchor>
        </Group>
      ))}
    </Stack>
  );
}
