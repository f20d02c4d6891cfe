import type { Data } from '../contacts/data.ts';

export const stepTypeNames = [
  'SEND_EMAIL',
  'DELAY',
  'WAIT_FOR_EVENT',
  'CONDITION',
  'WEBHOOK',
  'UPDATE_CONTACT',
  'EXIT',
] as const;
export type StepTypeName = (typeof stepTypeNames)[number];

export const branches = ['yes', 'no', 'event', 'timeout'] as const;
export type Branch = (typeof branches)[number];

/** How a step is left. What leaves by `next` takes the transition without a branch. */
export type Exit = 'next' | Branch;

export interface Step<Config = Data> {
  id: string;
  type: StepTypeName;
  name: string;
  config: Config;
  templateId: string | null;
}

export interface Transition {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: Branch | null;
}

/** A version of a workflow, as it is stored: never changed again, and shared by the executions that run it. */
export interface Graph {
  steps: Step[];
  transitions: Transition[];
}
