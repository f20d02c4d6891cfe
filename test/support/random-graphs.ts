import fc from 'fast-check';
import { newId } from '../../platform/ids.ts';
import { refusalOfConnection } from '../../services/workflows/connections.ts';
import { type Branch, branches, type Graph, type Step, type StepTypeName } from '../../services/workflows/graph.ts';

// Generates graphs that the API accepts: one entry, no circle without a wait, complete configs.

type StepSpec = [type: StepTypeName, config: Record<string, unknown>];

const smallNumber = fc.integer({ min: 0, max: 2 });
const key = fc.constantFrom('a', 'b');
export const eventNames = ['ping', 'pong'];
const eventName = fc.constantFrom(...eventNames);
/** Whole hours: scripted events come some minutes later, so that no two things happen at the same time. */
const hours = fc.integer({ min: 1, max: 30 });
const duration = hours.map((amount) => ({ amount, unit: 'hours' }));

const filter = fc.oneof(
  fc.record({ field: key.map((name) => `data.${name}`), operator: fc.constant('equals'), value: smallNumber }),
  fc.record({ field: key.map((name) => `data.${name}`), operator: fc.constantFrom('exists', 'notExists') }),
  fc.record({ field: key.map((name) => `event.${name}`), operator: fc.constant('greaterThan'), value: smallNumber }),
  fc.record({ field: fc.constant('subscribed'), operator: fc.constant('equals'), value: fc.boolean() }),
  fc.record({
    field: eventName.map((name) => `event.${name}`),
    operator: fc.constantFrom('triggered', 'notTriggered'),
    count: fc.integer({ min: 1, max: 2 }),
  }),
  fc.record({
    field: eventName.map((name) => `event.${name}`),
    operator: fc.constantFrom('triggeredWithin', 'notTriggeredWithin', 'triggeredOlderThan'),
    value: fc.integer({ min: 2, max: 40 }),
    unit: fc.constant('hours'),
  }),
);
const tree = fc.record({
  logic: fc.constantFrom('AND', 'OR'),
  groups: fc.array(fc.record({ filters: fc.array(filter, { minLength: 1, maxLength: 2 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

const of = (type: StepTypeName, config: fc.Arbitrary<object>): fc.Arbitrary<StepSpec> =>
  config.map((value) => [type, value as Record<string, unknown>]);

const data = fc.dictionary(key, fc.oneof(smallNumber, fc.constant(null)), { minKeys: 1, maxKeys: 2 });

const splitBranches = fc.tuple(smallNumber, smallNumber).map(([yes, other]) => [
  { name: 'yes', weight: yes },
  { name: 'no', weight: 1 },
  { name: 'other', weight: other },
]);

const step = (templateIds: string[]): fc.Arbitrary<StepSpec> =>
  fc.oneof(
    { weight: 3, arbitrary: of('UPDATE_CONTACT', fc.record({ data })) },
    { weight: 1, arbitrary: of('UPDATE_CONTACT', fc.record({ subscribed: fc.boolean() })) },
    { weight: 4, arbitrary: of('CONDITION', fc.oneof(tree, filter)) },
    { weight: 3, arbitrary: of('DELAY', duration) },
    { weight: 2, arbitrary: of('SPLIT', fc.record({ branches: splitBranches })) },
    { weight: 3, arbitrary: of('WAIT_FOR_EVENT', fc.record({ eventName, timeout: duration })) },
    { weight: 1, arbitrary: of('WAIT_FOR_EVENT', fc.record({ eventName })) },
    {
      weight: 1,
      arbitrary: of(
        'WAIT_FOR_EVENT',
        fc.record({ eventName: fc.constantFrom('contact.unsubscribed', 'contact.subscribed'), timeout: duration }),
      ),
    },
    { weight: 1, arbitrary: of('EXIT', fc.record({ reason: fc.constantFrom('one', 'two') })) },
    ...templateIds.map((templateId) => ({ weight: 1, arbitrary: of('SEND_EMAIL', fc.constant({ templateId })) })),
  );

/** Connects every step to an earlier one, and some of the remaining exits to any step, also back. */
function connect(specs: StepSpec[], choices: number[]): Graph {
  const graph: Graph = { steps: [], transitions: [] };
  let chosen = 0;
  const choose = <T>(from: T[]): T | undefined => from[(choices[chosen++ % choices.length] ?? 0) % from.length];
  const open = (toStepId: string) =>
    graph.steps.flatMap(({ id: fromStepId }) =>
      [null, ...branches, 'other']
        .map((branch: Branch | null) => ({ fromStepId, toStepId, branch }))
        .filter((connection) => refusalOfConnection(graph, connection) === undefined),
    );
  for (const [n, [type, config]] of specs.entries()) {
    const added: Step = { id: newId(), type, name: `${n} ${type}`, config, templateId: null };
    graph.steps.push(added);
    const connection = n === 0 ? undefined : choose(open(added.id).filter(({ fromStepId }) => fromStepId !== added.id));
    if (connection) graph.transitions.push({ id: newId(), ...connection });
    else if (n > 0) graph.steps.pop();
  }
  for (const { id } of graph.steps.slice(1)) {
    const back = choose(open(id));
    if (back && (choices[chosen++ % choices.length] ?? 0) % 2 === 0) graph.transitions.push({ id: newId(), ...back });
  }
  return graph;
}

export const graphs = (templateIds: string[] = []): fc.Arbitrary<Graph> =>
  fc
    .tuple(
      fc.array(step(templateIds), { minLength: 2, maxLength: 12 }),
      fc.array(fc.nat(1000), { minLength: 20, maxLength: 20 }),
    )
    .map(([specs, choices]) => connect(specs, choices));

export interface ScriptedEventAfter {
  name: string;
  data: Record<string, unknown>;
  /** Minutes after the start; each has a different remainder modulo an hour. */
  afterMinutes: number;
}

export const scripts: fc.Arbitrary<ScriptedEventAfter[]> = fc
  .array(fc.tuple(eventName, data, fc.integer({ min: 0, max: 60 })), { minLength: 1, maxLength: 6 })
  .map((events) =>
    events.map(([name, given, hour], n) => ({ name, data: given, afterMinutes: hour * 60 + 7 * (n + 1) })),
  );
