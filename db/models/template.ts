import { BaseModel } from './base.ts';

export const templateTypes = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const;
export type TemplateType = (typeof templateTypes)[number];

export class Template extends BaseModel {
  static override tableName = 'templates';

  declare id: string;
  declare projectId: string;
  declare name: string;
  declare description: string | null;
  declare subject: string;
  declare body: string;
  declare fromEmail: string | null;
  declare fromName: string | null;
  declare replyTo: string | null;
  declare type: TemplateType;
  /** The number of its newest version. */
  declare version: number;
  declare updatedAt: Date;
}
