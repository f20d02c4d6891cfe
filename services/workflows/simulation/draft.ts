import type { Db } from '../../../db/connect.ts';
import { badRequest } from '../../../platform/errors.ts';
import type { Data } from '../../contacts/data.ts';
import { refusalOfConnection } from '../connections.ts';
import type { Branch, Graph } from '../graph.ts';
import { readConfig, type StepRules } from '../step-config.ts';
import { graphViolations, requireNoViolations } from '../violations.ts';

/** A graph that is not stored. The client chooses the ids. */
export interface Draft {
  steps: {
    id: string;
    type: string;
    name?: string | undefined;
    config?: Data | undefined;
    templateId?: string | null | undefined;
  }[];
  transitions: { fromStepId: string; toStepId: string; branch: Branch | null }[];
}

/** Applies the rules of stored graphs. */
export function readDraft({ steps, transitions }: Draft, rules: Pick<StepRules, 'webhookAllowedHosts'>): Graph {
  const graph: Graph = {
    steps: steps.map(({ id, type, name, config, templateId }, n) => ({
      id,
      type,
      name: name ?? id,
      config: readConfig(type, config ?? {}, rules, `graph.steps.${n}.config`),
      templateId: templateId ?? null,
    })),
    transitions: [],
  };
  if (new Set(steps.map(({ id }) => id)).size < steps.length)
    throw badRequest('Two steps of the graph have the same id.');
  for (const [n, transition] of transitions.entries()) {
    const refusal = refusalOfConnection(graph, transition);
    if (refusal) throw badRequest(`Transition ${n} of the graph is refused: ${refusal}.`);
    graph.transitions.push({ id: String(n), ...transition });
  }
  return graph;
}

export async function requireRunnable(db: Db, projectId: string, graph: Graph): Promise<void> {
  requireNoViolations(await graphViolations(db, projectId, graph), 'run');
}
