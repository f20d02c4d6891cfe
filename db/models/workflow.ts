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

/** A step as it is edited. Executions use the graph of their version. */
export class WorkflowStep extends BaseModel {
  static override tableName = 'workflow_steps';
  static override idColumn = ['workflowId', 'id'];
  static override jsonAttributes = ['position', 'config'];

  declare id: string;
  declare projectId: string;
  declare workflowId: string;
  /** A key of the table in `services/workflows/steps/index.ts`. */
  declare type: string;
  declare name: string;
  declare position: { x: number; y: number };
  declare config: Record<string, unknown>;
  declare templateId: string | null;
  declare updatedAt: Date;
}

export class WorkflowTransition extends BaseModel {
  static override tableName = 'workflow_transitions';

  declare id: string;
  declare projectId: string;
  declare workflowId: string;
  declare fromStepId: string;
  declare toStepId: string;
  declare branch: string | null;
}

/** A graph as it was at one time. Never changes. */
export class WorkflowVersion extends BaseModel {
  static override tableName = 'workflow_versions';
  static override idColumn = ['workflow_id', 'version'];
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
