// Keeps the build of this worker known to Temporal, and makes a new release current automatically.
import type { WorkerDeploymentOptions } from '@temporalio/worker';
import type { Db } from '../db/connect.ts';
import type { Logger } from '../platform/logger.ts';
import type { Timings } from '../platform/timings.ts';
import { liveBuilds } from '../services/operators/processes.ts';
import type { Temporal } from '../temporal/connection.ts';
import {
  type Build,
  DEPLOYMENT,
  type DeploymentState,
  describeDeployment,
  moveOffBuild,
  setCurrentBuild,
  UNVERSIONED,
} from '../temporal/deployment.ts';
import { Loop } from './loop.ts';

export interface DeploymentOptions {
  db: Db;
  temporal: Temporal;
  build: string;
  /** Whether a new build becomes current automatically. */
  auto: boolean;
  timings: Timings;
  log: Logger;
}

/** The build runs with versioning. Workflow types without a declaration of their own upgrade. */
export const deploymentOptions = (build: string): WorkerDeploymentOptions => ({
  version: { deploymentName: DEPLOYMENT, buildId: build },
  useWorkerVersioning: true,
  defaultVersioningBehavior: 'AUTO_UPGRADE',
});

/**
 * Whether a build makes itself current: no choice was made since it was first seen, or no worker runs the current build. A
 * restart of an older build changes nothing, and neither does a newer one after an operator has gone back. Exported for its
 * test.
 */
export function becomesCurrent(own: Build, { current, chosenAt }: DeploymentState, live: Set<string>): boolean {
  if (current === own.id) return false;
  return chosenAt === undefined || own.seenAt > chosenAt || !live.has(current);
}

export function startDeployment({ db, temporal, build, auto, timings, log }: DeploymentOptions): Loop {
  const { deployment: idleMs, deploymentSoon: troubleMs } = timings.worker;
  let told: string | undefined;
  return new Loop({
    name: 'deployment',
    idleMs,
    troubleMs,
    log,
    round: async () => {
      const state = await describeDeployment(temporal);
      const own = state?.builds.find(({ id }) => id === build);
      // The first poll of this build has not reached Temporal yet.
      if (!state || !own) return 'trouble';
      const live = await liveBuilds(db, timings.processes.alive);
      if (auto && becomesCurrent(own, state, live)) {
        await setCurrentBuild(temporal, build);
        log.info({ build, previous: state.current }, 'this build is current now');
        return 'idle';
      }
      if (state.current !== build && told !== state.current)
        log.warn({ build, current: state.current }, 'another build is current: this one gets no new workflows');
      told = state.current;
      if (state.current === build) await adoptWorkflows(temporal, state, live, log);
      return 'idle';
    },
  });
}

/** Workflows that are pinned to a build without workers continue on the current one. */
async function adoptWorkflows(
  temporal: Temporal,
  { builds, current }: DeploymentState,
  live: Set<string>,
  log: Logger,
) {
  for (const { id } of builds) {
    if (id === current || id === UNVERSIONED || live.has(id)) continue;
    const moved = await moveOffBuild(temporal, id);
    if (moved > 0)
      log.info({ build: id, moved }, 'no worker runs this build: its workflows continue on the current one');
  }
}
