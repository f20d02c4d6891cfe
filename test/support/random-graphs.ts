import fc from 'fast-check';
import type { Db } from '../../db/connect.ts';
import { newId } from '../../platform/ids.ts';
import { weekdays } from '../../platform/time-zones.ts';
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

/** What steps refer to. */
export interface GraphReferences {
  templateIds?: string[];
  /** Static, and tracked. */
  segments?: { id: string; slug: string }[];
  workflowIds?: string[];
  /**
   * The minute of the hour at which time windows open. Scripted events come some minutes after whole hours from the
   * start, so that with the start's minute no event comes when a window opens or closes.
   */
  minute?: number;
}

const HOURS_OF_DAY = 24;
/** A window closes long after the last scripted event of an hour. */
const CLOSES_AFTER_MINUTES = 50;
/** Ahead of UTC by whole hours, without changes of clocks. */
const timezone = fc.constantFrom('UTC', 'Asia/Tokyo', 'America/Phoenix', 'Pacific/Honolulu');

const timeWindow = (minute: number): fc.Arbitrary<object> =>
  fc
    .tuple(
      fc.integer({ min: 0, max: HOURS_OF_DAY - 1 }),
      fc.integer({ min: 0, max: 20 }),
      fc.subarray([...weekdays], { minLength: 1 }),
      fc.option(timezone, { nil: undefined }),
    )
    .map(([hour, length, days, zone]) => ({
      days,
      from: clockTime(hour * 60 + minute),
      to: clockTime((hour + length) * 60 + minute + CLOSES_AFTER_MINUTES),
      ...(zone && { timezone: zone }),
    }));

const clockTime = (minutes: number): string =>
  [Math.floor(minutes / 60) % HOURS_OF_DAY, minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');

const data = fc.dictionary(key, fc.oneof(smallNumber, fc.constant(null)), { minKeys: 1, maxKeys: 2 });

const splitBranches = fc.tuple(smallNumber, smallNumber).map(([yes, other]) => [
  { name: 'yes', weight: yes },
  { name: 'no', weight: 1 },
  { name: 'other', weight: other },
]);

const step = ({
  templateIds = [],
  segments = [],
  workflowIds = [],
  minute = 0,
}: GraphReferences): fc.Arbitrary<StepSpec> =>
  fc.oneof(
    { weight: 3, arbitrary: of('UPDATE_CONTACT', fc.record({ data })) },
    { weight: 1, arbitrary: of('UPDATE_CONTACT', fc.record({ subscribed: fc.boolean() })) },
    { weight: 4, arbitrary: of('CONDITION', fc.oneof(tree, filter)) },
    { weight: 3, arbitrary: of('DELAY', duration) },
    { weight: 2, arbitrary: of('SPLIT', fc.record({ branches: splitBranches })) },
    { weight: 2, arbitrary: of('TIME_WINDOW', timeWindow(minute)) },
    { weight: 1, arbitrary: of('UPDATE_CONTACT', fc.record({ data: fc.record({ timezone }) })) },
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
    ...segments.flatMap(({ id, slug }) => [
      { weight: 2, arbitrary: of('ADD_TO_SEGMENT', fc.constant({ segmentId: id })) },
      { weight: 2, arbitrary: of('REMOVE_FROM_SEGMENT', fc.constant({ segmentId: id })) },
      {
        weight: 1,
        arbitrary: of(
          'CONDITION',
          fc.record({
            field: fc.constant(`segment.${id}`),
            operator: fc.constantFrom('memberOfSegment', 'notMemberOfSegment'),
          }),
        ),
      },
      {
        weight: 1,
        arbitrary: of(
          'WAIT_FOR_EVENT',
          fc.record({
            eventName: fc.constantFrom(`segment.${slug}.entry`, `segment.${slug}.exit`),
            timeout: duration,
          }),
        ),
      },
    ]),
    ...workflowIds.map((workflowId) => ({ weight: 1, arbitrary: of('START_WORKFLOW', fc.constant({ workflowId })) })),
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
    if (connection) graph.transitions.push(connection);
    else if (n > 0) graph.steps.pop();
  }
  for (const { id } of graph.steps.slice(1)) {
    const back = choose(open(id));
    if (back && (choices[chosen++ % choices.length] ?? 0) % 2 === 0) graph.transitions.push(back);
  }
  return graph;
}

export const graphs = (references: GraphReferences = {}): fc.Arbitrary<Graph> =>
  fc
    .tuple(
      fc.array(step(references), { minLength: 2, maxLength: 12 }),
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

/** Inserts what the steps of random graphs refer to: static segments, and workflows that a contact stays in. */
export async function insertReferences(
  db: Db,
  projectId: string,
): Promise<Required<Pick<GraphReferences, 'segments' | 'workflowIds'>>> {
  const segments = ['one', 'two'].map((slug) => ({ id: newId(), slug }));
  for (const segment of segments)
    await db('segments').insert({ ...segment, projectId, name: segment.slug, type: 'STATIC', trackMembership: true });
  const steps = [
    { id: newId(), type: 'WAIT_FOR_EVENT', name: 'Stay', config: { eventName: 'never' }, templateId: null },
  ];
  const workflowIds: string[] = [];
  for (const change of [{ allowReentry: true }, { allowReentry: false }, { enabled: false }]) {
    const id = newId();
    const row = { id, projectId, name: 'Started', triggerType: 'MANUAL', enabled: true, validVersion: 1, ...change };
    await db('workflows').insert(row);
    await db('workflowVersions').insert({
      workflowId: id,
      version: 1,
      graph: JSON.stringify({ steps, transitions: [] }),
    });
    workflowIds.push(id);
  }
  return { segments, workflowIds };
}
