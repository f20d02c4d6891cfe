import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

/** Milliseconds by method of Temporal's API. */
export type Deadlines = Record<string, number | undefined>;

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

const DEADLINE_MS = 10_000;
const METHOD_DEADLINES: Deadlines = {
  // The check of /ready.
  DescribeNamespace: 1_500,
  // The check of a domain: longer than the DNS time-outs, shorter than the time-outs of most HTTP clients.
  ExecuteMultiOperation: 12_000,
  // Wait for something to happen.
  PollWorkflowExecutionUpdate: 70_000,
  UpdateWorkflowExecution: 70_000,
  GetWorkflowExecutionHistory: 70_000,
  QueryWorkflow: 30_000,
  // Answered when all task queues know the build, which takes more than ten seconds on a busy server.
  SetWorkerDeploymentCurrentVersion: 60_000,
};

const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions());

/**
 * Gives every call a deadline, which includes its retries. `connection.withDeadline` would do the same, but it uses an
 * AsyncLocalStorage, and the first use of one turns on the hooks of all promises of the process, up to Node 23.
 */
export const retryUntilDeadline =
  (deadlines: Deadlines = {}): Interceptor =>
  (options, nextCall) => {
    const method = options.method_definition.path.split('/').at(-1) ?? '';
    const deadline = options.deadline ?? Date.now() + (deadlines[method] ?? METHOD_DEADLINES[method] ?? DEADLINE_MS);
    return retry({ ...options, deadline }, nextCall);
  };
