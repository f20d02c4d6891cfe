import joi from 'joi';
import type { Db } from '../../../db/connect.ts';
import type { Violation } from '../../../platform/errors.ts';
import { parseCondition } from '../../conditions/parse.ts';
import type { ParseResult } from '../../conditions/types.ts';
import type { Data } from '../../contacts/data.ts';
import { referenceViolations } from '../../segments/graph.ts';
import { conditionReason, explainFilters } from '../explained.ts';
import { failStep, leaveBy, type StepType } from './step-type.ts';

/** A condition tree, or one filter. */
export type ConditionConfig = Data;

/** Characters of the reason that an execution keeps for a branch. */
const MAX_REASON = 1_000;

/** Path of the only filter of a config without groups. */
const FLAT = 'groups.0.filters.0';

/** As GET /workflows/fields and the conditions of segments have it. */
const FILTER_SCHEMA = {
  type: 'object',
  properties: {
    field: { type: 'string' },
    operator: { type: 'string' },
    value: {},
    unit: { type: 'string' },
    count: { type: 'integer' },
  },
};

export const conditionStep: StepType<ConditionConfig> = {
  type: 'CONDITION',
  label: 'Condition',
  description: 'Checks a condition on the contact and takes the `yes` or `no` branch.',
  exits: ['yes', 'no'],
  runsUnlocked: true,
  config: joi.object().unknown(),
  schema: {
    type: 'object',
    properties: {
      logic: { type: 'string', enum: ['AND', 'OR'] },
      groups: {
        type: 'array',
        items: {
          type: 'object',
          properties: { filters: { type: 'array', items: FILTER_SCHEMA }, conditions: { type: 'object' } },
        },
      },
      ...FILTER_SCHEMA.properties,
    },
  },
  configErrors: (config) => {
    const tree = treeOf(config);
    if (!tree) return [];
    const { faults: errors = [] } = parse(tree);
    return tree === config ? errors : errors.map((error) => ({ ...error, ...flattened(error) }));
  },
  referenceErrors: async (db, projectId, config, before) =>
    config === before ? [] : findReferenceErrors(db, projectId, config),
  violations: ({ config }) => {
    const tree = treeOf(config);
    if (!tree) return ['has no condition'];
    return (parse(tree).faults ?? []).map(({ message }) => message);
  },
  referenceViolations: async ({ config }, { db, projectId }) =>
    (await findReferenceErrors(db, projectId, config)).map(({ message }) => `is invalid: ${message}`),
  uses: ({ config }) => {
    const { parsed } = parseConditionConfig(config);
    if (!parsed) return {};
    const { fields, keys, events, segments } = parsed.uses;
    return {
      fields: [...fields, ...[...keys].map((key) => `data.${key}`)],
      events: [...events],
      segments: [...segments.keys()],
    };
  },
  run: async ({ config }, env) => {
    const { parsed } = parseConditionConfig(config);
    if (!parsed) return failStep('the condition of the step is invalid');
    const { holds, filters } = await env.decide(parsed);
    const reason = conditionReason(explainFilters(config, filters));
    // Names the filters of the condition, never values of the contact.
    return leaveBy(holds ? 'yes' : 'no', reason === null ? undefined : { reason: reason.slice(0, MAX_REASON) });
  },
};

async function findReferenceErrors(db: Db, projectId: string, config: ConditionConfig): Promise<Violation[]> {
  const { parsed } = parseConditionConfig(config);
  return parsed ? referenceViolations(db, projectId, parsed, '') : [];
}

function parseConditionConfig(config: ConditionConfig): Partial<ParseResult> {
  const tree = treeOf(config);
  return tree ? parse(tree) : {};
}

const parse = (tree: unknown) => parseCondition(tree, { inExecution: true });

/** Returns undefined while the config is empty. */
function treeOf(config: ConditionConfig): Data | undefined {
  if ('groups' in config || 'logic' in config) return config;
  if ('field' in config || 'operator' in config) return { logic: 'AND', groups: [{ filters: [config] }] };
  return undefined;
}

/** Removes the path that the author of a single filter has not written. */
const flattened = ({ field, message }: { field: string; message: string }) => ({
  field: field.replace(`${FLAT}.`, ''),
  message: message.replace(`${FLAT}.`, ''),
});
