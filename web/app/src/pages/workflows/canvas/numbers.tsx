import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useRef } from 'react';
import { exitKey } from '../../../../../../platform/merge-graphs.ts';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { compact, percent } from '../../../format.ts';
import { t } from '../../../texts/index.ts';
import { TextLink } from '../../../ui/links.tsx';
import type { ExecutionsSearch } from '../search.ts';
import { type GraphTransition, START } from './graph.ts';
import type { StepProblem } from './step-node.tsx';

export interface StepStats {
  entered: number;
  waiting: number;
  passed: number;
  failed: number;
  skipped: number;
  medianSeconds: number | null;
  branches: Record<string, number>;
  mail?: Record<string, number>;
}

export interface WorkflowStats {
  executions: Record<'started' | 'active' | 'completed' | 'exited' | 'failed' | 'cancelled', number>;
  steps: Record<string, StepStats>;
}

/** Executions pass a step when its email is queued: it may be sent later, or not at all. */
export const unsentOf = ({ passed, mail }: StepStats): number => Math.max(passed - (mail?.sent ?? 0), 0);

const REFRESH_MS = 3_000;

/** The numbers of a workflow, read again and again while the tab is visible. */
export function useStats(id: string): WorkflowStats | undefined {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('workflow-stats', id),
    queryFn: () => unwrap(client.GET('/workflows/{id}/stats', { params: { path: { id } } })),
    refetchInterval: REFRESH_MS,
  });
  return data as WorkflowStats | undefined;
}

const PROBLEMS_REFRESH_MS = 5_000;

/** Where executions fail or are tried again. Problems that stay the same stay the same objects. */
export function useProblems(workflowId: string): ReadonlyMap<string, StepProblem> {
  const { client, key } = useApi();
  const { data } = useQuery({
    queryKey: key('problems', workflowId),
    queryFn: () => unwrap(client.GET('/executions/problems', { params: { query: { workflowId } } })),
    refetchInterval: PROBLEMS_REFRESH_MS,
  });
  return useMemo(() => new Map((data?.data ?? []).map((problem) => [problem.stepId, problem])), [data]);
}

/** Returns what stands on each step. Numbers that stay the same stay the same objects, which are not drawn anew. */
export function useBadges(workflowId: string, stats: WorkflowStats | undefined): ReadonlyMap<string, ReactNode> {
  const { projectId } = useApi();
  const known = useRef(new Map<string, { text: string; badge: ReactNode }>());
  return useMemo(() => {
    const badges = new Map<string, ReactNode>();
    if (!stats) return badges;
    const add = (id: string, parts: unknown[], make: () => ReactNode) => {
      const text = JSON.stringify(parts);
      const before = known.current.get(id);
      const badge = before?.text === text ? before.badge : make();
      known.current.set(id, { text, badge });
      badges.set(id, badge);
    };
    const { started, active } = stats.executions;
    if (started > 0)
      add(START, [started, active], () => (
        <>
          <PeopleLink search={{ workflowId }} projectId={projectId} number="started">
            {t.canvas.startedCount(compact(started))}
          </PeopleLink>
          <PeopleLink search={{ workflowId }} projectId={projectId} number="active">
            {t.canvas.activeCount(compact(active))}
          </PeopleLink>
        </>
      ));
    for (const [stepId, { entered, waiting, failed, mail }] of Object.entries(stats.steps))
      add(stepId, [entered, waiting, failed, mail], () => (
        <>
          <PeopleLink search={{ workflowId, enteredStepId: stepId }} projectId={projectId} number="entered">
            {t.canvas.enteredCount(compact(entered))}
          </PeopleLink>
          {waiting > 0 && (
            <PeopleLink search={{ workflowId, stepId }} projectId={projectId} number="waiting">
              {t.canvas.waitingCount(compact(waiting))}
            </PeopleLink>
          )}
          {failed > 0 && (
            <PeopleLink search={{ workflowId, stepId, status: 'FAILED' }} projectId={projectId} number="failed">
              {t.canvas.failedCount(compact(failed))}
            </PeopleLink>
          )}
          {mail && (
            <span className="step-mail" data-number="mail">
              {t.canvas.mailCounts(
                compact(mail.sent ?? 0),
                compact(mail.peopleOpened ?? 0),
                compact(mail.humanClicked ?? 0),
              )}
            </span>
          )}
        </>
      ));
    return badges;
  }, [stats, workflowId, projectId]);
}

interface PeopleLinkProps {
  projectId: string;
  search: ExecutionsSearch;
  number: string;
  children: ReactNode;
}

/** Leads to the people that a number counts. */
export const PeopleLink = ({ projectId, search, number, children }: PeopleLinkProps) => (
  <TextLink
    to="/p/$projectId/executions"
    params={{ projectId }}
    search={search}
    inherit
    className="nodrag nopan"
    data-number={number}
    onClick={(event: React.MouseEvent) => event.stopPropagation()}
  >
    {children}
  </TextLink>
);

/** Returns how many of those who came to a step took each transition, as a share. */
export function sharesOf(
  transitions: readonly GraphTransition[],
  stats: WorkflowStats | undefined,
): ReadonlyMap<string, string> {
  const shares = new Map<string, string>();
  for (const transition of transitions) {
    const step = stats?.steps[transition.fromStepId];
    if (!step || step.entered === 0) continue;
    shares.set(exitKey(transition), percent(Math.min(takenBy(transition, transitions, step) / step.entered, 1)));
  }
  return shares;
}

/** A transition without a branch is taken by everyone whose exit has no transition. */
function takenBy(transition: GraphTransition, all: readonly GraphTransition[], step: StepStats): number {
  if (transition.branch !== null) return step.branches[transition.branch] ?? 0;
  const own = all.filter(({ fromStepId, branch }) => fromStepId === transition.fromStepId && branch !== null);
  const elsewhere = own.reduce((sum, { branch }) => sum + (step.branches[branch ?? ''] ?? 0), 0);
  return Math.max(step.passed + step.skipped - elsewhere, 0);
}
