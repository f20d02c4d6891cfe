/** One queue per kind of load, so that each has its own workers and limits. */
export const taskQueues = {
  workflows: 'everpost-workflows',
  mail: 'everpost-mail',
  bulk: 'everpost-bulk',
  domains: 'everpost-domains',
  executions: 'everpost-executions',
  webhooks: 'everpost-webhooks',
  webhookEndpoints: 'everpost-webhook-endpoints',
} as const;

export type TaskQueues = typeof taskQueues;
