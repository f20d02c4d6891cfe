import type { Db } from '../../../db/connect.ts';
import { ApiError } from '../../../platform/errors.ts';
import { refusalOfConnection } from '../connections.ts';
import type { DraftGraph, DraftStep } from '../graph.ts';
import { configErrorsOf, requireReferences, type StepRules } from '../step-config.ts';
import type { Trigger } from '../trigger.ts';
import { type GraphViolation, graphViolations, triggerViolations } from '../violations.ts';

/**
 * Returns everything that keeps a draft from being published: what the single-step routes refuse on saving, and what keeps
 * a workflow from being enabled. `live` has the steps of the newest version: what they have is not refused again.
 */
export async function draftFaults(
  db: Db,
  projectId: string,
  { trigger, graph, live }: { trigger: Trigger; graph: DraftGraph; live: DraftStep[] },
  rules: Pick<StepRules, 'webhookAllowedHosts'>,
): Promise<GraphViolation[]> {
  const faults: GraphViolation[] = [...triggerViolations(trigger), ...connectionFaults(graph)];
  for (const step of graph.steps) {
    const before = live.find(({ id, type }) => id === step.id && type === step.type)?.config;
    const errors = configErrorsOf(step.type, step.config, rules).map(({ message }) => message);
    const messages = errors.length > 0 ? errors : await referenceFaults(db, projectId, step, before);
    faults.push(...messages.map((message) => ({ stepId: step.id, message: `"${step.name}" is invalid: ${message}` })));
  }
  const known = new Set(faults.map(({ message }) => message));
  const violations = await graphViolations(db, projectId, graph);
  return [...faults, ...violations.filter(({ message }) => !known.has(message))];
}

async function referenceFaults(
  db: Db,
  projectId: string,
  step: DraftStep,
  before: DraftStep['config'] | undefined,
): Promise<string[]> {
  try {
    await requireReferences(db, projectId, step, before);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { errors = [] } = error.extras;
    return errors.length > 0 ? errors.map(({ message }) => message) : [error.message];
  }
}

/** Adds the transitions one by one, as an editor would. */
function connectionFaults(graph: DraftGraph): GraphViolation[] {
  const drawn: DraftGraph = { steps: graph.steps, transitions: [] };
  return graph.transitions.flatMap((transition) => {
    const refusal = refusalOfConnection(drawn, transition);
    if (!refusal) drawn.transitions.push(transition);
    return refusal ? [{ stepId: transition.fromStepId, message: `a transition is not allowed: ${refusal}` }] : [];
  });
}
