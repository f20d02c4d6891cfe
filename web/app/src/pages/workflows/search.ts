import type { Execution } from '../../api/types.ts';
import { compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export const executionStatuses = [
  'RUNNING',
  'WAITING',
  'COMPLETED',
  'EXITED',
  'FAILED',
  'CANCELLED',
] as const satisfies Execution['status'][];

interface WorkflowSearch {
  tab?: string | undefined;
  /** The step to begin at. */
  step?: string | undefined;
}

interface WorkflowsSearch {
  search?: string | undefined;
  status?: 'active' | 'disabled' | undefined;
}

export interface ExecutionsSearch {
  status?: Execution['status'] | undefined;
  workflowId?: string | undefined;
  contactId?: string | undefined;
  stepId?: string | undefined;
  enteredStepId?: string | undefined;
}

interface PlaySearch {
  /** Without it the draft, if there is one. */
  version?: 'published' | undefined;
  /** A contact of the project; without it an invented one. */
  contactId?: string | undefined;
}

export const workflowSearch = (raw: RawSearch): WorkflowSearch =>
  compact({ tab: textOf(raw.tab), step: textOf(raw.step) });

export const workflowsSearch = (raw: RawSearch): WorkflowsSearch =>
  compact({ search: textOf(raw.search), status: oneOf(raw.status, 'active', 'disabled') });

export const playSearch = (raw: RawSearch): PlaySearch =>
  compact({ version: oneOf(raw.version, 'published'), contactId: textOf(raw.contactId) });

export const executionsSearch = (raw: RawSearch): ExecutionsSearch =>
  compact({
    status: oneOf(raw.status, ...executionStatuses),
    workflowId: textOf(raw.workflowId),
    contactId: textOf(raw.contactId),
    stepId: textOf(raw.stepId),
    enteredStepId: textOf(raw.enteredStepId),
  });

export const executionSearch = (raw: RawSearch): { tab?: 'play' | undefined } =>
  compact({ tab: oneOf(raw.tab, 'play') });
