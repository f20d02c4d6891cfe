import type { Db } from '../../db/connect.ts';
import { Execution, ExecutionStep } from '../../db/models/execution.ts';
import { newId } from '../../platform/ids.ts';
import type { Limits } from '../../platform/limits.ts';
import { trackEvent } from '../../services/events/track.ts';
import { advance, type ExecutionAdvanceDeps, type Next } from '../../services/workflows/advance.ts';
import { startExecution } from '../../services/workflows/executions/start.ts';
import type { Graph, StepTypeName, Transition } from '../../services/workflows/graph.ts';
import { matchEvents } from '../../services/workflows/match-events.ts';
import type { TestProject } from './connected-database.ts';
import { testKeys } from './keys.ts';
import { testLinks } from './links.ts';
import { testRenderer } from './renderer.ts';

/** Steps by name, in sequence unless there are arrows: `from -> to` or `from -yes-> to`. */
export interface WorkflowSketch {
  steps: Record<string, [type: StepTypeName, config?: object]>;
  arrows?: string[];
  /** Columns of the workflow's row. */
  workflow?: object;
}

export interface CreatedWorkflow {
  id: string;
  /** Step ids by name. */
  steps: Record<string, string>;
}

/** Inserts an enabled workflow as the API would. */
export async function insertWorkflow(
  db: Db,
  { id: projectId }: TestProject,
  { steps, arrows, workflow }: WorkflowSketch,
): Promise<CreatedWorkflow> {
  const id = newId();
  const ids = Object.fromEntries(Object.keys(steps).map((name) => [name, newId()]));
  const graph = graphOf({ steps, ...(arrows && { arrows }) }, ids);
  await db('workflows').insert({
    id,
    projectId,
    name: 'Drawn',
    triggerConfig: JSON.stringify({ eventName: `start ${id}` }),
    enabled: true,
    validVersion: 1,
    ...workflow,
  });
  await db('workflowVersions').insert({ workflowId: id, version: 1, graph: JSON.stringify(graph) });
  return { id, steps: ids };
}

export function graphOf({ steps, arrows }: WorkflowSketch, ids: Record<string, string>): Graph {
  const names = Object.keys(steps);
  const sequence = names.slice(1).map((name, index) => `${names[index]} -> ${name}`);
  return {
    steps: Object.entries(steps).map(([name, [type, config = {}]]) => ({
      id: ids[name] ?? '',
      type,
      name,
      config: config as Record<string, unknown>,
      templateId: null,
    })),
    transitions: (arrows ?? sequence).map((arrow) => {
      const [, from = '', branch, to = ''] = /^(.+?) -(?:(\w+)-)?> (.+)$/.exec(arrow) ?? [];
      const ends = { fromStepId: ids[from] ?? '', toStepId: ids[to] ?? '' };
      return { id: newId(), ...ends, branch: (branch ?? null) as Transition['branch'] };
    }),
  };
}

/** Advances executions without Temporal, at a time that the test moves forward. */
export class ExecutionDriver {
  readonly db: Db;
  readonly project: TestProject;
  private offsetMs = 0;
  private readonly deps: ExecutionAdvanceDeps;

  constructor(db: Db, project: TestProject, limits?: Limits) {
    this.db = db;
    this.project = project;
    const now = () => new Date(Date.now() + this.offsetMs);
    this.deps = { db, renderer: testRenderer(), links: testLinks, now, keys: testKeys, ...(limits && { limits }) };
  }

  later(ms: number): void {
    this.offsetMs += ms;
  }

  /** Starts an execution for a contact by hand. */
  async start(workflow: CreatedWorkflow, email: string, context: Record<string, unknown> = {}): Promise<string> {
    await this.contact(email);
    const { id } = await startExecution(this.db, this.project.access, workflow.id, { email, context });
    return id;
  }

  async contact(email: string, data: Record<string, unknown> = {}): Promise<string> {
    const { contactId } = await trackEvent(this.db, this.project.access, { email, event: 'arrived', data });
    return contactId;
  }

  /** Tracks an event and matches it, as the relay does. */
  async track(email: string, event: string, data: Record<string, unknown> = {}): Promise<void> {
    await trackEvent(this.db, this.project.access, { email, event, data });
    while ((await matchEvents(this.db)).events > 0);
  }

  async advance(executionId: string): Promise<Next> {
    const { generation } = await this.execution(executionId);
    return advance(this.deps, { executionId, generation });
  }

  async execution(id: string): Promise<Execution> {
    return Execution.query(this.db).findById(id).throwIfNotFound();
  }

  async steps(executionId: string): Promise<ExecutionStep[]> {
    return ExecutionStep.query(this.db).where({ executionId }).orderBy('visit');
  }

  /** Returns `name: STATUS` or `name: STATUS by branch` for each visit, in order. */
  async visits(executionId: string): Promise<string[]> {
    const steps = await this.steps(executionId);
    return steps.map(({ name, status, branch }) => `${name}: ${status}${branch ? ` by ${branch}` : ''}`);
  }
}

/** Advances an execution as far as it goes, as a worker would, without Temporal. */
export async function advanceUntilItWaits(db: Db, executionId: string, now = () => new Date()): Promise<Next> {
  const { generation } = await Execution.query(db).findById(executionId).throwIfNotFound();
  for (;;) {
    const next = await advance({ db, renderer: testRenderer(), now, keys: testKeys }, { executionId, generation });
    if (next.kind !== 'more') return next;
  }
}
