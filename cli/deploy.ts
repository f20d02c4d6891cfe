import type { Db } from '../db/connect.ts';
import { installationId } from '../db/installation.ts';
import { readSettings } from '../platform/settings.ts';
import { liveBuilds } from '../services/operators/processes.ts';
import { forgetStuckWorkflows, listStuckWorkflows, type StuckWorkflow } from '../services/operators/stuck-workflows.ts';
import { restartWorkflow } from '../services/reconciler/restart.ts';
import { createTemporal, type Temporal } from '../temporal/connection.ts';
import { describeDeployment, setCurrentBuild, UNVERSIONED } from '../temporal/deployment.ts';
import { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { taskAttempts, terminateRun } from '../temporal/workflow-tasks.ts';
import { environment, withDb } from './environment.ts';
import type { CommandResult } from './output.ts';

/** Runs `work` with a database connection and a Temporal client, and closes both afterwards. */
async function withTemporal<T>(work: (db: Db, temporal: Temporal) => Promise<T>): Promise<T> {
  const { temporal: settings } = readSettings(environment(), ['DATABASE_URL', 'TEMPORAL_ADDRESS']);
  const temporal = createTemporal(settings);
  try {
    return await withDb((db) => work(db, temporal));
  } finally {
    await temporal.close();
  }
}

/** Lists the builds that Temporal has seen, which of them is current, and which have workers. */
export const deployStatus = (): Promise<CommandResult> =>
  withTemporal(async (db, temporal) => {
    const state = await describeDeployment(temporal);
    const live = await liveBuilds(db);
    const ids = new Set([...(state?.builds ?? []).map(({ id }) => id), ...live]);
    const current = state?.current ?? UNVERSIONED;
    const builds = [...ids].map((id) => ({ id, current: id === current, running: live.has(id) }));
    return {
      lines: builds.map(
        ({ id, running, ...build }) =>
          `${id}: ${build.current ? 'current, ' : ''}${running ? 'running' : 'no workers'}`,
      ),
      json: { current, builds },
    };
  });

/** Sends workflow tasks to a build from now on, forward or back. */
export const deploySetCurrent = (build: string): Promise<CommandResult> =>
  withTemporal(async (db, temporal) => {
    const live = await liveBuilds(db);
    if (!live.has(build))
      throw new Error(
        `No worker of build "${build}" runs: start one first. Running: ${[...live].join(', ') || 'none'}.`,
      );
    await setCurrentBuild(temporal, build);
    return { lines: [`${build} is current now`], json: { current: build } };
  });

/** Lists workflows whose task fails again and again. */
export const workflowsStuck = (): Promise<CommandResult> =>
  withDb(async (db) => {
    const { workflows } = await listStuckWorkflows(db);
    return {
      lines: workflows.length > 0 ? workflows.flatMap(linesOf) : ['No workflow is stuck.'],
      json: { workflows },
    };
  });

const linesOf = ({ workflowId, attempts, since, failure }: StuckWorkflow): string[] => [
  `${workflowId} since ${since.toISOString()}, ${attempts} attempts`,
  `  ${failure.split('\n')[0]}`,
];

/** Starts stuck workflows anew from their rows, with the code that runs now. */
export const workflowsHeal = (): Promise<CommandResult> =>
  withTemporal(async (db, temporal) => {
    await new NamespaceOwner(temporal, await installationId(db)).verify();
    const healed: string[] = [];
    for (const { runId, workflowId, workflowType } of (await listStuckWorkflows(db)).workflows) {
      if ((await taskAttempts(temporal, { workflowId, runId })) > 1) {
        await terminateRun(temporal, { workflowId, runId });
        await restartWorkflow(db, workflowId, workflowType);
        healed.push(workflowId);
      }
      await forgetStuckWorkflows(db, [runId]);
    }
    return {
      lines: [`${healed.length} ${healed.length === 1 ? 'workflow was' : 'workflows were'} started anew`, ...healed],
      json: { healed },
    };
  });

/** Takes the namespace from an installation that no longer exists. */
export const namespaceTake = (): Promise<CommandResult> =>
  withTemporal(async (db, temporal) => {
    const installation = await installationId(db);
    const previous = await new NamespaceOwner(temporal, installation).take();
    return {
      lines: [`the namespace ${temporal.namespace} belongs to this installation (${installation})`],
      json: { namespace: temporal.namespace, installation, previous: previous ?? null },
    };
  });
