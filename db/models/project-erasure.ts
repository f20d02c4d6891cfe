import { BaseModel } from './base.ts';

/** The erasure of a project's data, by a reset or a deletion. */
export class ProjectErasure extends BaseModel {
  static override tableName = 'project_erasures';

  declare id: string;
  declare projectId: string;
  declare kind: 'RESET' | 'DELETE';
  declare done: boolean;
  /** Rows so far: a bigint, which pg returns as text. */
  declare deleted: string;
  declare completedAt: Date | null;
}
