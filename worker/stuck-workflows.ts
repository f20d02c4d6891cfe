// Finds workflows that do not continue because their task fails, mostly because the code does not match their history.
import type { Db } from '../db/connect.ts';
import type { Logger } from '../platform/logger.ts';
import type { Timings } from '../platform/timings.ts';
import {
  forgetStuckWorkflows,
  listStuckWorkflows,
  recordStuckWorkflow,
} from '../services/operators/stuck-workflows.ts';
import type { Temporal } from '../temporal/connection.ts';
import { findRun, taskAttempts } from '../temporal/workflow-tasks.ts';
import { Loop } from './loop.ts';
import type { FailedTask } from './temporal-log.ts';

/** A task that failed once may succeed the next time. */
const STUCK_ATTEMPTS = 2;
/** Failures that are not looked into yet; more are reported by the next failure of the same workflows. */
const MAX_WAITING = 10_000;
const CHECKED_AT_ONCE = 200;

/** Collects failed tasks of this process, and writes those that fail again to `stuck_workflows`. */
export class StuckWorkflows {
  private readonly failed = new Map<string, string>();
  private loop: Loop | undefined;

  /** May be called before `start`. */
  readonly onFailedTask = ({ runId, failure }: FailedTask): void => {
    if (this.failed.size < MAX_WAITING) this.failed.set(runId, failure);
  };

  start(options: { db: Db; temporal: Temporal; timings: Timings; log: Logger }): void {
    const { stuckWorkflows: idleMs, stuckWorkflowsTrouble: troubleMs } = options.timings.worker;
    this.loop = new Loop({
      name: 'stuck workflows',
      idleMs,
      troubleMs,
      log: options.log,
      round: async () => {
        await this.look(options);
        await this.lookAgain(options);
        return 'idle';
      },
    });
  }

  async stop(): Promise<void> {
    await this.loop?.stop();
  }

  private async look({ db, temporal, log }: { db: Db; temporal: Temporal; log: Logger }): Promise<void> {
    for (const [runId, failure] of [...this.failed].slice(0, CHECKED_AT_ONCE)) {
      const run = await findRun(temporal, runId);
      const attempts = run ? await taskAttempts(temporal, run) : 0;
      // A first failure is looked at again: the second attempt may be under way.
      if (run && attempts >= STUCK_ATTEMPTS) {
        await recordStuckWorkflow(db, { ...run, failure, attempts });
        log.error(
          { workflowId: run.workflowId, runId, failure },
          'a workflow is stuck: its task fails again and again',
        );
      }
      if (!run || attempts !== 1) this.failed.delete(runId);
    }
  }

  /** Any worker removes what continues again, also when another one has reported it. */
  private async lookAgain({ db, temporal }: { db: Db; temporal: Temporal }): Promise<void> {
    const { workflows } = await listStuckWorkflows(db, CHECKED_AT_ONCE);
    for (const stuck of workflows) {
      const attempts = await taskAttempts(temporal, stuck);
      if (attempts >= STUCK_ATTEMPTS) await recordStuckWorkflow(db, { ...stuck, attempts });
      else await forgetStuckWorkflows(db, [stuck.runId]);
    }
  }
}
