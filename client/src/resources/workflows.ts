import type {
  CreateWorkflowRequest,
  Execution,
  ExecutionDetails,
  ListedWorkflow,
  PublishedWorkflow,
  PublishWorkflowRequest,
  SaveWorkflowDraftRequest,
  SimulateWorkflowRequest,
  Simulation,
  StartExecutionRequest,
  UpdateWorkflowRequest,
  Workflow,
  WorkflowDetails,
  WorkflowDraft,
  WorkflowStats,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';

/** Graphs of steps that run for each contact, and their executions. */
export const workflows = (client: RawClient) => ({
  create: (workflow: CreateWorkflowRequest, options?: CallOptions): Promise<Workflow> =>
    client.post('/workflows', { ...options, body: workflow }),

  list: (query?: QueryOf<'/workflows'>, options?: CallOptions): AsyncGenerator<ListedWorkflow, void> =>
    items(client, '/workflows', { ...options, query }),

  /** Returns a workflow with its steps and transitions. */
  get: (id: string, options?: CallOptions): Promise<WorkflowDetails> =>
    client.get('/workflows/{id}', { ...options, path: { id } }),

  /** Changes a workflow; `enabled` switches it on and off. */
  update: (id: string, changes: UpdateWorkflowRequest, options?: CallOptions): Promise<Workflow> =>
    client.patch('/workflows/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/workflows/{id}', { ...options, path: { id } }),

  /** Returns the draft of the graph. */
  draft: (id: string, options?: CallOptions): Promise<WorkflowDraft> =>
    client.get('/workflows/{id}/draft', { ...options, path: { id } }),

  saveDraft: (id: string, draft: SaveWorkflowDraftRequest, options?: CallOptions): Promise<WorkflowDraft> =>
    client.put('/workflows/{id}/draft', { ...options, path: { id }, body: draft }),

  /** Publishes the draft as a new version. */
  publish: (id: string, publication: PublishWorkflowRequest, options?: CallOptions): Promise<PublishedWorkflow> =>
    client.post('/workflows/{id}/publish', { ...options, path: { id }, body: publication }),

  /** Runs the graph for a contact without doing anything. */
  simulate: (id: string, simulation: SimulateWorkflowRequest, options?: CallOptions): Promise<Simulation> =>
    client.post('/workflows/{id}/simulate', { ...options, path: { id }, body: simulation }),

  stats: (id: string, query?: QueryOf<'/workflows/{id}/stats'>, options?: CallOptions): Promise<WorkflowStats> =>
    client.get('/workflows/{id}/stats', { ...options, path: { id }, query }),

  /** Starts the workflow for a contact. */
  start: (id: string, execution: StartExecutionRequest, options?: CallOptions): Promise<Execution> =>
    client.post('/workflows/{id}/executions', { ...options, path: { id }, body: execution }),

  executions: (
    id: string,
    query?: QueryOf<'/workflows/{id}/executions'>,
    options?: CallOptions,
  ): AsyncGenerator<Execution, void> =>
    items(client, '/workflows/{id}/executions', { ...options, path: { id }, query }),

  /** Returns an execution with its steps. */
  execution: (id: string, executionId: string, options?: CallOptions): Promise<ExecutionDetails> =>
    client.get('/workflows/{id}/executions/{executionId}', { ...options, path: { id, executionId } }),

  cancelExecution: (id: string, executionId: string, options?: CallOptions): Promise<Execution> =>
    client.delete('/workflows/{id}/executions/{executionId}', { ...options, path: { id, executionId } }),
});
