/** Ids of Temporal workflows, made from the project and the row they work on: a second start finds the id in use. */
export const workflowIds = {
  /** Without a project: a sender sends mail of all. */
  sender: (number: number) => `sender/${number}`,
  job: (projectId: string, jobId: string) => `job/${projectId}/${jobId}`,
  campaign: (projectId: string, campaignId: string, generation: number) =>
    `campaign/${projectId}/${campaignId}/${generation}`,
  erasure: (projectId: string, erasureId: string) => `erasure/${projectId}/${erasureId}`,
  domain: (projectId: string, domainId: string, generation: number) => `domain/${projectId}/${domainId}/${generation}`,
  execution: (projectId: string, executionId: string, generation: number) =>
    `execution/${projectId}/${executionId}/${generation}`,
  webhookEndpoint: (projectId: string, endpointId: string, generation: number) =>
    `webhookEndpoint/${projectId}/${endpointId}/${generation}`,
  /** Id of a Temporal Schedule. Temporal appends the time for each run. */
  cron: (projectId: string, workflowId: string) => `cron/${projectId}/${workflowId}`,
};

/** Project of outbox messages that belong to no single project. */
export const NO_PROJECT = '00000000-0000-0000-0000-000000000000';
