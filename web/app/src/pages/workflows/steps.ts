import type { Workflow, WorkflowDetail, WorkflowStep } from '../../api/types.ts';
import { t } from '../../texts/index.ts';

/** The slug of the segment that people enter to start a workflow. */
export const enteredSegment = ({ triggerType, triggerConfig }: Pick<Workflow, 'triggerType' | 'triggerConfig'>) =>
  triggerType === 'EVENT' ? /^segment\.(.+)\.entry$/.exec(triggerConfig.eventName ?? '')?.[1] : undefined;

export const typeName = (type: string): string => (t.workflows.types as Record<string, string>)[type] ?? type;

export const branchName = (branch: string): string =>
  (t.workflows.branches as Record<string, string>)[branch] ?? branch;

/** Orders the steps as a reader follows them: from the first one along each branch, then what nothing leads to. */
export function inOrder({ steps, transitions }: Pick<WorkflowDetail, 'steps' | 'transitions'>): WorkflowStep[] {
  const reached = new Set(transitions.map(({ toStepId }) => toStepId));
  const ordered = new Set<WorkflowStep>();
  const follow = (step: WorkflowStep | undefined): void => {
    const waiting = [step];
    while (waiting.length > 0) {
      const next = waiting.shift();
      if (!next || ordered.has(next)) continue;
      ordered.add(next);
      const exits = transitions.filter(({ fromStepId }) => fromStepId === next.id);
      waiting.unshift(...exits.map(({ toStepId }) => steps.find(({ id }) => id === toStepId)));
    }
  };
  for (const step of steps) if (!reached.has(step.id)) follow(step);
  for (const step of steps) follow(step);
  return [...ordered];
}
