import type { Workflow } from '../../../db/models/workflow.ts';
import { ApiError } from '../../../platform/errors.ts';
import { draftOf } from '../drafts/draft.ts';
import { findWorkflow } from '../find.ts';
import { branchOf, type Graph } from '../graph.ts';
import { readGivenGraph, type SimulationDeps, simulateGraph, type UnstoredGraph } from '../simulation/index.ts';
import type { SimulatedStep } from '../simulation/simulated-step.ts';
import { scriptTime } from '../spans.ts';
import { graphViolations, requireNoViolations } from '../violations.ts';
import { findCases, type WorkflowCase } from './cases.ts';

/** Where the path first differs from the expected one. */
export interface CaseDifference {
  /** Null when the case could not be run. */
  index: number | null;
  expected: { stepId: string; branch: string | null } | null;
  actual: { stepId: string; branch: string | null } | null;
  message: string;
}

export interface CaseResult {
  caseId: string;
  name: string;
  passed: boolean;
  path: SimulatedStep[];
  /** Null when it passed. */
  difference: CaseDifference | null;
}

export interface CaseRun {
  passed: number;
  failed: number;
  results: CaseResult[];
}

/** Of real time, for all cases of a call. */
const MAX_MS = 20_000;

/** Runs cases against the given graph, or else the draft, or else the newest version. */
export async function runCases(
  deps: SimulationDeps,
  projectId: string,
  workflowId: string,
  { graph: given, ids }: { graph?: UnstoredGraph | undefined; ids?: string[] | undefined },
): Promise<CaseRun> {
  const { db, settings } = deps;
  const workflow = await findWorkflow(db, projectId, workflowId);
  const cases = await findCases(db, projectId, workflowId, ids);
  const { triggerType, triggerConfig, graph: drafted } = await draftOf(db, workflow, settings);
  const graph = given ? readGivenGraph(given, settings) : drafted;
  requireNoViolations(await graphViolations(db, projectId, graph), 'run');
  const deadline = performance.now() + MAX_MS;
  const results: CaseResult[] = [];
  for (const one of cases) {
    const ms = Math.max(deadline - performance.now(), 0);
    results.push(await runCase(deps, workflow.$clone().$set({ triggerType, triggerConfig }), graph, one, ms));
  }
  const passed = results.filter((result) => result.passed).length;
  return { passed, failed: results.length - passed, results };
}

async function runCase(
  deps: SimulationDeps,
  workflow: Workflow,
  graph: Graph,
  one: WorkflowCase,
  ms: number,
): Promise<CaseResult> {
  const { id: caseId, name, contact, events, startAt, expect } = one;
  const until = one.until === null ? undefined : scriptTime(one.until, startAt);
  const trigger = events.find(
    ({ name: event, at = 0 }) =>
      workflow.triggerType === 'EVENT' &&
      event === workflow.triggerConfig.eventName &&
      scriptTime(at, startAt) <= startAt,
  );
  // The event that starts the execution is its context, and does not happen again.
  const later = one.context === null ? events.filter((event) => event !== trigger) : events;
  const input = {
    contact,
    context: one.context ?? trigger?.data,
    events: later.map((event) => ({ ...event, at: scriptTime(event.at ?? 0, startAt).toISOString() })),
    startAt: startAt.toISOString(),
  };
  try {
    const { path, reason, status } = await simulateGraph(deps, workflow, graph, input, { until, ms });
    const difference = differenceOf(expect, path, status === 'STOPPED' && !until ? reason : null);
    return { caseId, name, passed: difference === null, path, difference };
  } catch (error) {
    // Such as a contact that was deleted.
    if (!(error instanceof ApiError)) throw error;
    const difference = { index: null, expected: null, actual: null, message: error.message };
    return { caseId, name, passed: false, path: [], difference };
  }
}

/** Compares the steps of both paths, and the branches that are expected. */
function differenceOf(
  expected: WorkflowCase['expect'],
  path: SimulatedStep[],
  stopped: string | null,
): CaseDifference | null {
  for (let index = 0; index < Math.max(expected.length, path.length); index++) {
    const wanted = expected[index];
    const taken = path[index];
    const isSame =
      wanted?.stepId.toLowerCase() === taken?.step.id.toLowerCase() &&
      (wanted?.branch === undefined || branchOf(wanted.branch ?? 'next') === taken?.branch);
    if (isSame) continue;
    return {
      index,
      expected: wanted ? { stepId: wanted.stepId, branch: wanted.branch ?? null } : null,
      actual: taken ? { stepId: taken.step.id, branch: taken.branch } : null,
      message: [describe(index, wanted, taken), taken?.reason, stopped].filter(Boolean).join('; '),
    };
  }
  return null;
}

function describe(index: number, wanted: WorkflowCase['expect'][number] | undefined, taken?: SimulatedStep): string {
  const at = `step ${index + 1} of the path`;
  if (!wanted) return `${at} is unexpected: "${taken?.step.name}"`;
  if (!taken) return `${at} is missing: the path ends before ${wanted.stepId}`;
  if (wanted.stepId.toLowerCase() !== taken.step.id.toLowerCase())
    return `${at} is "${taken.step.name}" (${taken.step.id}), not ${wanted.stepId}`;
  return `${at}, "${taken.step.name}", leaves by ${taken.branch ?? 'no branch'}, not by ${wanted.branch ?? 'no branch'}`;
}

/** Requires that all cases pass on the draft. A 422 with those that fail. */
export async function requirePassingCases(deps: SimulationDeps, projectId: string, workflowId: string): Promise<void> {
  const { results } = await runCases(deps, projectId, workflowId, {});
  const failed = results.filter(({ passed }) => !passed);
  if (failed.length === 0) return;
  const message = `${failed.length} of ${results.length} cases failed.`;
  throw new ApiError(422, 'VALIDATION_ERROR', message, {
    errors: failed.map(({ caseId, name, difference }) => ({
      field: `cases.${caseId}`,
      message: `"${name}": ${difference?.message}`,
      code: 'custom',
    })),
    details: { failed: failed.map(({ caseId, name, difference }) => ({ caseId, name, difference })) },
  });
}
