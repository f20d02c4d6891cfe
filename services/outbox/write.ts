import { type Db, wake } from '../../db/connect.ts';
import type { OutboxQueue } from '../../db/models/outbox-row.ts';
import { statement } from '../../db/statement.ts';

/** What Temporal is to do, as far as it stands in a row's payload. */
export type Action =
  | {
      action: 'start';
      workflowType: string;
      args: unknown[];
      contactId?: string;
      resourceId?: string;
      summary?: string;
      /** A run of this id has been lost: another may follow it. */
      again?: boolean;
    }
  /** Signals carry no state: they say "look at your row again", so order and repetition do not matter. */
  | { action: 'signal'; signal: string; args?: unknown[] }
  | { action: 'cancel' }
  /** Of a Temporal Schedule: made, or changed to this. */
  | {
      action: 'schedule';
      cron: string;
      timezone: string;
      paused: boolean;
      workflowType: string;
      args: unknown[];
      resourceId?: string;
    }
  | { action: 'unschedule' };

export type Intent = Action & { queue: OutboxQueue; projectId: string; workflowId: string };

const insert = statement(
  'outbox-intend',
  `insert into outbox (queue, project_id, workflow_id, action, payload)
   values ($1::text, $2::uuid, $3::text, $4::text, $5::jsonb)`,
);

/**
 * Writes down what Temporal shall do, in the transaction of the change that it belongs to. Call it after the row that
 * it is about is locked: rows of one workflow are carried out by their numbers, and those are given out here.
 */
export async function writeOutboxMessage(trx: Db, { queue, projectId, workflowId, ...action }: Intent): Promise<void> {
  await insert(trx, [queue, projectId, workflowId, action.action, payloadOf(action)]);
  wake(trx, queue);
}

export function payloadOf({ action: _, ...payload }: Action): string {
  return JSON.stringify(payload);
}
