import { BaseModel } from './base.ts';

export class Contact extends BaseModel {
  static override tableName = 'contacts';

  declare id: string;
  declare projectId: string;
  declare email: string;
  declare subscribed: boolean;
  declare data: Record<string, unknown>;
  declare updatedAt: Date;
}
