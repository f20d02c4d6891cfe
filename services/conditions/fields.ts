import { keysOf } from '../../platform/conditions/field-path.ts';
import { emailSourceKinds, sourceName } from './email-results.ts';
import { readEventTests } from './event-data.ts';
import { readCount } from './operators/arguments.ts';
import { dataOperators } from './operators/data.ts';
import { dateOperators } from './operators/dates.ts';
import { emailOperators } from './operators/email.ts';
import { eventOperators } from './operators/event.ts';
import { FilterViolation, type Operators, type RawFilter } from './operators/operator.ts';
import { questionOf, resultOperators } from './operators/results.ts';
import { segmentOperators } from './operators/segment.ts';
import { subscribedOperators } from './operators/subscribed.ts';
import { topicOperators } from './operators/topic.ts';
import type { EmailSource, Predicate, Uses } from './types.ts';

const MAX_LENGTH = 1_000;
/** A key or an id. */
const TOPIC = /^[a-z0-9-]{1,50}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Maps the field names of mail events to the recorded event names, which are accepted too. */
const mailEventNames = new Map([
  ['email.sent', 'email.sent'],
  ['email.delivered', 'email.delivery'],
  ['email.delivery', 'email.delivery'],
  ['email.opened', 'email.open'],
  ['email.open', 'email.open'],
  ['email.clicked', 'email.click'],
  ['email.click', 'email.click'],
  ['email.bounced', 'email.bounce'],
  ['email.bounce', 'email.bounce'],
  ['email.complained', 'email.complaint'],
  ['email.complaint', 'email.complaint'],
]);

/** The operators of all kinds of fields. */
export const conditionOperators: string[] = [
  ...new Set(
    [
      emailOperators,
      subscribedOperators,
      dateOperators,
      dataOperators,
      eventOperators,
      segmentOperators,
      topicOperators,
      resultOperators,
    ].flatMap((operators) => Object.keys(operators)),
  ),
];

/** A valid field: its operators, and what a filter on it depends on. */
export interface FieldDefinition {
  operators: string[];
  /** Returns undefined for an unknown operator. */
  find(operator: string): ((filter: RawFilter) => Predicate) | undefined;
  recordUse(uses: Uses, path: string, filter: RawFilter, predicate: Predicate): void;
}

function field<Target>(
  target: Target,
  operators: Operators<Target>,
  recordUse: FieldDefinition['recordUse'],
): FieldDefinition {
  return {
    operators: Object.keys(operators),
    find(name) {
      const entry = Object.hasOwn(operators, name) ? operators[name] : undefined;
      return entry && ((filter) => entry.bind(target, filter));
    },
    recordUse,
  };
}

const recordField =
  (name: string): FieldDefinition['recordUse'] =>
  ({ fields }) =>
    void fields.add(name);

const standard = new Map<string, FieldDefinition>([
  ['email', field(undefined, emailOperators, recordField('email'))],
  ['subscribed', field(undefined, subscribedOperators, recordField('subscribed'))],
  ['createdAt', field('createdAt', dateOperators, recordField('createdAt'))],
  ['updatedAt', field('updatedAt', dateOperators, recordField('updatedAt'))],
]);

/**
 * Resolves a field name, which depends on the operator too. With an event operator, a name without prefix is an event.
 * With other operators, `event.<key>` is a value in the context of an execution (`inExecution`).
 */
export function resolveField(name: string, operator: string, inExecution: boolean): FieldDefinition {
  if (name.length > MAX_LENGTH) throw fieldViolation(`must be at most ${MAX_LENGTH} characters long`);
  if (/\0|\p{Surrogate}/u.test(name)) throw fieldViolation('contains a character that cannot be stored');
  const known =
    standard.get(name) ??
    dataField(name) ??
    segmentField(name, operator) ??
    topicField(name, operator) ??
    resultField(name, operator);
  if (known) return known;
  const prefixed = name.startsWith('event.');
  const event = prefixed ? name.slice('event.'.length) : name;
  if (Object.hasOwn(eventOperators, operator)) return eventField(event);
  if (inExecution && /^event[.[]/.test(name)) return contextField(name);
  if (prefixed || mailEventNames.has(name)) return eventField(event);
  throw fieldViolation(
    'is not a known field. Use email, subscribed, createdAt, updatedAt, data.<key>, event.<name>, email.<event>, segment.<id>, topic.<key>, campaign.<id>, template.<id>, step.<id> or campaigns',
  );
}

function dataField(name: string): FieldDefinition | undefined {
  if (!/^data[.[]/.test(name)) return undefined;
  const keys = keysAfter('data', name);
  return field({ root: 'data' as const, keys }, dataOperators, (uses) => void uses.keys.add(keys[0] ?? ''));
}

function contextField(name: string): FieldDefinition {
  return field({ root: 'context' as const, keys: keysAfter('event', name) }, dataOperators, () => {});
}

function keysAfter(root: string, name: string): string[] {
  const keys = keysOf(name.slice(root.length));
  if (!keys) throw fieldViolation(`has no key: use ${root}.key, ${root}.outer.inner or ${root}["a key"]`);
  return keys;
}

/** Returns undefined for event names such as `segment.<slug>.entry`. */
function segmentField(name: string, operator: string): FieldDefinition | undefined {
  if (!name.startsWith('segment.')) return undefined;
  const id = name.slice('segment.'.length).toLowerCase();
  if (UUID.test(id))
    return field(id, segmentOperators, ({ segments }, path) => {
      segments.set(id, [...(segments.get(id) ?? []), path]);
    });
  if (Object.hasOwn(eventOperators, operator)) return undefined;
  throw fieldViolation('has no segment: use segment.<id>');
}

/** Returns undefined for event names such as `topic.<key>.subscribed`. */
function topicField(name: string, operator: string): FieldDefinition | undefined {
  if (!name.startsWith('topic.') || Object.hasOwn(eventOperators, operator)) return undefined;
  const topic = name.slice('topic.'.length).toLowerCase();
  if (!TOPIC.test(topic)) throw fieldViolation('has no topic: use topic.<key> or topic.<id>');
  return field(topic, topicOperators, ({ topics }, path) => {
    topics.set(topic, [...(topics.get(topic) ?? []), path]);
  });
}

/** Returns undefined for event names such as `campaign.decided`. */
function resultField(name: string, operator: string): FieldDefinition | undefined {
  const source = Object.hasOwn(eventOperators, operator) ? undefined : emailSourceOf(name);
  if (!source) return undefined;
  return field(source, resultOperators, (uses, path, filter) => {
    const named = sourceName(source);
    uses.emailSources.set(named, [...(uses.emailSources.get(named) ?? []), path]);
    uses.emailQuestions.push(questionOf(source, operator, filter));
  });
}

function emailSourceOf(name: string): EmailSource | undefined {
  if (name === 'campaigns') return { kind: 'campaigns' };
  const kind = emailSourceKinds.find((one) => name.startsWith(`${one}.`));
  if (!kind) return undefined;
  const id = name.slice(kind.length + 1).toLowerCase();
  if (!UUID.test(id)) throw fieldViolation(`has no ${kind}: use ${kind}.<id>`);
  return { kind, id };
}

function eventField(given: string): FieldDefinition {
  if (given === '') throw fieldViolation('has no event name: use event.<name>');
  const name = mailEventNames.get(given) ?? given;
  return field(name, eventOperators, (uses, _, filter, { needsOldest }) => {
    const count = readCount(filter);
    const tests = readEventTests(name, filter);
    uses.events.add(name);
    if (tests) uses.testedEvents.push({ name, tests, count, needsOldest });
    else {
      if (needsOldest) uses.oldEvents.add(name);
      uses.eventCount = Math.max(uses.eventCount, count);
    }
  });
}

const fieldViolation = (message: string) => new FilterViolation('field', message, 'invalid_string');
