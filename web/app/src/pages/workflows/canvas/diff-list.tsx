import { Box, List, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { joinList, span, valueText } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { branchName, typeName } from '../steps.ts';
import { type GraphDiff, isEmptyDiff, type ValueChange } from './diff.ts';
import type { DraftStep } from './model.ts';
import { useStepNames } from './names.ts';
import { objectOf, readableName } from './schema.ts';
import { type StepNames, summaryOf } from './summary.ts';

interface DiffListProps {
  diff: GraphDiff;
  /** All steps of both graphs, by which connections are named. */
  steps: readonly DraftStep[];
}

/** Steps that were added, removed and changed, with old and new values. */
export function DiffList({ diff, steps }: DiffListProps) {
  const names = useStepNames(steps);
  const stepName = (id: string | undefined) => steps.find((step) => step.id === id)?.name ?? t.canvas.diff.end;
  if (isEmptyDiff(diff)) return <Text c="dimmed">{t.canvas.diff.none}</Text>;
  const { added, removed, changed, exits, trigger } = diff;
  return (
    <Stack gap="sm" className="workflow-diff">
      {trigger.length > 0 && (
        <Section title={t.workflows.trigger}>
          {trigger.map((change) => (
            <Change key={change.path} change={change} names={names} />
          ))}
        </Section>
      )}
      {added.length > 0 && (
        <Section title={t.canvas.diff.added(added.length)} sign="+">
          {added.map((step) => (
            <Item key={step.id} step={step} names={names} />
          ))}
        </Section>
      )}
      {removed.length > 0 && (
        <Section title={t.canvas.diff.removed(removed.length)} sign="−">
          {removed.map((step) => (
            <Item key={step.id} step={step} names={names} />
          ))}
        </Section>
      )}
      {changed.length > 0 && (
        <Section title={t.canvas.diff.changed(changed.length)} sign="~">
          {changed.map(({ step, changes }) => (
            <List.Item key={step.id} className="breakable">
              <Text span fw={600} size="sm">
                {step.name}
              </Text>
              <List size="sm" listStyleType="none" withPadding={false}>
                {changes.map((change) => (
                  <Change key={change.path} change={change} names={names} />
                ))}
              </List>
            </List.Item>
          ))}
        </Section>
      )}
      {exits.length > 0 && (
        <Section title={t.canvas.diff.exits(exits.length)} sign="→">
          {exits.map(({ exit, before, after }) => (
            <List.Item key={`${exit.fromStepId} ${exit.branch}`} className="breakable">
              {[stepName(exit.fromStepId), ...(exit.branch === null ? [] : [branchName(exit.branch)])].join(', ')}:{' '}
              <Values before={stepName(before)} after={stepName(after)} />
            </List.Item>
          ))}
        </Section>
      )}
    </Stack>
  );
}

const Section = ({ title, sign, children }: { title: string; sign?: string; children: ReactNode }) => (
  <Box>
    <Text fw={600} size="sm">
      {sign && (
        <Text span c="dimmed" mr={6} aria-hidden>
          {sign}
        </Text>
      )}
      {title}
    </Text>
    <List size="sm" listStyleType="none" withPadding>
      {children}
    </List>
  </Box>
);

function Item({ step, names }: { step: DraftStep; names: StepNames }) {
  const summary = summaryOf(step, names).lines.join(', ');
  return (
    <List.Item className="breakable">
      <Text span fw={600} size="sm">
        {step.name}
      </Text>{' '}
      <Text span c="dimmed" size="sm">
        {[typeName(step.type), summary].filter((part) => part !== '' && part !== step.name).join(': ')}
      </Text>
    </List.Item>
  );
}

const Change = ({ change: { path, before, after }, names }: { change: ValueChange; names: StepNames }) => (
  <List.Item className="breakable">
    {pathText(path)}: <Values before={shown(path, before, names)} after={shown(path, after, names)} />
  </List.Item>
);

const Values = ({ before, after }: { before: string; after: string }) => (
  <>
    <del>{before}</del> → <ins>{after}</ins>
  </>
);

/** `branches.0.weight` becomes "Branches 1, Weight". */
const pathText = (path: string): string =>
  path
    .split('.')
    .map((part) =>
      /^\d+$/.test(part)
        ? String(Number(part) + 1)
        : ((t.canvas.fields as Record<string, string>)[part] ??
          (t.canvas.diff.fields as Record<string, string>)[part] ??
          readableName(part)),
    )
    .join(' · ');

function shown(path: string, value: unknown, names: StepNames): string {
  if (value === undefined || value === null || value === '') return t.canvas.diff.nothing;
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no;
  const name = path.split('.').at(-1) ?? '';
  if (typeof value === 'string') {
    if (name === 'templateId') return names.templates.get(value)?.name ?? value;
    if (name === 'segmentId') return names.segments.get(value) ?? value;
    if (name === 'workflowId') return names.workflows.get(value) ?? value;
    const words: Record<string, string> = { ...t.canvas.values, ...t.canvas.triggerTypes };
    return words[value] ?? value;
  }
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return joinList(value.map((item) => (t.canvas.values as Record<string, string>)[item] ?? item));
  const { amount, unit } = objectOf(value);
  if (typeof amount === 'number' && typeof unit === 'string') return span(amount, unit);
  return valueText(value);
}
