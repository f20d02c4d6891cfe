/** A workflow id is made from what it works on, tenant included, so that starting twice is starting once. */
export const workflowIds = {
  /** A batch of mail spans projects. */
  delivery: (batchId: string) => `delivery/${batchId}`,
  job: (projectId: string, jobId: string) => `job/${projectId}/${jobId}`,
  campaign: (projectId: string, campaignId: string, generation: number) =>
    `campaign/${projectId}/${campaignId}/${generation}`,
  erasure: (projectId: string, erasureId: string) => `erasure/${projectId}/${erasureId}`,
  domain: (projectId: string, domainId: string, generation: number) => `domain/${projectId}/${domainId}/${generation}`,
  execution: (projectId: string, executionId: string, generation: number) =>
    `execution/${projectId}/${executionId}/${generation}`,
  /** Of a Temporal Schedule; each of its runs adds the time. */
  cron: (projectId: string, workflowId: string) => `cron/${projectId}/${workflowId}`,
};

/** For what belongs to no single project. */
export const NO_PROJECT = '00000000-0000-0000-0000-000000000000';
