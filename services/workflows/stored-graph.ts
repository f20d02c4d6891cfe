import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Graph } from './graph.ts';

const find = statement<{ graph: Graph }>(
  'workflow-version',
  'select graph from workflow_versions where workflow_id = $1 and version = $2',
);

/** Needs no invalidation: a version never changes. */
const cache = new LRUCache<string, Graph>({ max: 500 });

/** Returns undefined when the workflow was deleted. */
export async function storedGraph(db: Db, workflowId: string, version: number): Promise<Graph | undefined> {
  const key = `${workflowId}/${version}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const [row] = await find(db, [workflowId, version]);
  if (row) cache.set(key, row.graph);
  return row?.graph;
}
