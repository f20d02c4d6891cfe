import { BaseModel } from './base.ts';

export type Role = 'VIEWER' | 'MEMBER' | 'ADMIN' | 'OWNER';

export class Membership extends BaseModel {
  static override tableName = 'memberships';
  static override idColumn = ['projectId', 'userId'];

  declare projectId: string;
  declare userId: string;
  declare role: Role;
  declare status: 'ACTIVE' | 'PENDING';
}
