import { BaseModel } from './base.ts';

export class Domain extends BaseModel {
  static override tableName = 'domains';

  declare id: string;
  declare projectId: string;
  declare domain: string;
  declare status: 'PENDING' | 'VERIFIED';
  declare managed: boolean;
  declare verifiedAt: Date | null;
  declare lastCheckedAt: Date | null;
  declare updatedAt: Date;
}
