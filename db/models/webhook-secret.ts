import { BaseModel } from './base.ts';

/** The secret that signs the WEBHOOK steps of a project. */
export class WebhookSecret extends BaseModel {
  static override tableName = 'webhook_secrets';
  static override idColumn = 'projectId';

  declare projectId: string;
  declare sealed: string;
  declare updatedAt: Date;
}
