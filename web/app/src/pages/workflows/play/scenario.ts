import type { operations } from '../../../api/api-types.ts';
import type { WorkflowDetail } from '../../../api/types.ts';

// What is played: a person, and what happens to them when.

export interface FieldRow {
  key: number;
  name: string;
  value: string;
}

export interface LineEvent {
  key: number;
  name: string;
  /** After the start. */
  minutes: number;
  data: FieldRow[];
}

export interface Scenario {
  person: 'stored' | 'invented';
  contactId: string | null;
  email: string;
  subscribed: boolean;
  timezone: string;
  fields: FieldRow[];
  /** Of a field for local time: `2026-11-16T09:00`. */
  startAt: string;
  /** The data of the event that starts it. */
  context: FieldRow[];
  events: LineEvent[];
}

let keys = 0;
export const newField = (name = '', value = ''): FieldRow => ({ key: ++keys, name, value });
export const newEvent = (minutes: number, name = ''): LineEvent => ({ key: ++keys, name, minutes, data: [] });

export const newScenario = (contactId: string | undefined): Scenario => ({
  person: contactId === undefined ? 'invented' : 'stored',
  contactId: contactId ?? null,
  email: 'somebody@example.com',
  subscribed: true,
  timezone: '',
  fields: [],
  startAt: localMinute(new Date()),
  context: [],
  events: [],
});

const two = (value: number): string => String(value).padStart(2, '0');

function localMinute(at: Date): string {
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Reads numbers, booleans, lists and objects as such, and everything else as text. */
function parseValue(text: string): unknown {
  if (!/^\s*(-?\d|true\s*$|false\s*$|null\s*$|\[|\{)/.test(text)) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'number' && String(parsed) !== text.trim() ? text : parsed;
  } catch {
    return text;
  }
}

const dataOf = (rows: FieldRow[]): Record<string, unknown> =>
  Object.fromEntries(rows.flatMap(({ name, value }) => (name.trim() ? [[name.trim(), parseValue(value)]] : [])));

/** A graph as the API takes it to simulate it. */
export interface PlayedGraph {
  steps: {
    id: string;
    type: WorkflowDetail['steps'][number]['type'];
    name: string;
    config: Record<string, unknown>;
    templateId: string | null;
  }[];
  transitions: { fromStepId: string; toStepId: string; branch: string | null }[];
}

type Request = operations['postWorkflowsIdSimulate']['requestBody']['content']['application/json'];

export interface PlayedInput {
  contact: NonNullable<Request['contact']>;
  context: Record<string, unknown>;
  startAt: string;
  /** Seconds after the start. */
  events: { name: string; data: Record<string, unknown>; after: number }[];
}

const MAX_MINUTES = 5_256_000;

/** Returns what the API is asked to simulate. Events without a name are left out. */
export function inputOf(scenario: Scenario): PlayedInput {
  const { person, contactId, email, subscribed, timezone, fields, startAt, context, events } = scenario;
  const zone = timezone.trim();
  const data = { ...(zone && { timezone: zone }), ...dataOf(fields) };
  const start = new Date(startAt);
  return {
    contact: person === 'stored' && contactId ? { id: contactId } : { email: email.trim(), subscribed, data },
    context: dataOf(context),
    startAt: (Number.isNaN(start.getTime()) ? new Date() : start).toISOString(),
    events: events.flatMap(({ name, minutes, data: rows }) =>
      name.trim()
        ? [{ name: name.trim(), data: dataOf(rows), after: 60 * Math.min(Math.max(0, minutes), MAX_MINUTES) }]
        : [],
    ),
  };
}

export const timesOf = ({ startAt, events }: PlayedInput): { at: string; name: string }[] =>
  events.map(({ name, after }) => ({ name, at: new Date(Date.parse(startAt) + after * 1000).toISOString() }));
