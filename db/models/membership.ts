import { BaseModel } from './base.ts';

export type Role = 'MEMBER' | 'ADMIN' | 'OWNER';

export class Membership extends BaseModel {
  static override tableName = 'memberships';
  static override idColumn = ['project_id', 'user_id'];

  declare projectId: string;
  declare userId: string;
  declare role: Role;
}
