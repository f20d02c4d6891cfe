import { workflowInfo } from '@temporalio/workflow';

/**
 * Options of short workflows: each ends on the build that it began on. Only for workers with versioning, because Temporal
 * rejects tasks of others that name a behaviour.
 */
export const pinned = (): { versioningBehavior?: 'PINNED' } =>
  workflowInfo().currentDeploymentVersion?.deploymentName ? { versioningBehavior: 'PINNED' } : {};
