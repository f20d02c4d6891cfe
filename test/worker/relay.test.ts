import { expect } from 'chai';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Listener } from '../../db/listener.ts';
import { freePort } from '../../dev/ports.ts';
import { newId } from '../../platform/ids.ts';
import { processTimings } from '../../platform/timings.ts';
import { type OutboxMessage, writeOutboxMessage } from '../../services/outbox/write.ts';
import { createTemporal, type Temporal } from '../../temporal/connection.ts';
import { attributeKeys } from '../../temporal/search-attributes.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { Relay } from '../../worker/relay.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { emptyOutbox, outboxMessages } from '../support/rows/outbox.ts';
import { type OwnNamespace, ownNamespace, silent, temporalSettings, testBundle } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

/** No relay dies here, so no claim may run out: another relay would send the message again. */
const timings = { ...processTimings, outboxClaim: { ...processTimings.outboxClaim, claim: 3_600_000 } };

describe('the relay', () => {
  let database: ConnectedDatabase;
  let db: Db;
  let temporal: OwnNamespace;
  let workers: TemporalWorkers;
  const ends: (() => Promise<void>)[] = [];

  before(async () => {
    database = await connectTestDatabase();
    db = database.db;
    temporal = await ownNamespace();
    const duty = { taskQueue: taskQueues.workflows, workflowBundle: await testBundle() };
    const settings = temporalSettings(temporal.address, temporal.namespace);
    workers = new TemporalWorkers({ settings, temporal, duties: [duty], log: silent });
  });
  after(async () => {
    await workers.stop();
    await temporal.close();
    await database.close();
  });
  beforeEach(() => emptyOutbox(db));
  const stopRelays = async () => void (await Promise.all(ends.splice(0).map((end) => end())));
  afterEach(stopRelays);

  async function startRelay(to: Temporal = temporal): Promise<void> {
    const listener = new Listener({ databaseUrl: database.url, log: silent });
    const relay = new Relay({ db, temporal: to, listener, log: silent, timings });
    relay.start();
    await listener.start();
    ends.push(async () => {
      await relay.stop();
      await listener.stop();
    });
  }

  const project = newId();
  const start = (workflowId: string, first = 'started'): OutboxMessage => {
    return { queue: 'starts', projectId: project, workflowId, action: 'start', workflowType: 'probe', args: [first] };
  };
  const signal = (workflowId: string, text: string): OutboxMessage => {
    return { queue: 'control', projectId: project, workflowId, action: 'signal', signal: 'note', args: [text] };
  };
  const cancel = (workflowId: string): OutboxMessage => ({
    queue: 'control',
    projectId: project,
    workflowId,
    action: 'cancel',
  });
  const write = (...messages: OutboxMessage[]) =>
    inTransaction(db, async (trx) => {
      for (const message of messages) await writeOutboxMessage(trx, message);
    });
  const emptied = () => eventually(async () => (await outboxMessages(db)).length === 0, { what: 'an empty outbox' });
  const id = () => `probe/${project}/${newId()}`;

  it('starts, signals and cancels one workflow in the order of writing across queues', async () => {
    const workflowId = id();
    await write(start(workflowId), signal(workflowId, 'one'), signal(workflowId, 'two'), cancel(workflowId));
    await startRelay();
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['started', 'one', 'two', 'cancelled']);
  });

  it('starts a workflow id once, even after it has completed', async () => {
    const workflowId = id();
    await startRelay();
    await write(start(workflowId, 'first'), signal(workflowId, 'end'), start(workflowId, 'second'));
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['first', 'end']);
    await write(start(workflowId, 'third'));
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['first', 'end']);
  });

  it('drops a signal or a cancel for a workflow that has ended or never existed', async () => {
    const workflowId = id();
    await startRelay();
    await write(start(workflowId, 'end'));
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['end']);
    await write(signal(workflowId, 'late'), cancel(workflowId), signal(id(), 'to none'), cancel(id()));
    await emptied();
  });

  it('sets search attributes of executions only', async () => {
    const executionId = id();
    const otherId = id();
    const resourceId = newId();
    await startRelay();
    await write({ ...start(executionId), workflowType: 'execution', resourceId } as OutboxMessage);
    await write({ ...start(otherId), resourceId } as OutboxMessage);
    await emptied();
    const { typedSearchAttributes } = await temporal.client.workflow.getHandle(executionId).describe();
    expect(typedSearchAttributes.get(attributeKeys.projectId)).to.equal(project);
    expect(typedSearchAttributes.get(attributeKeys.resourceId)).to.equal(resourceId);
    const other = await temporal.client.workflow.getHandle(otherId).describe();
    expect(other.typedSearchAttributes.get(attributeKeys.projectId)).to.equal(undefined);
  });

  it('counts an attempt of a failing message, and sends the others', async () => {
    const poison = id();
    const healthy = id();
    await write(start(poison, 'x'.repeat(3_000_000)), start(healthy));
    await startRelay();
    const [row] = await eventually(async () => {
      const rows = await outboxMessages(db);
      return rows.length === 1 && rows[0].attempts > 0 && rows;
    });
    expect(row).to.deep.include({ workflowId: poison, parkedAt: null });
    expect(row.lastError).to.match(/size exceeds limit/i);
    expect((await temporal.client.workflow.getHandle(healthy).describe()).type).to.equal('probe');
  });

  it('counts no attempt while Temporal is unavailable, and sends the message afterwards', async () => {
    const workflowId = id();
    await write(start(workflowId), signal(workflowId, 'end'));
    const unavailable = createTemporal(temporalSettings(`127.0.0.1:${await freePort()}`, temporal.namespace));
    await startRelay(unavailable);
    const failedRow = () => outboxMessages(db).whereNotNull('lastError').first();
    const row = await eventually(failedRow, { what: 'an attempt to send it' });
    expect(row).to.include({ workflowId, attempts: 0, parkedAt: null });
    await stopRelays();
    await startRelay();
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['started', 'end']);
    await unavailable.close();
  });

  it('sends each message once when three relays run', async () => {
    const ids = Array.from({ length: 30 }, id);
    await write(
      ...ids.flatMap((workflowId) => [start(workflowId), signal(workflowId, 'a'), signal(workflowId, 'end')]),
    );
    await Promise.all([startRelay(), startRelay(), startRelay()]);
    await emptied();
    const results = await Promise.all(ids.map((workflowId) => temporal.client.workflow.result(workflowId)));
    expect(results).to.deep.equal(ids.map(() => ['started', 'a', 'end']));
  });
});
