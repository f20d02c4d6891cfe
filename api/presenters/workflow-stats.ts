import joi from 'joi';
import { executionResults, mailResults, type StepStats } from '../../services/workflows/counts.ts';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import { stepTypes } from '../../services/workflows/steps/index.ts';
import { standaloneSchemaOf } from '../http/json-schema.ts';
import { list, nullable, object, oneOf, optional, record, text, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const count = () => wholeNumber({ min: 0 });
const countsOf = <Name extends string>(names: readonly Name[]) =>
  object(Object.fromEntries(names.map((name) => [name, count()])) as Record<Name, Typed<number>>);

const stepStats = object({
  ...{ entered: count(), waiting: count(), passed: count(), failed: count(), skipped: count() },
  medianSeconds: nullable(joi.number().min(0).required() as Typed<number>),
  branches: joi.object().pattern(joi.string(), count()).required() as Typed<Record<string, number>>,
  mail: optional(countsOf(mailResults)),
});

export const workflowStatsSchema = object({
  executions: countsOf(['started', 'active', ...executionResults]),
  steps: joi.object().pattern(joi.string().guid(), stepStats).required() as Typed<Record<string, StepStats>>,
});

export const stepTypesSchema = object({
  types: list(
    object({
      type: oneOf(...stepTypeNames),
      label: text(),
      description: text(),
      exits: list(text()),
      /** Where the exits follow from the config: the path of their names in it. */
      exitsFrom: nullable(text()),
      waits: joi.boolean().required() as Typed<boolean>,
      schema: record(),
    }),
  ),
});

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function presentStepTypes() {
  const types = stepTypeNames.map((name) => {
    const { type, label, description, exits, exitsOf, waits = false, config, schema } = stepTypes[name];
    return {
      ...{ type, label, description, exits, exitsFrom: exitsOf ? 'branches[].name' : null, waits },
      schema: { $schema: DIALECT, ...(schema ?? standaloneSchemaOf(config)) },
    };
  });
  return { types };
}
