/** One queue per kind of load, so that each can have workers and limits of its own. */
export const taskQueues = {
  workflows: 'everpost-workflows',
  mail: 'everpost-mail',
  bulk: 'everpost-bulk',
  domains: 'everpost-domains',
} as const;

export type TaskQueues = typeof taskQueues;
