import { BaseModel } from './base.ts';

export const viewPages = ['contacts', 'emails', 'executions', 'campaigns'] as const;
export type ViewPage = (typeof viewPages)[number];

/** Filters and columns of a list of the web application. */
export class View extends BaseModel {
  static override tableName = 'views';
  static override jsonAttributes = ['filters', 'columns'];

  declare id: string;
  declare projectId: string;
  declare name: string;
  declare page: ViewPage;
  declare filters: Record<string, unknown>;
  declare columns: string[];
  declare createdBy: string | null;
}
