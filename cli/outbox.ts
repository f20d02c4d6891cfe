import type { Db } from '../db/connect.ts';
import { ApiError } from '../platform/errors.ts';
import { retryAllParkedMessages, retryParkedMessage } from '../services/operators/outbox.ts';
import { listParkedMessages, type ParkedMessage } from '../services/outbox/parked.ts';
import { withDb } from './environment.ts';
import type { CommandResult } from './output.ts';

/** Lists the outbox messages that failed too often and wait for an operator. */
export async function outboxParked(): Promise<CommandResult> {
  return withDb(async (db) => {
    const { messages } = await listParkedMessages(db);
    return {
      lines: messages.length > 0 ? messages.flatMap(linesOf) : ['No message is parked.'],
      json: { messages: messages.map(({ projectId: _projectId, ...message }) => message) },
    };
  });
}

const linesOf = ({ id, queue, workflowId, action, attempts, lastError, parkedAt }: ParkedMessage): string[] => [
  `${id} ${queue} ${action} ${workflowId}`,
  `  parked since ${parkedAt.toISOString()} after ${attempts} attempts: ${lastError ?? 'no error recorded'}`,
];

/** Gives one parked message, or all of them, another full round of attempts. */
export async function outboxRetry(id: string | undefined, { all = false }: { all?: boolean }): Promise<CommandResult> {
  if ((id === undefined) === !all) throw new Error('Name the id of one message, or --all.');
  if (id !== undefined && !/^[0-9]{1,18}$/.test(id)) throw new Error(`"${id}" is no id of a message.`);
  return withDb(async (db) => {
    const retried = id === undefined ? await retryAllParkedMessages(db) : await retryOne(db, id);
    return {
      lines: [`${retried} ${retried === 1 ? 'message is' : 'messages are'} retried now`],
      json: { retried },
    };
  });
}

async function retryOne(db: Db, id: string): Promise<number> {
  await retryParkedMessage(db, id).catch((error: unknown) => {
    throw error instanceof ApiError && error.status === 404 ? new Error(`No message ${id} is parked.`) : error;
  });
  return 1;
}
