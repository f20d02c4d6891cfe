import type joi from 'joi';
import type { ContactRecord } from '../../../db/models/contact.ts';
import type { Fault } from '../../../platform/errors.ts';
import type { ParsedCondition } from '../../conditions/types.ts';
import type { Data } from '../../contacts/data.ts';
import type { Exit, Step, StepTypeName } from '../graph.ts';
import type { WebhookRequest } from '../webhook-call.ts';

/** What a step has come to. */
export type Outcome =
  | { kind: 'leave'; exit: Exit; status: 'COMPLETED' | 'SKIPPED'; output: Data | undefined }
  /** Then it leaves by `next`. */
  | { kind: 'sleep'; until: Date }
  /** It leaves by `event` or by `timeout`; without a time it waits for ever. */
  | { kind: 'wait'; event: string; until: Date | undefined }
  | { kind: 'webhook'; request: WebhookRequest }
  | { kind: 'end'; status: 'EXITED' | 'FAILED'; reason: string | null };

export const leaveBy = (exit: Exit, output?: Data): Outcome => ({ kind: 'leave', exit, status: 'COMPLETED', output });
export const skip = (reason: string): Outcome => ({
  kind: 'leave',
  exit: 'next',
  status: 'SKIPPED',
  output: { reason },
});
export const sleepUntil = (until: Date): Outcome => ({ kind: 'sleep', until });
export const waitFor = (event: string, until?: Date): Outcome => ({ kind: 'wait', event, until });
export const callWebhook = (request: WebhookRequest): Outcome => ({ kind: 'webhook', request });
export const exit = (reason: string | null): Outcome => ({ kind: 'end', status: 'EXITED', reason });
export const fail = (reason: string): Outcome => ({ kind: 'end', status: 'FAILED', reason });

export interface StepMail {
  templateId: string;
  from?: string | undefined;
  fromName?: string | undefined;
  replyTo?: string | undefined;
  /** Somebody else than the contact. */
  to?: string | undefined;
}

export type MailResult = { emailId: string } | { skipped: string } | { failed: string };

/**
 * The world as a step sees it, and all that it may do to it: the database where executions run, a recorder where they
 * are simulated.
 */
export interface Run {
  readonly now: Date;
  readonly contact: ContactRecord;
  readonly context: Data;
  readonly workflow: { id: string; name: string };
  readonly execution: { id: string };
  sendEmail(mail: StepMail): Promise<MailResult>;
  /** Why it could not be done, or nothing. */
  updateContact(change: { data: Data; subscribed: boolean | undefined }): Promise<{ refused?: string }>;
  decide(condition: ParsedCondition): Promise<boolean>;
  /** Fills variables into texts, which stay what they are: nothing is escaped. */
  render(texts: string[]): Promise<string[]>;
}

/** What a step names, for whoever asks where a template, field, event or segment is used. */
export interface StepUses {
  templates: string[];
  /** As in conditions: `email`, `data.<key>`. */
  fields: string[];
  events: string[];
  segments: string[];
}

/** A type of step: one file, one entry in the table. */
export interface StepType<Config = Data> {
  type: StepTypeName;
  /** In the order of drawing. A transition without a branch serves those of a wait that have none of their own. */
  exits: readonly Exit[];
  /** The shape of its config: what breaks it is a 422 on saving. Unknown keys are kept. */
  config: joi.ObjectSchema;
  /** What of a well-shaped config is refused with 400 on saving. Fields are paths inside the config. */
  refusals?(config: Config): Fault[];
  /** What keeps the workflow from being enabled, in words that go on from the step's name. */
  faults(step: Step<Config>): string[];
  uses?(step: Step<Config>): Partial<StepUses>;
  run(step: Step<Config>, run: Run): Promise<Outcome> | Outcome;
}

/** For the table: configs are checked when they are saved, and trusted from then on. */
export const stepType = <Config extends object>(type: StepType<Config>): StepType => type as unknown as StepType;
