import { BaseModel } from './base.ts';

export const queues = ['mail', 'control', 'events', 'starts'] as const;
/** Lanes are worked on side by side, so that a flood in one never holds up another. */
export type OutboxQueue = (typeof queues)[number];

/** An intent towards Temporal, written in the transaction of the change that it belongs to. */
export class OutboxRow extends BaseModel {
  static override tableName = 'outbox';

  /** A bigint: pg gives it as text. */
  declare id: string;
  declare queue: OutboxQueue;
  declare projectId: string;
  declare workflowId: string;
  declare action: 'start' | 'signal' | 'cancel' | 'schedule' | 'unschedule';
  declare payload: Record<string, unknown>;
  declare attempts: number;
  declare dueAt: Date;
  declare parkedAt: Date | null;
  declare lastError: string | null;
}
