// The JSON Schema of conditions. services/conditions validates them, not joi, so it is written by hand.
import { conditionOperators } from '../../services/conditions/fields.ts';
import { timeUnits } from '../../services/conditions/instants.ts';
import { MAX_COUNT } from '../../services/conditions/operators/arguments.ts';
import { MAX_LAST } from '../../services/conditions/operators/results.ts';
import { MAX_FILTERS, MAX_GROUP_DEPTH } from '../../services/conditions/parse.ts';
import { type JsonSchema, referenceTo } from './json-schema.ts';

const FILTER = { field: 'data.plan', operator: 'equals', value: 'pro' };
const GROUP = { filters: [FILTER] };

const nullOr = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

export const conditionReference = referenceTo('Condition');
export const nullableConditionReference = nullOr(conditionReference);

export const conditionSchemas: Record<string, JsonSchema> = {
  Condition: {
    description: `A condition on contacts. Nests up to ${MAX_GROUP_DEPTH} levels, with up to ${MAX_FILTERS} filters in total.`,
    type: 'object',
    required: ['logic', 'groups'],
    properties: {
      logic: { description: 'Whether all groups must match, or any of them.', type: 'string', enum: ['AND', 'OR'] },
      groups: {
        description: 'Groups of filters.',
        type: 'array',
        minItems: 1,
        items: referenceTo('ConditionGroup'),
      },
    },
    examples: [{ logic: 'AND', groups: [GROUP] }],
  },
  ConditionGroup: {
    description: 'Matches when all its filters and its nested condition match.',
    type: 'object',
    properties: {
      filters: {
        description: 'Filters. At least one is required unless `conditions` is set.',
        type: 'array',
        items: referenceTo('ConditionFilter'),
      },
      conditions: { description: 'Nested condition; null for none.', ...nullableConditionReference },
    },
    examples: [GROUP],
  },
  // Operators ignore what they do not need, so that any value may be stored there: these properties have no type.
  ConditionFilter: {
    description: 'A test of one field, event, segment, topic or email of a contact.',
    type: 'object',
    required: ['field', 'operator'],
    properties: {
      field: {
        description:
          '`email`, `subscribed`, `createdAt`, `updatedAt`, `data.<key>`, `event.<name>`, `email.<event>` such as ' +
          '`email.opened`, `segment.<id>`, `topic.<key or id>`, `campaign.<id>`, `template.<id>`, `step.<id>` or `campaigns` ' +
          '(all campaigns). In CONDITION steps, `event.<key>` also reads the execution context.',
        type: 'string',
      },
      operator: {
        description: 'Comparison. The field determines which operators it accepts.',
        type: 'string',
        enum: conditionOperators,
      },
      value: {
        description:
          'Value to compare with: text, a number or a boolean; a list for `in` and `notIn`; a number of `unit` for ' +
          'operators with a time span; a number of days for `anniversaryWithin` and `anniversaryOlderThan`. Ignored by `exists`, `notExists`, `triggered`, `notTriggered`, `memberOfSegment`, ' +
          '`notMemberOfSegment`, `subscribed`, `unsubscribed` and `pending`, and by the operators on emails without a time span.',
      },
      unit: {
        description:
          `Unit of the time span: ${timeUnits.map((unit) => `\`${unit}\``).join(', ')}. ` +
          'Required for operators with a time span, such as `within`; ignored by others.',
      },
      count: {
        description: `Minimum number of events for event operators, or of emails for \`campaigns\`: 1 to ${MAX_COUNT}; 1 by default. Not allowed with \`campaign.<id>\`, \`template.<id>\` and \`step.<id>\`; ignored by others.`,
      },
      last: {
        description: `For \`campaigns\`: only the last emails that the contact received, 1 to ${MAX_LAST}. Not allowed with \`campaign.<id>\`, \`template.<id>\` and \`step.<id>\`; ignored by others.`,
      },
      link: {
        description:
          'For `clicked` and `notClicked` on emails: address of a link as the email has it, with its variables, or a prefix and `*`. ' +
          'Not allowed with other operators on emails; ignored by others.',
      },
      variant: { description: 'For operators on emails: name of a variant of an experiment. Ignored by others.' },
      machine: {
        description:
          'For operators on emails: whether opens and clicks by machines count too; false by default. Ignored by others.',
      },
      where: {
        description:
          'For event operators: up to 5 tests of the data of an event, each with `key`, `operator` (as for `data.<key>`), ' +
          '`value` and `unit`. All must hold for the same event. Ignored by others.',
      },
    },
    examples: [FILTER],
  },
};
