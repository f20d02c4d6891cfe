import { Alert, Box, Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { IconCopy, IconPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useApi } from '../../../api/hooks.ts';
import type { Execution } from '../../../api/types.ts';
import { duration, number } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { hasDeliveryReports } from '../../../ui/delivery-reports.ts';
import { TextLink } from '../../../ui/links.tsx';
import { branchName } from '../steps.ts';
import { describe, nameOf } from './add-panel.tsx';
import { exitOf, NEXT, type Place } from './graph.ts';
import { branchOf, type DraftGraph, type DraftStep, exitsOf, type StepTypes, targetOf } from './model.ts';
import { PeopleLink, type StepStats, unsentOf } from './numbers.tsx';
import type { Config, Schema } from './schema.ts';
import { type FormContext, SchemaForm } from './schema-form.tsx';
import { StepEmail } from './step-email.tsx';
import type { StepProblem } from './step-node.tsx';

interface StepPanelProps {
  workflowId: string;
  graph: DraftGraph;
  types: StepTypes;
  step: DraftStep;
  faults: string[];
  stats: StepStats | undefined;
  problem: StepProblem | undefined;
  form: FormContext;
  onChange(change: Partial<Pick<DraftStep, 'name' | 'config' | 'templateId'>>, name: string): void;
  onConnect(exit: Exclude<Place, null>, toStepId: string | undefined): void;
  onAdd(place: Place): void;
  onCopy(): void;
  onDelete(): void;
}

/** The form of a step: its name, its config as its type describes it, and where it leads. */
export function StepPanel(props: StepPanelProps) {
  const { graph, types, step, faults, stats, problem, form, onChange, onCopy, onDelete, workflowId } = props;
  const type = types.get(step.type);
  return (
    <Stack gap="md">
      <Box>
        <Title order={2} size="h4" className="breakable">
          {type ? nameOf(type) : step.type}
        </Title>
        {type && (
          <Text size="sm" c="dimmed">
            {describe(type)}
          </Text>
        )}
      </Box>
      {problem && <Problem problem={problem} stepId={step.id} workflowId={workflowId} />}
      {faults.length > 0 && (
        <Alert color="yellow" role="status">
          {faults.map((fault) => (
            <div key={fault} className="breakable">
              {fault}
            </div>
          ))}
        </Alert>
      )}
      <TextInput
        label={t.canvas.stepName}
        value={step.name}
        maxLength={255}
        disabled={form.readOnly}
        error={form.errorAt('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value }, 'name')}
      />
      {type && (
        <SchemaForm
          schema={type.schema as Schema}
          value={configOf(step)}
          path="config"
          form={form}
          onChange={(config, name) => onChange(withTemplate(step, config), name)}
        />
      )}
      {step.type === 'SEND_EMAIL' && (
        <StepEmail
          workflowId={workflowId}
          stepId={step.id}
          templateId={templateIdOf(step)}
          readOnly={form.readOnly}
          onTemplate={(templateId) => onChange(withTemplate(step, { ...configOf(step), templateId }), 'templateId')}
        />
      )}
      <Exits {...props} graph={graph} />
      {stats && <Numbers stats={stats} step={step} workflowId={workflowId} />}
      {!form.readOnly && (
        <Group gap="xs">
          <Button size="xs" variant="default" leftSection={<IconCopy size={14} />} onClick={onCopy}>
            {t.canvas.copy}
          </Button>
          <Button size="xs" variant="subtle" color="red" leftSection={<IconTrash size={14} />} onClick={onDelete}>
            {t.canvas.deleteStep}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Problem({ problem, stepId, workflowId }: { problem: StepProblem; stepId: string; workflowId: string }) {
  const { projectId } = useApi();
  const { failed, retrying, error } = problem;
  return (
    <Alert color="red" title={t.canvas.problemTitle}>
      <Stack gap={4}>
        {retrying > 0 && (
          <PeopleLink projectId={projectId} search={{ workflowId, stepId, status: 'RUNNING' }} number="retrying">
            {t.canvas.retryingText(retrying)}
          </PeopleLink>
        )}
        {failed > 0 && (
          <PeopleLink projectId={projectId} search={{ workflowId, stepId, status: 'FAILED' }} number="failed-panel">
            {t.canvas.failedText(failed)}
          </PeopleLink>
        )}
        <span className="breakable">{error || t.workflows.noError}</span>
      </Stack>
    </Alert>
  );
}

/** A template may stand beside the config, where older graphs have it. */
const configOf = ({ config, templateId }: DraftStep): Config =>
  templateId && config.templateId === undefined ? { ...config, templateId } : config;

const templateIdOf = (step: DraftStep): string | undefined => {
  const { templateId } = configOf(step);
  return typeof templateId === 'string' && templateId !== '' ? templateId : undefined;
};

const withTemplate = (step: DraftStep, config: Config): Partial<DraftStep> => {
  if (step.templateId === null) return { config };
  return { config, templateId: typeof config.templateId === 'string' ? config.templateId : null };
};

function Exits({ graph, types, step, form, onConnect, onAdd }: StepPanelProps) {
  const declared = exitsOf(types, step);
  const taken = graph.transitions.filter(({ fromStepId }) => fromStepId === step.id).map(exitOf);
  const exits = [...declared, ...taken.filter((exit) => !declared.includes(exit))];
  if (exits.length === 0) return null;
  return (
    <Stack gap="xs">
      <Text fw={600} size="sm">
        {t.canvas.exits}
      </Text>
      {exits.map((exit) => {
        const place = { fromStepId: step.id, branch: branchOf(exit) };
        const label = exit === NEXT ? t.workflows.leadsTo : t.workflows.onBranch(branchName(exit));
        return (
          <Group key={exit} gap="xs" align="flex-end" wrap="nowrap">
            <NativeSelect
              label={label}
              flex={1}
              disabled={form.readOnly}
              value={targetOf(graph, step.id, place.branch) ?? ''}
              onChange={(event) => onConnect(place, event.currentTarget.value || undefined)}
              data={[
                { value: '', label: t.canvas.endsHere },
                ...graph.steps.filter(({ id }) => id !== step.id).map(({ id, name }) => ({ value: id, label: name })),
              ]}
            />
            {!form.readOnly && (
              <Button
                variant="default"
                px="sm"
                aria-label={t.canvas.addAtExit(step.name, branchName(exit))}
                onClick={() => onAdd(place)}
              >
                <IconPlus size={16} />
              </Button>
            )}
          </Group>
        );
      })}
    </Stack>
  );
}

function Numbers({ stats, step, workflowId }: { stats: StepStats; step: DraftStep; workflowId: string }) {
  const { id: stepId } = step;
  const unsent = step.type === 'SEND_EMAIL' ? unsentOf(stats) : 0;
  const { projectId } = useApi();
  const people = (count: number, name: string, status?: Execution['status']): ReactNode =>
    count === 0 ? (
      number(count)
    ) : (
      <PeopleLink projectId={projectId} search={{ workflowId, stepId, status }} number={`${name}-panel`}>
        {number(count)}
      </PeopleLink>
    );
  const entered =
    stats.entered === 0 ? (
      number(0)
    ) : (
      <PeopleLink projectId={projectId} search={{ workflowId, enteredStepId: stepId }} number="entered-panel">
        {number(stats.entered)}
      </PeopleLink>
    );
  const unsentMail = (
    <TextLink
      to="/p/$projectId/emails"
      params={{ projectId }}
      search={{ workflowId, templateId: templateIdOf(step) }}
      inherit
      data-number="unsent"
    >
      {number(unsent)}
    </TextLink>
  );
  const { numbers } = t.canvas;
  const facts: [string, ReactNode][] = [
    [numbers.entered, entered],
    [numbers.waiting, people(stats.waiting, 'waiting')],
    [numbers.passed, number(stats.passed)],
    ...(unsent === 0 ? [] : [[numbers.unsent, unsentMail] as [string, ReactNode]]),
    [numbers.skipped, number(stats.skipped)],
    [numbers.failed, people(stats.failed, 'failed', 'FAILED')],
    ...(stats.medianSeconds === null ? [] : [[numbers.median, duration(stats.medianSeconds)] as [string, ReactNode]]),
    ...(stats.mail ? mailFacts(stats.mail) : []),
  ];
  return (
    <Box>
      <Text fw={600} size="sm" mb={4}>
        {t.canvas.numbersTitle}
      </Text>
      <dl className="facts">
        {facts.map(([label, value]) => (
          <Box key={label} display="contents">
            <dt>{label}</dt>
            <dd className="number">{value}</dd>
          </Box>
        ))}
      </dl>
    </Box>
  );
}

/** Results of the emails of a step, by people. */
function mailFacts(mail: NonNullable<StepStats['mail']>): [string, ReactNode][] {
  const isReported = hasDeliveryReports({ sent: mail.sent ?? 0, delivered: mail.delivered ?? 0 });
  return Object.entries(t.canvas.mailNumbers).map(([name, label]) => [
    label,
    name === 'delivered' && !isReported ? '—' : number(mail[name] ?? 0),
  ]);
}
