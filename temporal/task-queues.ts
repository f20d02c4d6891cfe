/** One queue per kind of load, so that each can have workers and limits of its own. */
export const taskQueues = {
  workflows: 'everpost-workflows',
  mail: 'everpost-mail',
  campaigns: 'everpost-campaigns',
  bulk: 'everpost-bulk',
  domains: 'everpost-domains',
  executions: 'everpost-executions',
  webhooks: 'everpost-webhooks',
} as const;

export type TaskQueues = typeof taskQueues;
