import type { TopicState } from '../../db/models/topic.ts';
import type { Fragment } from '../../db/sql.ts';
import type { Violation } from '../../platform/errors.ts';
import type { Data } from '../contacts/data.ts';
import type { TimeSpan } from './instants.ts';

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
  /** Of the project: anniversaries follow its days. */
  timeZone: string;
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
  events: readonly SubjectEvent[];
  staticSegments: ReadonlySet<string>;
  /** Of the topics that the condition uses. */
  topics: SubjectTopics;
  /** What the condition asks about emails. */
  emails: SubjectEmails;
}

/** A contact's effective state of a topic. */
export interface SubjectTopic {
  state: TopicState;
  /** When the contact chose; null without a choice. */
  changedAt: Date | null;
}

/** By the names that conditions have for them, a key or an id. */
export type SubjectTopics = ReadonlyMap<string, SubjectTopic>;

/** The emails of a campaign, a template or a step, or of all campaigns. */
export type EmailSource = { kind: 'campaign' | 'template' | 'step'; id: string } | { kind: 'campaigns' };

/** What an email has to show to count. */
export type EmailOutcome =
  | 'received'
  | 'opened'
  | 'clicked'
  | 'bounced'
  | 'complained'
  | 'unsubscribed'
  | 'missed'
  | 'heldOut'
  | 'receivedWithin'
  | 'receivedOlderThan';

/** What a filter asks about the emails of a contact. */
export interface EmailQuestion {
  source: EmailSource;
  outcome: EmailOutcome;
  /** Of a click: the address of a link, or its beginning and `*`. */
  link?: string | undefined;
  /** Only emails of this variant of an experiment. */
  variant?: string | undefined;
  /** Only the newest that the contact received. */
  last?: number | undefined;
  /** Counts opens and clicks of machines too. */
  machine: boolean;
  span?: TimeSpan | undefined;
}

/** How many of the emails in question a contact received, and how many had the outcome. */
export interface EmailCounts {
  received: number;
  matching: number;
}

/** By `questionId` (email-results.ts). Without an entry the contact has no such email. */
export type SubjectEmails = ReadonlyMap<string, EmailCounts>;

/** An event of the contact. */
export interface SubjectEvent {
  name: string;
  createdAt: Date;
  /** The tests of an event filter (`EventTests.id`) that it was loaded for; other filters do not count it. */
  tests?: string;
  /** Of an event that is not stored, as in a simulation. */
  data?: Data;
}

/** The `where` of an event filter: tests of the data of one event, all of which must hold. */
export interface EventTests {
  /** The same for the same tests. */
  id: string;
  /** On an event with the alias `e`. */
  sql(query: ConditionQuery): Fragment;
  evaluate(data: Data, subject: Subject): boolean;
  /** See `Predicate`. */
  drift: ((window: Window, query: ConditionQuery) => Fragment) | undefined;
}

/** Events that an event filter with tests needs. */
export interface TestedEvents {
  name: string;
  tests: EventTests;
  /** How many of the newest, and of the oldest where those are needed. */
  count: number;
  needsOldest: boolean;
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
  /** The events of filters with `where`. */
  testedEvents: TestedEvents[];
  /** Its result depends on the time zone of the project. */
  needsTimeZone: boolean;
  /** Ids of segments, each with the paths of the filters that name it. */
  segments: Map<string, string[]>;
  /** Keys or ids of topics, each with the paths of the filters that name it. */
  topics: Map<string, string[]>;
  /** Names of campaigns, templates and steps whose emails count (`sourceName`), each with the paths of its filters. */
  emailSources: Map<string, string[]>;
  emailQuestions: EmailQuestion[];
  /** Its result can change with time alone. */
  timeDependent: boolean;
  filterCount: number;
}

export interface ParsedCondition {
  condition: Condition;
  uses: Uses;
}

export type ParseResult = { parsed: ParsedCondition; faults?: undefined } | { parsed?: undefined; faults: Violation[] };
