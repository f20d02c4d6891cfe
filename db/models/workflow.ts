import { BaseModel } from './base.ts';

export const triggerTypes = ['EVENT', 'MANUAL', 'SCHEDULE'] as const;
export type TriggerType = (typeof triggerTypes)[number];

export interface TriggerConfig {
  eventName?: string;
  cron?: string;
  timezone?: string;
  segmentId?: string | null;
}

export class Workflow extends BaseModel {
  static override tableName = 'workflows';
  static override jsonAttributes = ['triggerConfig'];

  declare id: string;
  declare projectId: string;
  declare name: string;
  declare description: string | null;
  declare triggerType: TriggerType;
  declare triggerConfig: TriggerConfig;
  declare enabled: boolean;
  declare allowReentry: boolean;
  /** The newest version. */
  declare version: number;
  /** The newest version that executions may start on. */
  declare validVersion: number | null;
  /** Of the newest draft. Never falls. */
  declare draftRevision: number;
  declare updatedAt: Date;
}

/** A graph as it was at one time. Only positions of steps change, and only in the newest one. */
export class WorkflowVersion extends BaseModel {
  static override tableName = 'workflow_versions';
  static override idColumn = ['workflowId', 'version'];
  static override jsonAttributes = ['graph', 'triggerConfig'];

  declare workflowId: string;
  declare version: number;
  declare graph: Record<string, unknown>;
  declare templateIds: string[];
  /** Null when single-step edits made it. */
  declare publishedAt: Date | null;
  declare publishedBy: string | null;
  declare note: string | null;
  declare triggerType: TriggerType | null;
  declare triggerConfig: TriggerConfig | null;
  declare allowReentry: boolean | null;
}

/** Changes of a workflow that are not live yet. Null: as the workflow has it. */
export class WorkflowDraftRow extends BaseModel {
  static override tableName = 'workflow_drafts';
  static override idColumn = 'workflowId';
  static override jsonAttributes = ['triggerConfig', 'graph'];

  declare workflowId: string;
  declare projectId: string;
  declare baseVersion: number;
  declare triggerType: TriggerType | null;
  declare triggerConfig: TriggerConfig | null;
  declare allowReentry: boolean | null;
  declare graph: object;
  declare updatedAt: Date;
  declare updatedBy: string | null;
}

/** A published version that executions move to, and how far that got. */
export class WorkflowMove extends BaseModel {
  static override tableName = 'workflow_moves';
  static override idColumn = ['workflowId', 'version'];

  declare workflowId: string;
  declare version: number;
  declare projectId: string;
  declare lastId: string;
  declare moved: number;
  declare finishedAt: Date | null;
}

/** A deleted workflow with executions that are still to be deleted. */
export class WorkflowRemoval extends BaseModel {
  static override tableName = 'workflow_removals';
  static override idColumn = 'workflowId';

  declare workflowId: string;
}
