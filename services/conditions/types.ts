import type { Fault } from '../../platform/errors.ts';
import type { Data } from '../contacts/data.ts';
import type { Fragment } from './fragment.ts';

/** A condition tree that has been read and checked. */
export interface Condition {
  logic: 'AND' | 'OR';
  groups: Group[];
}

/** All of its filters must hold, and its nested condition too. */
export interface Group {
  filters: Predicate[];
  condition: Condition | undefined;
}

/** One filter, as both readers see it. The SQL speaks of a contact under the alias `c`. */
export interface Predicate {
  sql(question: Question): Fragment;
  decide(subject: Subject): boolean;
  /** Ids of the contacts for which time alone may have changed the answer; undefined where it cannot. */
  drift: ((window: Window, question: Question) => Fragment) | undefined;
  /** To decide, the oldest events must be known; the newest alone will not do. */
  oldest: boolean;
}

/** From one moment, at which all was settled, to another. */
export interface Window {
  from: Date;
  to: Date;
}

/** What both readers must know beside the condition itself. */
export interface Circumstances {
  now: Date;
  /** By id, with whatever they refer to themselves; one that is not in it has no members. */
  segments: ReadonlyMap<string, ReferencedSegment>;
  /** Of the execution that asks; empty elsewhere. */
  context: Data;
}

/** A static segment has no condition. */
export interface ReferencedSegment {
  condition: Condition | undefined;
}

/** Asked about all contacts of a project. */
export interface Question extends Circumstances {
  projectId: string;
}

/** Asked about one contact. */
export interface Subject extends Circumstances {
  contact: { email: string; subscribed: boolean; data: Data; createdAt: Date; updatedAt: Date };
  events: readonly { name: string; createdAt: Date }[];
  staticSegments: ReadonlySet<string>;
}

/** What a condition looks at: who uses a field, an event or a segment, and what a change can affect. */
export interface Uses {
  /** `email`, `subscribed`, `createdAt`, `updatedAt`. */
  fields: Set<string>;
  /** First keys of paths into `data`. */
  keys: Set<string>;
  /** Names under which they are recorded. */
  events: Set<string>;
  /** Those of them of which the oldest matter, and not the newest alone. */
  oldEvents: Set<string>;
  /** The largest number of times that any event is asked for. */
  eventCount: number;
  /** Ids of segments, each with the paths of the filters that name it. */
  segments: Map<string, string[]>;
  /** Its answer changes with time alone. */
  timeDependent: boolean;
  filterCount: number;
}

export interface ParsedCondition {
  condition: Condition;
  uses: Uses;
}

export type ParseResult = { parsed: ParsedCondition; faults?: undefined } | { parsed?: undefined; faults: Fault[] };
