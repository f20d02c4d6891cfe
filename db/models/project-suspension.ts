import { BaseModel } from './base.ts';

/** A time in which a project was disabled. */
export class ProjectSuspension extends BaseModel {
  static override tableName = 'project_suspensions';

  declare id: string;
  declare projectId: string;
  declare reason: string;
  /** By the limits of bounces and complaints. */
  declare automatic: boolean;
  declare disabledAt: Date;
  /** Null while it lasts. */
  declare enabledAt: Date | null;
}
