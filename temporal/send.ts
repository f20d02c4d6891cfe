import { isGrpcServiceError, ServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import {
  NamespaceNotFoundError,
  type SearchAttributePair,
  TypedSearchAttributes,
  WorkflowNotFoundError,
} from '@temporalio/common';
import type { Temporal } from './connection.ts';
import { type CronSchedule, removeSchedule, setCronSchedule } from './cron-schedules.ts';
import { grpcCodes } from './grpc-codes.ts';
import { attributeKeys } from './search-attributes.ts';
import { taskQueues } from './task-queues.ts';

/** An outbox message as Temporal needs it. */
export type Order = { workflowId: string } & (
  | {
      action: 'start';
      workflowType: string;
      args: unknown[];
      projectId?: string | undefined;
      contactId?: string | undefined;
      resourceId?: string | undefined;
      /** One line for operators, without personal data. */
      summary?: string | undefined;
      again?: boolean | undefined;
    }
  | { action: 'signal'; signal: string; args: unknown[] }
  | { action: 'cancel' }
  | ({ action: 'schedule' } & CronSchedule)
  | { action: 'unschedule' }
);

/** Only a failure that the message itself causes counts as an attempt of the message. */
export type CarryOutResult = { done: true } | { done: false; cause: 'message' | 'temporal'; message: string };

/** Sends one message to Temporal. Idempotent: a message that was sent before counts as done. */
export async function sendToTemporal(temporal: Temporal, order: Order): Promise<CarryOutResult> {
  try {
    await send(temporal, order);
    return { done: true };
  } catch (error) {
    return classifyError(order, error);
  }
}

async function send(temporal: Temporal, order: Order): Promise<unknown> {
  const { client } = temporal;
  if (order.action === 'schedule') return setCronSchedule(temporal, order.workflowId, order);
  if (order.action === 'unschedule') return removeSchedule(temporal, order.workflowId);
  if (order.action === 'start') {
    return client.workflow.start(order.workflowType, {
      workflowId: order.workflowId,
      taskQueue: taskQueues.workflows,
      args: order.args,
      // The default would start a completed id again.
      workflowIdReusePolicy: order.again ? 'ALLOW_DUPLICATE' : 'REJECT_DUPLICATE',
      // Operators look for executions; ids of other workflows contain project and row, and `STARTS_WITH` finds them.
      ...(order.workflowType === 'execution' && { typedSearchAttributes: attributesOf(order) }),
      ...(order.summary && { staticSummary: order.summary }),
    });
  }
  const handle = client.workflow.getHandle(order.workflowId);
  return order.action === 'signal' ? handle.signal(order.signal, ...order.args) : handle.cancel();
}

function attributesOf(order: { projectId?: string; contactId?: string; resourceId?: string } & object) {
  const pairs: SearchAttributePair[] = [];
  for (const name of ['projectId', 'contactId', 'resourceId'] as const) {
    const value = order[name];
    if (value) pairs.push({ key: attributeKeys[name], value });
  }
  return new TypedSearchAttributes(pairs);
}

/** Exported for its test. */
export function classifyError({ action }: Pick<Order, 'action'>, error: unknown): CarryOutResult {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return { done: true };
  // Messages of one workflow are sent in order, so a missing workflow has ended.
  if (error instanceof WorkflowNotFoundError && action !== 'start') return { done: true };
  return { done: false, cause: isCausedByMessage(error) ? 'message' : 'temporal', message: textOf(error) };
}

const messageErrorCodes: number[] = [grpcCodes.INVALID_ARGUMENT, grpcCodes.FAILED_PRECONDITION, grpcCodes.OUT_OF_RANGE];

function isCausedByMessage(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError || error instanceof WorkflowNotFoundError) return false;
  const cause = error instanceof ServiceError ? error.cause : error;
  // Neither a response nor a failed call: the message could not be serialized.
  if (!isGrpcServiceError(cause)) return !(error instanceof ServiceError);
  // A search attribute that is not registered (yet) is a problem of the namespace.
  if (/search attribute/i.test(cause.details)) return false;
  if (cause.code === grpcCodes.RESOURCE_EXHAUSTED) return /larger than max/i.test(cause.details);
  return messageErrorCodes.includes(cause.code);
}

function textOf(error: unknown): string {
  const cause = error instanceof ServiceError ? error.cause : undefined;
  if (isGrpcServiceError(cause)) return `${cause.message}`;
  return error instanceof Error ? error.message : String(error);
}
