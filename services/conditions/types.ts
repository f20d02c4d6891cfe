import type { Violation } from '../../platform/errors.ts';
import type { Data } from '../contacts/data.ts';
import type { Fragment } from './fragment.ts';

/** A parsed and validated condition tree. */
export interface Condition {
  logic: 'AND' | 'OR';
  groups: Group[];
}

/** Matches when all its filters and its nested condition match. */
export interface Group {
  filters: Predicate[];
  condition: Condition | undefined;
}

/** One filter, evaluated as SQL (on a contact with the alias `c`) or in memory. */
export interface Predicate {
  sql(query: ConditionQuery): Fragment;
  evaluate(subject: Subject): boolean;
  /** Selects the ids of contacts for which time alone may have changed the result; undefined where it cannot. */
  drift: ((window: Window, query: ConditionQuery) => Fragment) | undefined;
  /** In-memory evaluation needs the oldest events, not only the newest. */
  needsOldest: boolean;
}

/** The time between two evaluations. */
export interface Window {
  from: Date;
  to: Date;
}

/** What evaluation needs beside the condition. */
export interface EvaluationContext {
  now: Date;
  /** By id, with all segments that they refer to; a missing segment has no members. */
  segments: ReadonlyMap<string, ReferencedSegment>;
  /** The context of the execution; empty outside of one. */
  context: Data;
}

/** A static segment has no condition. */
export interface ReferencedSegment {
  condition: Condition | undefined;
}

/** The context of an evaluation as SQL, over all contacts of a project. */
export interface ConditionQuery extends EvaluationContext {
  projectId: string;
}

/** The context of an evaluation in memory, of one contact. */
export interface Subject extends EvaluationContext {
  contact: { email: string; subscribed: boolean; data: Data; createdAt: Date; updatedAt: Date };
  events: readonly { name: string; createdAt: Date }[];
  staticSegments: ReadonlySet<string>;
}

/** What a condition depends on. Shows where a field, event or segment is used, and what a change can affect. */
export interface Uses {
  /** `email`, `subscribed`, `createdAt`, `updatedAt`. */
  fields: Set<string>;
  /** First keys of paths into `data`. */
  keys: Set<string>;
  /** Recorded event names. */
  events: Set<string>;
  /** The events of which the oldest are needed, not only the newest. */
  oldEvents: Set<string>;
  /** The largest `count` of any event filter. */
  eventCount: number;
  /** Ids of segments, each with the paths of the filters that name it. */
  segments: Map<string, string[]>;
  /** Its result can change with time alone. */
  timeDependent: boolean;
  filterCount: number;
}

export interface ParsedCondition {
  condition: Condition;
  uses: Uses;
}

export type ParseResult = { parsed: ParsedCondition; faults?: undefined } | { parsed?: undefined; faults: Violation[] };
