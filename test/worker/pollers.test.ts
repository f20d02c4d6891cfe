import { expect } from 'chai';
import { processTimings } from '../../platform/timings.ts';
import { busyQueues, startHeartbeat } from '../../services/operators/processes.ts';
import { unpolledQueues } from '../../temporal/pollers.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import type { retention } from '../../workflows/index.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type OwnNamespace, ownNamespace, silent, temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('the task queues that no worker polls', () => {
  let database: ConnectedDatabase;
  let temporal: OwnNamespace;

  before(async () => {
    [database, temporal] = await Promise.all([connectTestDatabase(2), ownNamespace()]);
  });
  after(async () => {
    await temporal.close();
    await database.close();
  });

  it('are all of them without a worker', async () => {
    expect(await unpolledQueues(temporal)).to.have.members(Object.values(taskQueues));
  });

  it('are reported as busy by a worker while all of its slots are', async () => {
    const { db } = database;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const workers = new TemporalWorkers({
      settings: temporalSettings(temporal.address, temporal.namespace),
      temporal,
      duties: [
        { taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() },
        {
          taskQueue: taskQueues.bulk,
          activities: { removeOld: () => finished },
          maxConcurrentActivityTaskExecutions: 2,
        },
      ],
      log: silent,
    });
    const stopHeartbeat = startHeartbeat({
      db,
      kind: 'worker',
      log: silent,
      timings: processTimings,
      busyQueues: () => workers.busyQueues,
    });
    const runs = await Promise.all(
      [1, 2].map((n) =>
        temporal.client.workflow.start<typeof retention>('retention', {
          taskQueue: taskQueues.workflows,
          workflowId: `retention/${n}`,
        }),
      ),
    );
    await eventually(async () => (await busyQueues(db)).includes(taskQueues.bulk), { what: 'a busy queue' });
    expect(await busyQueues(db)).to.deep.equal([taskQueues.bulk]);
    finish();
    await Promise.all(runs.map((run) => run.result()));
    await eventually(async () => (await busyQueues(db)).length === 0, { what: 'free slots' });
    await workers.stop();
    await stopHeartbeat();
  });
});
