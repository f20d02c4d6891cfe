import { expect } from 'chai';
import { Listener } from '../../db/listener.ts';
import { newId } from '../../platform/ids.ts';
import {
  registerMailProcess,
  startSenderWorkflow,
  unregisterMailProcess,
} from '../../services/outbox/sender-workflows.ts';
import { reconcileTemporal, type TemporalSide } from '../../services/reconciler/reconcile.ts';
import { openRuns } from '../../temporal/open-runs.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { Relay } from '../../worker/relay.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { outboxMessages } from '../support/rows/outbox.ts';
import { type OwnNamespace, ownNamespace, silent, temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const PROCESS = newId();
const LONG_AGO = new Date(Date.now() - 3_600_000);

describe('the sender workflows of an installation', () => {
  let database: ConnectedDatabase;
  let temporal: OwnNamespace;
  const ends: (() => Promise<unknown>)[] = [];

  before(async () => {
    database = await connectTestDatabase();
    temporal = await ownNamespace();
    const { db, url } = database;
    const listener = new Listener({ databaseUrl: url, log: silent });
    const relay = new Relay({ db, temporal, listener, log: silent });
    relay.start();
    await listener.start();
    const duty = { taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() };
    const settings = temporalSettings(temporal.address, temporal.namespace);
    const workers = new TemporalWorkers({ settings, temporal, duties: [duty], log: silent });
    ends.push(
      () => database.close(),
      () => temporal.close(),
      () => listener.stop(),
      () => relay.stop(),
      () => workers.stop(),
    );
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  /**
   * Lists sender workflows as if they had been started long ago, past the time in which a start may be under way. The
   * platform's Schedules start workflows of other types here, whenever their time has come.
   */
  const temporalSide = (): TemporalSide => {
    const side = openRuns(temporal);
    return {
      ...side,
      async *open() {
        for await (const page of side.open())
          yield page
            .filter(({ workflowType }) => workflowType === 'sender')
            .map((run) => ({ ...run, startedAt: LONG_AGO }));
      },
    };
  };
  /** As beside one process that can send, and repeats that it is there. */
  const reconcile = async () => {
    await registerMailProcess(database.db, PROCESS);
    return reconcileTemporal(database.db, temporalSide());
  };
  const listed = async (): Promise<string[]> => {
    const ids: string[] = [];
    for await (const page of openRuns(temporal).open())
      ids.push(...page.filter(({ workflowType }) => workflowType === 'sender').map(({ workflowId }) => workflowId));
    return ids.sort();
  };
  const listedAre = (...ids: string[]) =>
    eventually(async () => (await listed()).join() === ids.join(), { what: `the workflows ${ids.join(', ')}` });
  const start = (...numbers: number[]) =>
    Promise.all(numbers.map((number) => startSenderWorkflow(database.db, number)));

  it('number one more than the processes that can send', async () => {
    const { db } = database;
    const one = PROCESS;
    const two = newId();
    const gone = newId();
    expect(await registerMailProcess(db, one)).to.equal(2);
    expect(await registerMailProcess(db, two)).to.equal(3);
    expect(await registerMailProcess(db, one), 'the same process again').to.equal(3);
    expect(await registerMailProcess(db, gone)).to.equal(4);
    // Killed, so it cannot unregister.
    await db('mail_processes')
      .where({ id: gone })
      .update({ seenAt: new Date(Date.now() - 61_000) });
    expect(await registerMailProcess(db, one)).to.equal(3);
    expect(await db('mail_processes').pluck('id')).to.have.members([one, two]);
    await unregisterMailProcess(db, two);
    expect(await registerMailProcess(db, one)).to.equal(2);
  });

  it('are started once, and again when they were terminated', async () => {
    await start(1, 2);
    await listedAre('sender/1', 'sender/2');
    const { workflow } = temporal.client;
    const { runId } = await workflow.getHandle('sender/2').describe();
    await start(1, 2);
    await eventually(async () => (await outboxMessages(database.db)).length === 0);
    expect((await workflow.getHandle('sender/2').describe()).runId).to.equal(runId);
    expect(await reconcile()).to.deep.equal({ open: 2, revived: 0, ended: 0 });

    await workflow.getHandle('sender/1').terminate('by an operator');
    await listedAre('sender/2');
    expect(await reconcile()).to.deep.equal({ open: 1, revived: 1, ended: 0 });
    await listedAre('sender/1', 'sender/2');
  });

  it('are ended by the reconciler when they are too many', async () => {
    await start(1, 2, 3, 7);
    await listedAre('sender/1', 'sender/2', 'sender/3', 'sender/7');
    expect(await reconcile()).to.deep.equal({ open: 4, revived: 0, ended: 2 });
    await listedAre('sender/1', 'sender/2');
    const { status } = await temporal.client.workflow.getHandle('sender/7').describe();
    expect(status.name).to.equal('CANCELLED');
  });
});
