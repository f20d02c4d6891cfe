import { BaseModel } from './base.ts';

export class Event extends BaseModel {
  static override tableName = 'events';

  declare id: string;
  declare projectId: string;
  declare contactId: string;
  declare name: string;
  declare data: Record<string, unknown>;
  declare emailId: string | null;
  declare position: string;
  declare depth: number;
  declare createdAt: Date;
}
