import { exitKey } from '../../../../../../platform/merge-graphs.ts';
import type { ExecutionDetail, Simulation } from '../../../api/types.ts';
import type { GraphTransition } from '../canvas/graph.ts';

// What the player plays: the way of one person, simulated or recorded.

export type SimulatedMail = Simulation['emails'][number];
export type SimulatedRequest = Simulation['webhooks'][number];
export type DecidedFilter = NonNullable<Simulation['path'][number]['filters']>[number];

/** What leaves at a step. A recorded mail is read when it is shown. */
export type Sent =
  | { kind: 'mail'; mail: SimulatedMail }
  | { kind: 'request'; request: SimulatedRequest }
  | { kind: 'recordedMail'; emailId: string };

export interface Visit {
  visit: number;
  stepId: string;
  type: string;
  name: string;
  status: ExecutionDetail['steps'][number]['status'];
  branch: string | null;
  reason: string | null;
  filters: readonly DecidedFilter[];
  output: Record<string, unknown> | null;
  scheduledFor: string | null;
  enteredAt: string;
  leftAt: string | null;
  sent: Sent | undefined;
}

export interface Recording {
  visits: readonly Visit[];
  status: string;
  reason: string | null;
  startedAt: string;
  endedAt: string;
  /** In the order of their times. */
  events: readonly { at: string; name: string }[];
  /** Why it is not complete. */
  truncated: string | null;
}

export function simulated(simulation: Simulation, events: Recording['events']): Recording {
  const mails = new Map(simulation.emails.map((mail) => [mail.visit, mail]));
  const requests = new Map(simulation.webhooks.map((request) => [request.visit, request]));
  return {
    ...simulation,
    truncated: simulation.truncated?.reason ?? null,
    events: [...events].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)),
    visits: simulation.path.map(({ filters, output, ...step }) => {
      const { reason: _, ...rest } = output ?? {};
      const mail = mails.get(step.visit);
      const request = requests.get(step.visit);
      const sent: Sent | undefined = mail ? { kind: 'mail', mail } : request && { kind: 'request', request };
      return { ...step, filters: filters ?? [], output: Object.keys(rest).length > 0 ? rest : null, sent };
    }),
  };
}

export function recorded({ steps, ...execution }: ExecutionDetail): Recording {
  return {
    status: execution.status,
    reason: execution.error ?? execution.exitReason,
    startedAt: execution.startedAt,
    endedAt: execution.completedAt ?? execution.updatedAt,
    events: [],
    truncated: null,
    visits: steps.map(({ output, error, startedAt, completedAt, ...step }, index) => {
      const { reason, emailId, ...rest } = output ?? {};
      return {
        ...step,
        visit: index + 1,
        reason: error ?? (typeof reason === 'string' ? reason : null),
        filters: [],
        output: Object.keys(rest).length > 0 ? rest : null,
        enteredAt: startedAt,
        leftAt: completedAt,
        sent: typeof emailId === 'string' ? { kind: 'recordedMail', emailId } : undefined,
      };
    }),
  };
}

/** A position counts visits: 1.5 is in the middle of the second one, and the number of visits is the end. */
export interface Moment {
  /** Index of the visit. */
  index: number;
  hasEnded: boolean;
  /** The time that the clock shows. */
  clock: string;
}

export function momentAt({ visits, startedAt, endedAt }: Recording, position: number): Moment {
  const index = Math.min(Math.floor(position), visits.length - 1);
  const visit = visits[index];
  const hasEnded = position >= visits.length;
  if (!visit) return { index: 0, hasEnded, clock: startedAt };
  const from = Date.parse(visit.enteredAt);
  const to = Math.max(Date.parse(visit.leftAt ?? endedAt), from);
  const share = hasEnded ? 1 : position - index;
  return { index, hasEnded, clock: new Date(from + share * (to - from)).toISOString() };
}

/** Returns what is highlighted in the graph when a visit is reached. */
export function pathTo(
  { visits }: Recording,
  index: number,
  transitions: readonly GraphTransition[],
): { steps: Set<string>; transitions: Set<string> } {
  const reached = visits.slice(0, index + 1);
  const taken = reached.slice(0, -1).flatMap(({ stepId, branch }) => {
    const exits = transitions.filter(({ fromStepId }) => fromStepId === stepId);
    // A transition without a branch serves every exit that has none.
    const exit =
      exits.find((candidate) => candidate.branch === branch) ?? exits.find(({ branch: own }) => own === null);
    return exit ? [exitKey(exit)] : [];
  });
  return { steps: new Set(reached.map(({ stepId }) => stepId)), transitions: new Set(taken) };
}
