import joi from 'joi';
import { type ParseOptions, parseCondition } from '../../conditions/parse.ts';
import type { ParseResult } from '../../conditions/types.ts';
import type { Data } from '../../contacts/data.ts';
import { fail, leaveBy, type StepType } from './step-type.ts';

/** A condition tree, or one filter. */
export type ConditionConfig = Data;

const FLAT = 'groups.0.filters.0';

export const condition: StepType<ConditionConfig> = {
  type: 'CONDITION',
  exits: ['yes', 'no'],
  config: joi.object().unknown(),
  refusals: (config) => {
    const tree = treeOf(config);
    if (!tree) return [];
    const { faults = [] } = parse(tree);
    return tree === config ? faults : faults.map((fault) => ({ ...fault, ...flattened(fault) }));
  },
  faults: ({ config }) => {
    const tree = treeOf(config);
    if (!tree) return ['asks for nothing'];
    return (parse(tree).faults ?? []).map(({ message }) => message);
  },
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
  run: async ({ config }, run) => {
    const { parsed } = parseConditionConfig(config);
    if (!parsed) return fail('the condition of the step cannot be read');
    return leaveBy((await run.decide(parsed)) ? 'yes' : 'no');
  },
};

/** For whoever needs to know what it refers to. */
export function parseConditionConfig(config: ConditionConfig, options?: ParseOptions): Partial<ParseResult> {
  const tree = treeOf(config);
  return tree ? parse(tree, options) : {};
}

const parse = (tree: unknown, options?: ParseOptions) => parseCondition(tree, { ...options, inExecution: true });

/** Undefined while nothing has been filled in yet. */
function treeOf(config: ConditionConfig): Data | undefined {
  if ('groups' in config || 'logic' in config) return config;
  if ('field' in config || 'operator' in config) return { logic: 'AND', groups: [{ filters: [config] }] };
  return undefined;
}

const flattened = ({ field, message }: { field: string; message: string }) => ({
  field: field.replace(`${FLAT}.`, ''),
  message: message.replace(`${FLAT}.`, ''),
});
