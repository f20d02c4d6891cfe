import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Graph } from './graph.ts';

const find = statement<{ graph: Graph }>(
  'workflow-version',
  'select graph from workflow_versions where workflow_id = $1 and version = $2',
);

/** A version never changes, so whoever has read it once knows it for good. */
const known = new LRUCache<string, Graph>({ max: 500 });

/** Undefined where the workflow has been deleted. */
export async function storedGraph(db: Db, workflowId: string, version: number): Promise<Graph | undefined> {
  const key = `${workflowId}/${version}`;
  const kept = known.get(key);
  if (kept) return kept;
  const [row] = await find(db, [workflowId, version]);
  if (row) known.set(key, row.graph);
  return row?.graph;
}
