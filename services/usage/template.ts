import type { Db } from '../../db/connect.ts';
import { findTemplate } from '../templates/find.ts';
import { campaignsWithTemplate } from './in-campaigns.ts';
import { stepsWithTemplate, type TemplateStep } from './in-workflows.ts';

export interface TemplateUsage {
  campaigns: { id: string; name: string; status: string }[];
  workflowSteps: TemplateStep[];
  /** False when a step uses it. A campaign has its own copy of the body. */
  canDelete: boolean;
}

export async function templateUsage(db: Db, projectId: string, id: string): Promise<TemplateUsage> {
  const template = await findTemplate(db, projectId, id);
  return usageOf(db, projectId, template.id);
}

/** Every use of a template must be listed here. */
export async function usageOf(db: Db, projectId: string, id: string): Promise<TemplateUsage> {
  const [campaigns, workflowSteps] = await Promise.all([
    campaignsWithTemplate(db, projectId, id),
    stepsWithTemplate(db, projectId, id),
  ]);
  return { campaigns, workflowSteps, canDelete: workflowSteps.length === 0 };
}
