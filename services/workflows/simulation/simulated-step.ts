import type { Data } from '../../contacts/data.ts';
import type { ExplainedFilter } from '../explained.ts';
import type { Branch, Step } from '../graph.ts';
import type { WebhookRequest } from '../webhook-call.ts';
import type { SimulatedEmail } from './recorder.ts';

/** A visit of a step with its result and the reason for it. */
export interface SimulatedStep {
  visit: number;
  step: Step;
  status: 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'WAITING';
  branch: Branch | null;
  /** Why the step had this result, in words. */
  reason: string | null;
  /** The result of each filter of a condition. */
  filters: ExplainedFilter[] | null;
  output: Data | null;
  scheduledFor: Date | null;
  enteredAt: Date;
  leftAt: Date | null;
  email: SimulatedEmail | null;
  webhook: SimulatedRequest | null;
}

/** The body is null when the answer had no room for it. */
export type SimulatedRequest = Omit<WebhookRequest, 'body'> & { body: string | null };
