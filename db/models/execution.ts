import { BaseModel } from './base.ts';

export const executionStatuses = ['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];
export type ExecutionStepStatus = 'RUNNING' | 'WAITING' | 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'CANCELLED';

/** One contact's way through one version of a workflow. */
export class Execution extends BaseModel {
  static override tableName = 'executions';
  static override jsonAttributes = ['context'];

  declare id: string;
  declare projectId: string;
  declare workflowId: string;
  declare version: number;
  declare contactId: string;
  declare status: ExecutionStatus;
  declare currentStepId: string | null;
  /** The number of the current step on the way: 1 is the first step taken. */
  declare visit: number;
  declare context: Record<string, unknown>;
  /** A wait ignores events up to this position. A bigint, which pg returns as text. */
  declare afterPosition: string;
  declare wakeAt: Date | null;
  declare awaitedEvent: string | null;
  declare depth: number;
  declare generation: number;
  declare oncePerContact: boolean;
  declare exitReason: string | null;
  declare error: string | null;
  declare startedAt: Date;
  declare completedAt: Date | null;
  declare updatedAt: Date;
}

/** The result of one visit of a step. */
export class ExecutionStep extends BaseModel {
  static override tableName = 'execution_steps';
  static override jsonAttributes = ['output', 'request'];

  declare id: string;
  declare projectId: string;
  declare executionId: string;
  declare visit: number;
  declare stepId: string;
  declare type: string;
  declare name: string;
  declare status: ExecutionStepStatus;
  declare branch: string | null;
  declare output: Record<string, unknown> | null;
  declare error: string | null;
  declare attempt: number;
  declare request: Record<string, unknown> | null;
  declare scheduledFor: Date | null;
  declare startedAt: Date;
  declare completedAt: Date | null;
}
