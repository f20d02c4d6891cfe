// A release was rolled back: executions have a history that the code of now does not match.
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { root } from '../../dev/root.ts';
import { readOverview } from '../../services/operators/overview.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { cachedBundle } from '../../worker/bundle.ts';
import { runCli } from '../support/cli.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { nativeConnection } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { build } from '../support/workflow-building.ts';

describe('an execution whose workflow task fails again and again', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  /** Starts an execution, and lets another version of the code take its first task. */
  async function startElsewhere(): Promise<string> {
    const { server, project } = stack;
    const workflow = await build({ ...project, server } as never, {
      steps: {
        tag: { type: 'UPDATE_CONTACT', config: { data: { welcomed: true } } },
        end: { type: 'EXIT', config: {} },
      },
      transitions: [['tag', 'end']],
    });
    expect(await server.patch(`/workflows/${workflow.id}`, { enabled: true })).to.have.status(200);
    const relay = await stack.startWorker({}, ['relay']);
    expect(await server.post('/events/track', { email: 'ann@example.com', event: 'signed up' })).to.have.status(200);
    const connection = await nativeConnection(temporal.address);
    const worker = await Worker.create({
      connection,
      namespace: temporal.namespace,
      taskQueue: taskQueues.workflows,
      workflowBundle: await cachedBundle(join(root, 'test/support/other-execution.ts')),
    });
    const timerStarted = async () => {
      const row = await stack.database.db('executions').first('id', 'projectId', 'generation');
      if (!row) return undefined;
      const workflowId = `execution/${row.projectId}/${row.id}/${row.generation}`;
      const { events } = await temporal.client.workflow
        .getHandle(workflowId)
        .fetchHistory()
        .catch(() => ({ events: [] }));
      return events?.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes) ? workflowId : undefined;
    };
    const workflowId = await worker.runUntil(() => eventually(timerStarted, { what: 'the first task' }));
    await connection.close();
    await relay.stop();
    return workflowId;
  }

  it('is counted, shown to operators, and started anew by one command', async () => {
    const workflowId = await startElsewhere();
    const worker = await stack.startWorker();
    const { db } = stack.database;
    await eventually(async () => (await db('stuckWorkflows')).length === 1, { what: 'the stuck workflow' });

    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    expect(metrics).to.match(/^everpost_stuck_workflows 1$/m);
    expect(metrics).to.match(/^temporal_workflow_task_execution_failed\{[^}]*\} [1-9]/m);
    // Those of ops/, which test/unit/ops.test.ts knows by name.
    for (const name of [
      'activity_schedule_to_start_latency_bucket',
      'workflow_task_schedule_to_start_latency_bucket',
      'worker_task_slots_available',
      'sticky_cache_size',
      'num_pollers',
    ])
      expect(metrics).to.match(new RegExp(`^temporal_${name}\\{[^}]*task_queue=`, 'm'));
    const listed = await runCli(['workflows', 'stuck'], stack.env);
    expect(listed.workflows).to.have.lengthOf(1);
    expect((listed.workflows as object[])[0]).to.include({ workflowId, workflowType: 'execution' });

    expect((await readOverview(db)).stuckWorkflows).to.include({ count: 1 });

    const healed = await runCli(['workflows', 'heal'], stack.env);
    expect(healed).to.deep.include({ ok: true, healed: [workflowId] });
    await eventually(async () => (await db('executions').first('status'))?.status === 'EXITED', {
      what: 'the end of the execution',
    });
    expect(await db('stuckWorkflows')).to.deep.equal([]);
    await worker.stop();
  });
});
