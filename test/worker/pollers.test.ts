import { type NativeConnection, Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { unpolledQueues } from '../../temporal/pollers.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import type { sender } from '../../workflows/index.ts';
import { nativeConnection, type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

/** No poll is this recent, so that only running activities count. */
const NEVER = 0;

describe('the task queues that no worker polls', () => {
  let temporal: OwnNamespace;
  let connection: NativeConnection;

  before(async () => {
    temporal = await ownNamespace();
    connection = await nativeConnection(temporal.address);
  });
  after(async () => {
    await connection.close();
    await temporal.close();
  });

  it('are all of them without a worker', async () => {
    expect(await unpolledQueues(temporal)).to.have.members(Object.values(taskQueues));
  });

  it('do not include that for mail while its only slot is busy sending', async () => {
    const { namespace } = temporal;
    let finish = () => {};
    const finished = new Promise<string>((resolve) => {
      finish = () => resolve('');
    });
    const workers = [
      await Worker.create({
        ...{ connection, namespace, taskQueue: taskQueues.workflows },
        workflowBundle: await workflowBundle(),
      }),
      await Worker.create({
        ...{ connection, namespace, taskQueue: taskQueues.mail, maxConcurrentActivityTaskExecutions: 1 },
        activities: { sendMail: () => finished },
      }),
    ];
    const runs = workers.map((worker) => worker.run());
    expect(await unpolledQueues(temporal, NEVER)).to.include(taskQueues.mail);
    const run = await temporal.client.workflow.start<typeof sender>('sender', {
      ...{ taskQueue: taskQueues.workflows, workflowId: 'sender/1' },
    });
    await eventually(async () => !(await unpolledQueues(temporal, NEVER)).includes(taskQueues.mail));
    await run.terminate();
    await eventually(async () => (await unpolledQueues(temporal, NEVER)).includes(taskQueues.mail));
    finish();
    for (const worker of workers) worker.shutdown();
    await Promise.all(runs);
  });
});
