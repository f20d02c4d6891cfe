import { type Db, wake } from '../../db/connect.ts';
import type { OutboxQueue } from '../../db/models/outbox-queue.ts';
import { statement } from '../../db/statement.ts';

/** A request to Temporal: the column `action` with the payload of the row. */
export type Action =
  | {
      action: 'start';
      workflowType: string;
      args: unknown[];
      contactId?: string;
      resourceId?: string;
      summary?: string;
      /** Allows a second run under this id, because the first was lost. */
      again?: boolean;
    }
  /** Signals carry no state, so order and repetition do not matter. */
  | { action: 'signal'; signal: string; args?: unknown[] }
  | { action: 'cancel' }
  /** Creates or replaces a Temporal Schedule. */
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

export type OutboxMessage = Action & { queue: OutboxQueue; projectId: string; workflowId: string };

const insert = statement(
  'outbox-write',
  `insert into outbox (queue, project_id, workflow_id, action, payload)
   values ($1::text, $2::uuid, $3::text, $4::text, $5::jsonb)`,
);

/**
 * Writes an outbox message in the transaction of the change that it belongs to. Call it after locking the row that it
 * concerns: messages of one Temporal workflow are executed in the order of their ids, which are assigned here.
 */
export async function writeOutboxMessage(
  trx: Db,
  { queue, projectId, workflowId, ...action }: OutboxMessage,
): Promise<void> {
  await insert(trx, [queue, projectId, workflowId, action.action, payloadOf(action)]);
  wake(trx, queue);
}

export function payloadOf({ action: _, ...payload }: Action): string {
  return JSON.stringify(payload);
}
