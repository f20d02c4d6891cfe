import type { MailDocument } from '../../platform/mail-document/index.ts';
import { BaseModel } from './base.ts';

export const templateTypes = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const;
export type TemplateType = (typeof templateTypes)[number];

export class Template extends BaseModel {
  static override tableName = 'templates';
  static override jsonAttributes = ['document'];

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
  declare topicId: string | null;
  /** What the body was rendered from; null for a body that was written as HTML. */
  declare document: MailDocument | null;
  /** Null exactly when there is no document. */
  declare rendererVersion: number | null;
  /** The saved blocks that the document names. */
  declare savedBlockIds: string[];
  /** The number of its newest version. */
  declare version: number;
  /** Rises with every change of the template and of its draft. */
  declare revision: number;
  declare updatedAt: Date;
}

/** A template as it was saved. */
export class TemplateVersionRow extends BaseModel {
  static override tableName = 'template_versions';
  static override idColumn = ['templateId', 'version'];
  static override jsonAttributes = ['document'];

  declare templateId: string;
  declare version: number;
  declare projectId: string;
  declare name: string;
  declare description: string | null;
  declare subject: string;
  declare body: string;
  declare document: MailDocument | null;
  declare rendererVersion: number | null;
  declare fromEmail: string | null;
  declare fromName: string | null;
  declare replyTo: string | null;
  declare type: TemplateType;
  declare savedAt: Date;
  declare savedBy: string | null;
  declare savedBySystem: boolean;
}
