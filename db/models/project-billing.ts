import { BaseModel } from './base.ts';

/** The account of a project at Stripe, and its billing limits. */
export class ProjectBilling extends BaseModel {
  static override tableName = 'project_billing';
  static override idColumn = 'projectId';
  static override jsonAttributes = ['warned'];

  declare projectId: string;
  declare customerId: string | null;
  declare subscriptionId: string | null;
  declare subscriptionStatus: string | null;
  declare periodStart: Date | null;
  declare periodEnd: Date | null;
  /** Of the newest Stripe event that was applied; older ones that arrive late are ignored. */
  declare eventAt: Date | null;
  /** False while billing is turned off. */
  declare inForce: boolean;
  declare capTransactional: number | null;
  declare capCampaigns: number | null;
  declare capWorkflows: number | null;
  /** By category: the last mark that members were warned of. */
  declare warned: Record<string, string>;
  declare updatedAt: Date;
}

/** Usage that is or will be reported to Stripe. */
export class BillingReport extends BaseModel {
  static override tableName = 'billing_reports';

  declare id: string;
  declare projectId: string;
  declare customerId: string;
  /** A bigint, which pg returns as text. */
  declare count: string;
  declare lastError: string | null;
  declare reportedAt: Date | null;
}
