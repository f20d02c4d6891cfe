// Worker Deployment Versioning: which build of the workflow code gets the tasks.
import { isGrpcServiceError } from '@temporalio/client';
import type { Temporal } from './connection.ts';
import { grpcCodes } from './grpc-codes.ts';

export const DEPLOYMENT = 'everpost';
/** Workers without a build, as those of versions before versioning. */
export const UNVERSIONED = 'unversioned';

export interface Build {
  id: string;
  /** When a worker of this build was first seen. */
  seenAt: Date;
}

export interface DeploymentState {
  /** The build that gets the tasks; `unversioned` before any was chosen. */
  current: string;
  /** When it was chosen; undefined when none ever was. */
  chosenAt: Date | undefined;
  builds: Build[];
}

/** Pinned workflows are short; more than these are moved in the next round. */
const MOVED_AT_ONCE = 500;

/** Returns undefined while no worker with a build has polled this namespace. */
export async function describeDeployment({ connection, namespace }: Temporal): Promise<DeploymentState | undefined> {
  try {
    const { workerDeploymentInfo: info } = await connection.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: DEPLOYMENT,
    });
    const { currentDeploymentVersion: current, currentVersionChangedTime: chosenAt } = info?.routingConfig ?? {};
    return {
      current: current?.buildId || UNVERSIONED,
      chosenAt: dateOf(chosenAt),
      builds: (info?.versionSummaries ?? []).map(({ deploymentVersion, createTime }) => ({
        id: deploymentVersion?.buildId ?? '',
        seenAt: dateOf(createTime) ?? new Date(0),
      })),
    };
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === grpcCodes.NOT_FOUND) return undefined;
    throw error;
  }
}

/** Sends tasks of new and of auto-upgrading workflows to a build from now on. Throws when no worker of it has been seen. */
export async function setCurrentBuild({ connection, namespace }: Temporal, build: string): Promise<void> {
  await connection.workflowService.setWorkerDeploymentCurrentVersion({
    namespace,
    deploymentName: DEPLOYMENT,
    buildId: build === UNVERSIONED ? '' : build,
    identity: `everpost@${process.pid}`,
    ignoreMissingTaskQueues: true,
  });
}

/**
 * Lets workflows that are pinned to a build continue on the current one. For builds that no worker runs any more: without it
 * they would wait for ever. Returns how many were moved.
 */
export async function moveOffBuild({ client, connection, namespace }: Temporal, build: string): Promise<number> {
  const query = `ExecutionStatus = "Running" AND TemporalWorkerDeploymentVersion = "${DEPLOYMENT}:${build}" AND TemporalWorkflowVersioningBehavior = "Pinned"`;
  let moved = 0;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: MOVED_AT_ONCE })) {
    await connection.workflowService.updateWorkflowExecutionOptions({
      namespace,
      workflowExecution: { workflowId, runId },
      workflowExecutionOptions: { versioningOverride: { autoUpgrade: true } },
      updateMask: { paths: ['versioning_override'] },
    });
    if (++moved >= MOVED_AT_ONCE) break;
  }
  return moved;
}

type Timestamp = { seconds?: { toString(): string } | null; nanos?: number | null } | null | undefined;

const dateOf = (time: Timestamp): Date | undefined =>
  time?.seconds ? new Date(Number(time.seconds.toString()) * 1_000 + (time.nanos ?? 0) / 1e6) : undefined;
