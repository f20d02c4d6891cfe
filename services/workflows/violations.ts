import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import { badRequest } from '../../platform/errors.ts';
import { referenceViolations } from '../segments/references.ts';
import type { Graph, Step } from './graph.ts';
import { parseConditionConfig } from './steps/condition.ts';
import { stepTypes } from './steps/index.ts';
import { type SendEmailConfig, templateOf } from './steps/send-email.ts';
import { entriesOf } from './walk.ts';

/** What keeps a workflow from being started. */
export interface GraphViolation {
  /** Of the step that it is about; null when it is about the whole. */
  stepId: string | null;
  message: string;
}

/** Everything that is wrong with a graph, so that it can be put right at one go. */
export async function graphViolations(db: Db, projectId: string, graph: Graph): Promise<GraphViolation[]> {
  const templates = await templatesOf(db, projectId, graph);
  const faults = shapeFaults(graph);
  for (const step of graph.steps) {
    const own = [...stepTypes[step.type].faults(step), ...(await outsideFaults(db, projectId, step, templates))];
    faults.push(...own.map((fault) => ({ stepId: step.id, message: `"${step.name}" ${fault}` })));
  }
  return faults;
}

export function triggerViolations({ triggerType, triggerConfig }: Workflow): GraphViolation[] {
  const about = (message: string) => [{ stepId: null, message }];
  if (triggerType === 'EVENT' && !triggerConfig.eventName)
    return about('the trigger does not say which event starts it');
  if (triggerType === 'SCHEDULE' && !triggerConfig.cron) return about('the trigger does not say when it starts');
  return [];
}

export function requireNoFaults(faults: GraphViolation[], verb: 'enabled' | 'run' = 'enabled'): void {
  if (faults.length === 0) return;
  const errors = faults.map(({ stepId, message }) => ({
    field: stepId ? `steps.${stepId}` : 'workflow',
    message,
    code: 'custom' as const,
  }));
  throw badRequest(`The workflow cannot be ${verb}: ${faults.map(({ message }) => message).join('; ')}.`, {
    errors,
    details: { faults },
  });
}

function shapeFaults(graph: Graph): GraphViolation[] {
  const entries = entriesOf(graph);
  const about = (message: string) => [{ stepId: null, message }];
  if (graph.steps.length === 0) return about('there are no steps');
  if (entries.length === 0) return about('there is no step to begin with: a transition leads to each of them');
  if (entries.length === 1) return [];
  const names = entries.map(({ name }) => `"${name}"`).join(', ');
  return about(`there must be one step to begin with, and no transition leads to ${names}`);
}

type Templates = Map<string, Template>;

async function templatesOf(db: Db, projectId: string, { steps }: Graph): Promise<Templates> {
  const ids = new Set(steps.flatMap((step) => stepTypes[step.type].uses?.(step).templates ?? []));
  const found =
    ids.size === 0
      ? []
      : await Template.query(db)
          .where({ projectId })
          .whereIn('id', [...ids]);
  return new Map(found.map((template) => [template.id, template]));
}

/** What a step needs that is not its own. */
async function outsideFaults(db: Db, projectId: string, step: Step, templates: Templates): Promise<string[]> {
  if (step.type === 'SEND_EMAIL') return mailFaults(step as Step<SendEmailConfig>, templates);
  if (step.type !== 'CONDITION') return [];
  const { parsed } = parseConditionConfig(step.config);
  const faults = parsed ? await referenceViolations(db, projectId, parsed, '') : [];
  return faults.map(({ message }) => `has a fault: ${message}`);
}

function mailFaults(step: Step<SendEmailConfig>, templates: Templates): string[] {
  const templateId = templateOf(step);
  if (!templateId) return [];
  const template = templates.get(templateId);
  if (!template) return ['uses a template that is not there'];
  return template.fromEmail || step.config.from ? [] : ['has no sender: neither it nor its template says from whom'];
}
