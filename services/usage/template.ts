import type { Db } from '../../db/connect.ts';
import { findTemplate } from '../templates/find.ts';
import { campaignsWithTemplate } from './in-campaigns.ts';
import { stepsWithTemplate, type TemplateStep } from './in-workflows.ts';

export interface TemplateUsage {
  campaigns: { id: string; name: string; status: string }[];
  workflowSteps: TemplateStep[];
  /** A campaign has a body of its own, which once came from the template; a step needs it each time. */
  canDelete: boolean;
}

export async function templateUsage(db: Db, projectId: string, id: string): Promise<TemplateUsage> {
  const template = await findTemplate(db, projectId, id);
  return usageOf(db, projectId, template.id);
}

/** Whoever gives templates a new use adds it here. */
export async function usageOf(db: Db, projectId: string, id: string): Promise<TemplateUsage> {
  const [campaigns, workflowSteps] = await Promise.all([
    campaignsWithTemplate(db, projectId, id),
    stepsWithTemplate(db, projectId, id),
  ]);
  return { campaigns, workflowSteps, canDelete: workflowSteps.length === 0 };
}
