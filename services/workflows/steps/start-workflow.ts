import joi from 'joi';
import type { Db } from '../../../db/connect.ts';
import { Workflow } from '../../../db/models/workflow.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Data } from '../../contacts/data.ts';
import { failStep, leaveBy, type StepType, skip } from './step-type.ts';

export interface StartWorkflowConfig {
  workflowId?: string;
  /** Without it the execution's own context is passed on. */
  context?: Data;
}

export const startWorkflowStep: StepType<StartWorkflowConfig> = {
  type: 'START_WORKFLOW',
  label: 'Start workflow',
  description: 'Starts another workflow for the contact, and continues here.',
  exits: ['next'],
  config: joi
    .object({
      workflowId: joi.string().guid({ separator: '-', wrapper: false }),
      context: joi.object().unknown(),
    })
    .unknown(),
  referenceErrors: async (db, projectId, { workflowId }, before) => {
    const isNew = workflowId !== undefined && workflowId !== before?.workflowId;
    if (isNew && !(await exists(db, projectId, workflowId))) throw notFound('workflow', 'WORKFLOW_NOT_FOUND');
    return [];
  },
  violations: ({ config }) => (config.workflowId ? [] : ['has no workflow to start']),
  referenceViolations: async ({ config: { workflowId } }, { db, projectId }) =>
    !workflowId || (await exists(db, projectId, workflowId)) ? [] : ['starts a workflow that does not exist'],
  run: async ({ config: { workflowId, context } }, env) => {
    if (!workflowId) return failStep('the step has no workflow to start');
    const result = await env.startWorkflow(workflowId, context ?? env.context);
    if ('failed' in result) return failStep(result.failed);
    return 'skipped' in result ? skip(result.skipped) : leaveBy('next', { executionId: result.executionId });
  },
};

const exists = async (db: Db, projectId: string, id: string): Promise<boolean> =>
  (await Workflow.query(db).findOne({ projectId, id }).select('id')) !== undefined;
