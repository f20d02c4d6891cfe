import type { Db } from '../../db/connect.ts';
import { Template } from '../../db/models/template.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import { badRequest } from '../../platform/errors.ts';
import type { Graph } from './graph.ts';
import { stepTypeOf } from './steps/index.ts';
import { entriesOf } from './walk.ts';

/** A reason why a workflow cannot be enabled. */
export interface GraphViolation {
  /** Null when it concerns the whole workflow. */
  stepId: string | null;
  message: string;
}

/** Returns all violations of a graph, so that they can be corrected together. */
export async function graphViolations(db: Db, projectId: string, graph: Graph): Promise<GraphViolation[]> {
  const context = { db, projectId, templates: await templatesOf(db, projectId, graph) };
  const violations = shapeViolations(graph);
  for (const step of graph.steps) {
    const type = stepTypeOf(step);
    const messages = [...type.violations(step), ...((await type.referenceViolations?.(step, context)) ?? [])];
    violations.push(...messages.map((message) => ({ stepId: step.id, message: `"${step.name}" ${message}` })));
  }
  return violations;
}

export function triggerViolations({
  triggerType,
  triggerConfig,
}: Pick<Workflow, 'triggerType' | 'triggerConfig'>): GraphViolation[] {
  if (triggerType === 'EVENT' && !triggerConfig.eventName) return ofWorkflow('the trigger needs an event');
  if (triggerType === 'SCHEDULE' && !triggerConfig.cron) return ofWorkflow('the trigger needs a schedule');
  return [];
}

export function requireNoViolations(
  violations: GraphViolation[],
  verb: 'enabled' | 'run' | 'published' = 'enabled',
): void {
  if (violations.length === 0) return;
  const errors = violations.map(({ stepId, message }) => ({
    field: stepId ? `steps.${stepId}` : 'workflow',
    message,
    code: 'custom' as const,
  }));
  throw badRequest(`The workflow cannot be ${verb}: ${violations.map(({ message }) => message).join('; ')}.`, {
    errors,
    details: { faults: violations },
  });
}

const ofWorkflow = (message: string): GraphViolation[] => [{ stepId: null, message }];

function shapeViolations(graph: Graph): GraphViolation[] {
  const entries = entriesOf(graph);
  if (graph.steps.length === 0) return ofWorkflow('there are no steps');
  if (entries.length === 0) return ofWorkflow('there is no first step: every step has an incoming transition');
  if (entries.length === 1) return [];
  const names = entries.map(({ name }) => `"${name}"`).join(', ');
  return ofWorkflow(`there must be exactly one first step, but ${names} have no incoming transition`);
}

async function templatesOf(db: Db, projectId: string, { steps }: Graph): Promise<Map<string, Template>> {
  const ids = new Set(steps.flatMap((step) => stepTypeOf(step).uses?.(step).templates ?? []));
  const found =
    ids.size === 0
      ? []
      : await Template.query(db)
          .where({ projectId })
          .whereIn('id', [...ids]);
  return new Map(found.map((template) => [template.id, template]));
}
