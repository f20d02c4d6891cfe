import { keysOf } from './field-path.ts';
import { dataOperators } from './operators/data.ts';
import { dateOperators } from './operators/dates.ts';
import { emailOperators } from './operators/email.ts';
import { eventOperators } from './operators/event.ts';
import { FilterViolation, type Operators, type RawFilter } from './operators/operator.ts';
import { segmentOperators } from './operators/segment.ts';
import { subscribedOperators } from './operators/subscribed.ts';
import type { Predicate, Uses } from './types.ts';

const MAX_LENGTH = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Under which name each is recorded; the ledger's own words for it are accepted as well. */
const lifecycle = new Map([
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

/** A field that is understood: which operators it has, and what a filter on it looks at. */
export interface Field {
  operators: string[];
  /** Undefined when it has no such operator. */
  find(operator: string): ((filter: RawFilter) => Predicate) | undefined;
  note(uses: Uses, path: string, filter: RawFilter, predicate: Predicate): void;
}

function field<Place>(place: Place, operators: Operators<Place>, note: Field['note']): Field {
  return {
    operators: Object.keys(operators),
    find(name) {
      const entry = Object.hasOwn(operators, name) ? operators[name] : undefined;
      return entry && ((filter) => entry.bind(place, filter));
    },
    note,
  };
}

const noteField =
  (name: string): Field['note'] =>
  ({ fields }) =>
    void fields.add(name);

const standard = new Map<string, Field>([
  ['email', field(undefined, emailOperators, noteField('email'))],
  ['subscribed', field(undefined, subscribedOperators, noteField('subscribed'))],
  ['createdAt', field('createdAt', dateOperators, noteField('createdAt'))],
  ['updatedAt', field('updatedAt', dateOperators, noteField('updatedAt'))],
]);

/**
 * What a name means depends on the operator too: one without prefix is an event, but only where it is asked whether it
 * happened; and `event.<key>` is a value in the context of an execution (`inExecution`) where it is not.
 */
export function fieldOf(name: string, operator: string, inExecution: boolean): Field {
  if (name.length > MAX_LENGTH) throw fault(`must be at most ${MAX_LENGTH} characters long`);
  if (/\0|\p{Surrogate}/u.test(name)) throw fault('has a character that cannot be stored');
  const own = standard.get(name) ?? dataField(name) ?? segmentField(name, operator);
  if (own) return own;
  const prefixed = name.startsWith('event.');
  const event = prefixed ? name.slice('event.'.length) : name;
  if (Object.hasOwn(eventOperators, operator)) return eventField(event);
  if (inExecution && /^event[.[]/.test(name)) return contextField(name);
  if (prefixed || lifecycle.has(name)) return eventField(event);
  throw fault(
    'is no field: there are email, subscribed, createdAt, updatedAt, data.<key>, event.<name>, email.<what happened> and segment.<id>',
  );
}

function dataField(name: string): Field | undefined {
  if (!/^data[.[]/.test(name)) return undefined;
  const keys = keysAfter('data', name);
  return field({ root: 'data' as const, keys }, dataOperators, (uses) => void uses.keys.add(keys[0] ?? ''));
}

function contextField(name: string): Field {
  return field({ root: 'context' as const, keys: keysAfter('event', name) }, dataOperators, () => {});
}

function keysAfter(root: string, name: string): string[] {
  const keys = keysOf(name.slice(root.length));
  if (!keys) throw fault(`names no key: write ${root}.key, ${root}.outer.inner or ${root}["a key"]`);
  return keys;
}

/** Events are named `segment.<slug>.entry` too. */
function segmentField(name: string, operator: string): Field | undefined {
  if (!name.startsWith('segment.')) return undefined;
  const id = name.slice('segment.'.length).toLowerCase();
  if (UUID.test(id))
    return field(id, segmentOperators, ({ segments }, path) => {
      segments.set(id, [...(segments.get(id) ?? []), path]);
    });
  if (Object.hasOwn(eventOperators, operator)) return undefined;
  throw fault('names no segment: write segment.<id>');
}

function eventField(given: string): Field {
  if (given === '') throw fault('names no event: write event.<name>');
  const name = lifecycle.get(given) ?? given;
  return field(name, eventOperators, (uses, _, { count }, { oldest }) => {
    uses.events.add(name);
    if (oldest) uses.oldEvents.add(name);
    uses.eventCount = Math.max(uses.eventCount, Number(count ?? 1));
  });
}

const fault = (message: string) => new FilterViolation('field', message, 'invalid_string');
