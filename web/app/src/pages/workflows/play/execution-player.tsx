import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { unwrap } from '../../../api/client.ts';
import { useApi } from '../../../api/hooks.ts';
import { ApiProblem } from '../../../api/problem.ts';
import type { ExecutionDetail } from '../../../api/types.ts';
import { Loaded } from '../../../ui/page.tsx';
import type { GraphStep, GraphTransition } from '../canvas/graph.ts';
import { triggerText } from '../trigger.ts';
import { Player } from './player.tsx';
import { recorded } from './recording.ts';

interface DrawnGraph {
  steps: GraphStep[];
  transitions: GraphTransition[];
}

/** Plays the recorded steps of an execution on the version that it runs on. */
export function ExecutionPlayer({ execution }: { execution: ExecutionDetail }) {
  const { client, key } = useApi();
  const { workflowId: id, version } = execution;
  const recording = useMemo(() => recorded(execution), [execution]);
  const graph = useQuery({
    queryKey: key('workflow-version', id, version),
    queryFn: async (): Promise<DrawnGraph> => {
      try {
        const found = await unwrap(
          client.GET('/workflows/{id}/versions/{version}', { params: { path: { id, version } } }),
        );
        return found.graph;
      } catch (error) {
        // Old versions are not kept for ever.
        if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
        return unwrap(client.GET('/workflows/{id}', { params: { path: { id } } }));
      }
    },
  });
  return (
    <Loaded query={graph} lines={8}>
      {(found) => (
        <Player recording={recording} graph={withVisited(found, execution)} start={triggerText(execution.workflow)} />
      )}
    </Loaded>
  );
}

/** Adds steps that were taken and are no longer in the graph: an execution may have moved to another version. */
function withVisited({ steps, transitions }: DrawnGraph, execution: ExecutionDetail): DrawnGraph {
  const known = new Set(steps.map(({ id }) => id));
  const gone = new Map(
    execution.steps
      .filter(({ stepId }) => !known.has(stepId))
      .map(({ stepId, type, name }) => [stepId, { id: stepId, type, name }]),
  );
  return { steps: [...steps, ...gone.values()], transitions };
}
