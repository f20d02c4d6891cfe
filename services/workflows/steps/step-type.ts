import type joi from 'joi';
import type { Db } from '../../../db/connect.ts';
import type { ContactRecord } from '../../../db/models/contact.ts';
import type { Template } from '../../../db/models/template.ts';
import type { TopicDefault } from '../../../db/models/topic.ts';
import type { Violation } from '../../../platform/errors.ts';
import type { Explanation } from '../../conditions/explain.ts';
import type { ParsedCondition } from '../../conditions/types.ts';
import type { Data } from '../../contacts/data.ts';
import type { WebhookRequest } from '../webhook-call.ts';

/** Branches that a type of step defines. Types with `exitsOf` have others. */
export const branches = ['yes', 'no', 'event', 'timeout'] as const;
export type Branch = string;
export const MAX_BRANCH_LENGTH = 100;

/** The way out of a step: a branch, or `next`, which takes the transition without one. */
export type StepExit = Branch;

/** The branch of an exit, as transitions and records have it. */
export const branchOf = (exit: StepExit): Branch | null => (exit === 'next' ? null : exit);

export interface Step<Config = Data> {
  id: string;
  /** A key of the table in `index.ts`. */
  type: string;
  name: string;
  config: Config;
  templateId: string | null;
}

/** The result of running a step. */
export type StepOutcome =
  | { kind: 'leave'; exit: StepExit; status: 'COMPLETED' | 'SKIPPED'; output: Data | undefined }
  /** Leaves by `next` at that time. */
  | { kind: 'sleep'; until: Date }
  /** Leaves by `event` or by `timeout`. Without `until` the wait has no time-out. */
  | { kind: 'wait'; event: string; until: Date | undefined }
  /** Leaves by `next` once the receiver has accepted the request. */
  | { kind: 'webhook'; request: WebhookRequest }
  | { kind: 'end'; status: 'EXITED' | 'FAILED'; reason: string | null };

export const leaveBy = (exit: StepExit, output?: Data): StepOutcome => ({
  kind: 'leave',
  exit: exit,
  status: 'COMPLETED',
  output,
});
export const skip = (reason: string): StepOutcome => ({
  kind: 'leave',
  exit: 'next',
  status: 'SKIPPED',
  output: { reason },
});
export const sleepUntil = (until: Date): StepOutcome => ({ kind: 'sleep', until });
export const waitFor = (event: string, until?: Date): StepOutcome => ({ kind: 'wait', event, until });
export const requestWebhook = (request: WebhookRequest): StepOutcome => ({ kind: 'webhook', request });
export const exitExecution = (reason: string | null): StepOutcome => ({ kind: 'end', status: 'EXITED', reason });
export const failStep = (reason: string): StepOutcome => ({ kind: 'end', status: 'FAILED', reason });

export interface StepMail {
  templateId: string;
  /** Wins over the template's. */
  topicId?: string | undefined;
  from?: string | undefined;
  fromName?: string | undefined;
  replyTo?: string | undefined;
  /** Replaces the contact's address. */
  to?: string | undefined;
}

export type MailResult = { emailId: string } | { skipped: string } | { failed: string };

export type StartedWorkflow = { executionId: string } | { skipped: string } | { failed: string };

/**
 * Everything a running step may read and do. Executions implement it with the database, simulations with a recorder
 * that stores nothing.
 */
export interface StepEnvironment {
  readonly now: Date;
  readonly contact: ContactRecord;
  readonly context: Data;
  readonly workflow: { id: string; name: string };
  readonly execution: { id: string };
  sendEmail(mail: StepMail): Promise<MailResult>;
  /** Returns the reason when the change is refused. */
  updateContact(change: ContactChange): Promise<{ refused?: string }>;
  decide(condition: ParsedCondition): Promise<Explanation>;
  /** Changes the members of a static segment. Returns the reason when it is refused. */
  changeSegment(segmentId: string, member: boolean): Promise<{ changed?: boolean; refused?: string }>;
  startWorkflow(workflowId: string, context: Data): Promise<StartedWorkflow>;
  projectTimezone(): Promise<string>;
  /** Fills in variables as plain text: nothing is escaped. */
  render(texts: string[]): Promise<string[]>;
}

/** What a step changes about the contact. */
export interface ContactChange {
  data: Data;
  subscribed: boolean | undefined;
  /** States by key or id of the topic. */
  topics?: Record<string, TopicDefault> | undefined;
}

/** What a step refers to. Answers where a template, field, event or segment is used. */
export interface StepUses {
  templates: string[];
  /** As in conditions: `email`, `data.<key>`. */
  fields: string[];
  events: string[];
  segments: string[];
}

/** Settings of the installation that configs are checked against. */
export interface ConfigRules {
  /** `host:port` of private targets that webhooks may call. */
  webhookAllowedHosts: string[];
  /** Path of the config in the request body. */
  path: string;
}

/** What the checks on enabling may read. `templates` has those that the graph's steps use, if they exist. */
export interface EnablingContext {
  db: Db;
  projectId: string;
  templates: ReadonlyMap<string, Template>;
}

/** A step type: one file, and one entry in the table of `index.ts`. See docs/adding-a-step.md. */
export interface StepType<Config = Data> {
  /** Its key in the table. */
  type: string;
  /** Name of a new step that was given none. */
  label: string;
  /** What it does, for people who build workflows. */
  description: string;
  /**
   * In drawing order. A transition without a branch serves every exit of a wait that has no transition of its own. A
   * type with the exit `timeout` leaves by it when its time is over, every other type by `next`.
   */
  exits: readonly StepExit[];
  /** Branches that follow from the config, in place of `exits`. */
  exitsOf?(config: Config): readonly Branch[];
  /** Time passes in it, so that a circle of transitions may lead through it. */
  waits?: true;
  /** The outcome depends on the contact and the context alone, so the step first runs without locks. */
  runsUnlocked?: true;
  /** It calls a webhook: its config may have `headers`, which are stored sealed, and its request is called once. */
  callsWebhook?: true;
  /** What a changed config means for executions that are in the step and move to it, in words. */
  whenMoved?: string;
  /** Shape of the config. A violation is a 422 on saving. Unknown keys are kept. */
  config: joi.ObjectSchema;
  /** The config of a new step in the dashboard. The API adds nothing to what it is sent. */
  newConfig?: Config;
  /** JSON Schema of the config where `config` does not describe it. */
  schema?: Data;
  /** Errors of a well-shaped config: a 400 on saving. Fields are paths inside the config. */
  configErrors?(config: Config, rules: ConfigRules): Violation[];
  /**
   * Errors that need the database: a 400 on saving; it throws what has another status. `before` is the config that
   * this one replaces.
   */
  referenceErrors?(db: Db, projectId: string, config: Config, before: Config | undefined): Promise<Violation[]>;
  /** What keeps the workflow from being enabled. Each text continues a sentence that starts with the step's name. */
  violations(step: Step<Config>): string[];
  /** The same for what lies outside the step. */
  referenceViolations?(step: Step<Config>, context: EnablingContext): Promise<string[]> | string[];
  uses?(step: Step<Config>): Partial<StepUses>;
  run(step: Step<Config>, env: StepEnvironment): Promise<StepOutcome> | StepOutcome;
}

/** Erases the config's type for the table: configs are validated when they are saved, and trusted from then on. */
export const stepType = <Config extends object>(type: StepType<Config>): StepType => type as unknown as StepType;
