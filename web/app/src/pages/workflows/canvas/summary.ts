// What a step does, in a line or two of words.
import { type Condition, type Filter, isCondition } from '../../../conditions/model.ts';
import { conditionText, filterText } from '../../../conditions/sentence.ts';
import { date, joinList, number, percent, shownValue, span } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import type { GraphStep } from './graph.ts';
import { type Config, objectOf } from './schema.ts';

export interface StepSummary {
  lines: readonly string[];
}

/** Names of what steps refer to, by id. An id without a name is not known yet, or no more. */
export interface StepNames {
  templates: ReadonlyMap<string, { name: string; subject: string }>;
  segments: ReadonlyMap<string, string>;
  workflows: ReadonlyMap<string, string>;
}

export type DescribedStep = Pick<GraphStep, 'id' | 'type' | 'config' | 'templateId'>;

type Describe = (config: Config, names: StepNames, step: DescribedStep) => (string | undefined)[];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A plain number is one of seconds. */
function spanOf(value: unknown): string | undefined {
  const { amount, unit } = typeof value === 'number' ? { amount: value, unit: 'seconds' } : objectOf(value);
  return typeof amount === 'number' && typeof unit === 'string' ? span(amount, unit) : undefined;
}

function untilText(until: string): string {
  const isField = /^data[.[]/.test(until);
  if (isField) return until.replace(/^data\./, '');
  return Number.isNaN(Date.parse(until)) ? until : date(until);
}

const DAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;

/** Three days or more in a row are written as a range. */
export function daysText(days: unknown): string {
  const chosen = DAYS.filter((day) => Array.isArray(days) && days.includes(day));
  const names = chosen.map((day) => t.canvas.values[day]);
  const first = DAYS.indexOf(chosen[0] ?? 'MON');
  const isRow = chosen.length > 2 && chosen.every((day, index) => DAYS[first + index] === day);
  return isRow ? `${names[0]}–${names.at(-1)}` : names.join(', ');
}

const fieldsText = (fields: Config): string =>
  Object.entries(fields)
    .map(([name, value]) => (value === null ? t.canvas.summaries.removes(name) : `${name} = ${shownValue(value)}`))
    .join(', ');

function weightsText(branches: unknown): string {
  const rows = Array.isArray(branches) ? branches.map(objectOf) : [];
  const weights = rows.map(({ weight }) => (typeof weight === 'number' ? weight : 0));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return rows
    .map(({ name }, index) => `${textOf(name)} ${total > 0 ? percent((weights[index] ?? 0) / total) : number(0)}`)
    .join(' · ');
}

const named = (names: ReadonlyMap<string, string>, id: unknown, missing: string): string[] =>
  typeof id === 'string' ? [names.get(id) ?? '…'] : [missing];

const describers: Record<string, Describe> = {
  SEND_EMAIL: (config, { templates }, { templateId }) => {
    const id = textOf(config.templateId) || templateId;
    if (!id) return [t.canvas.summaries.noTemplate];
    const template = templates.get(id);
    const { type, email } = objectOf(config.recipient);
    const name = template?.name ?? '…';
    return [type === 'CUSTOM' ? t.canvas.summaries.sentTo(name, textOf(email)) : name, template?.subject];
  },
  DELAY: (config) => [
    typeof config.until === 'string' ? t.canvas.summaries.until(untilText(config.until)) : spanOf(config),
  ],
  WAIT_FOR_EVENT: ({ eventName, timeout }) => {
    const event = textOf(eventName);
    if (event === '') return [];
    const within = spanOf(timeout);
    return [within === undefined ? t.canvas.summaries.forEvent(event) : t.canvas.summaries.within(event, within)];
  },
  CONDITION: (config, { segments }) => [
    isCondition(config)
      ? conditionText(config as unknown as Condition, segments)
      : typeof config.field === 'string'
        ? filterText(config as unknown as Filter, segments)
        : undefined,
  ],
  WEBHOOK: ({ url, method }) =>
    textOf(url) ? [`${textOf(method) || 'POST'} ${textOf(url).replace(/^https?:\/\//, '')}`] : [],
  UPDATE_CONTACT: ({ data, updates, subscribed }) => [
    joinList([
      ...[fieldsText({ ...objectOf(updates), ...objectOf(data) })].filter(Boolean),
      ...(typeof subscribed === 'boolean'
        ? [subscribed ? t.canvas.summaries.subscribes : t.canvas.summaries.unsubscribes]
        : []),
    ]),
  ],
  EXIT: ({ reason }) => [textOf(reason)],
  SPLIT: ({ branches }) => [weightsText(branches)],
  TIME_WINDOW: ({ days, from, to, timezone }) => [
    [
      daysText(days),
      from !== undefined && to !== undefined && `${textOf(from)}–${textOf(to)}`,
      textOf(timezone).replaceAll('_', ' '),
    ]
      .filter(Boolean)
      .join(', '),
  ],
  ADD_TO_SEGMENT: ({ segmentId }, { segments }) => named(segments, segmentId, t.canvas.summaries.noSegment),
  REMOVE_FROM_SEGMENT: ({ segmentId }, { segments }) => named(segments, segmentId, t.canvas.summaries.noSegment),
  START_WORKFLOW: ({ workflowId }, { workflows }) => named(workflows, workflowId, t.canvas.summaries.noWorkflow),
};

/** A type that the application does not know yet has no summary. */
export function summaryOf(step: DescribedStep, names: StepNames): StepSummary {
  const lines = (step.config && describers[step.type]?.(step.config, names, step)) ?? [];
  return { lines: lines.filter((line): line is string => line !== undefined && line !== '') };
}
