import type { Branch, Step } from './steps/step-type.ts';

export { exitsOf, type StepTypeName, stepTypeNames } from './steps/index.ts';
export { type Branch, branches, branchOf, MAX_BRANCH_LENGTH, type Step, type StepExit } from './steps/step-type.ts';

export interface Transition {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: Branch | null;
}

/** A version of a workflow as it is stored: immutable, and shared by the executions that run it. */
export interface Graph {
  steps: Step[];
  transitions: Transition[];
}
