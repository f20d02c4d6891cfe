import type { Db } from '../../db/connect.ts';
import { findTemplate } from '../templates/find.ts';
import { campaignsWithTemplate } from './in-campaigns.ts';
import { type ConfirmationUser, confirmationsWithTemplate } from './in-confirmations.ts';
import { stepsWithTemplate, type TemplateStep } from './in-workflows.ts';

export interface TemplateUsage {
  campaigns: { id: string; name: string; status: string }[];
  workflowSteps: TemplateStep[];
  /** Forms and topics whose confirmation email it is; left out where there are none. */
  confirmations?: ConfirmationUser[];
  /** False when a step, a form or a topic uses it. A campaign has its own copy of the body. */
  canDelete: boolean;
}

export async function templateUsage(db: Db, projectId: string, id: string): Promise<TemplateUsage> {
  const template = await findTemplate(db, projectId, id);
  return usageOf(db, projectId, template.id);
}

/** Every use of a template must be listed here. */
export async function usageOf(db: Db, projectId: string, id: string): Promise<TemplateUsage> {
  const [campaigns, workflowSteps, confirmations] = await Promise.all([
    campaignsWithTemplate(db, projectId, id),
    stepsWithTemplate(db, projectId, id),
    confirmationsWithTemplate(db, projectId, id),
  ]);
  const isConfirmation = confirmations.length > 0;
  return {
    campaigns,
    workflowSteps,
    ...(isConfirmation && { confirmations }),
    canDelete: workflowSteps.length === 0 && !isConfirmation,
  };
}
