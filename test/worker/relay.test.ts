import { expect } from 'chai';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Listener } from '../../db/listener.ts';
import { freePort } from '../../dev/ports.ts';
import { newId } from '../../platform/ids.ts';
import { type Intent, writeOutboxMessage } from '../../services/outbox/write.ts';
import { createTemporal, type Temporal } from '../../temporal/connection.ts';
import { attributeKeys } from '../../temporal/search-attributes.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { Relay } from '../../worker/relay.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { type OwnNamespace, ownNamespace, silent, temporalSettings, testBundle } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

describe('the relay', () => {
  let world: World;
  let db: Db;
  let temporal: OwnNamespace;
  let workers: TemporalWorkers;
  const ends: (() => Promise<void>)[] = [];

  before(async function () {
    this.timeout(60_000);
    world = await openWorld();
    db = world.db;
    temporal = await ownNamespace();
    const duty = { taskQueue: taskQueues.workflows, workflowBundle: await testBundle() };
    const settings = temporalSettings(temporal.address, temporal.namespace);
    workers = new TemporalWorkers({ settings, temporal, duties: [duty], log: silent });
  });
  after(async () => {
    await workers.stop();
    await temporal.close();
    await world.close();
  });
  beforeEach(() => db('outbox').del());
  const stopRelays = async () => void (await Promise.all(ends.splice(0).map((end) => end())));
  afterEach(stopRelays);

  async function startRelay(to: Temporal = temporal): Promise<void> {
    const listener = new Listener({ databaseUrl: world.url, log: silent });
    const relay = new Relay({ db, temporal: to, listener, log: silent });
    relay.start();
    await listener.start();
    ends.push(async () => {
      await relay.stop();
      await listener.stop();
    });
  }

  const project = newId();
  const start = (workflowId: string, first = 'started'): Intent => {
    return { queue: 'starts', projectId: project, workflowId, action: 'start', workflowType: 'probe', args: [first] };
  };
  const note = (workflowId: string, text: string): Intent => {
    return { queue: 'control', projectId: project, workflowId, action: 'signal', signal: 'note', args: [text] };
  };
  const cancel = (workflowId: string): Intent => ({
    queue: 'control',
    projectId: project,
    workflowId,
    action: 'cancel',
  });
  const write = (...intents: Intent[]) =>
    inTransaction(db, async (trx) => {
      for (const intent of intents) await writeOutboxMessage(trx, intent);
    });
  const emptied = () => eventually(async () => (await db('outbox')).length === 0, { what: 'an empty outbox' });
  const id = () => `probe/${project}/${newId()}`;

  it('starts, signals and cancels one workflow in the order of writing, across queues', async () => {
    const workflowId = id();
    await write(start(workflowId), note(workflowId, 'one'), note(workflowId, 'two'), cancel(workflowId));
    await startRelay();
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['started', 'one', 'two', 'cancelled']);
  });

  it('starts a workflow once, also when it is over', async () => {
    const workflowId = id();
    await startRelay();
    await write(start(workflowId, 'first'), note(workflowId, 'end'), start(workflowId, 'second'));
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['first', 'end']);
    await write(start(workflowId, 'third'));
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['first', 'end']);
  });

  it('is done with a signal or a cancel for a workflow that is over, or never was', async () => {
    const workflowId = id();
    await startRelay();
    await write(start(workflowId, 'end'));
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['end']);
    await write(note(workflowId, 'late'), cancel(workflowId), note(id(), 'to nobody'), cancel(id()));
    await emptied();
  });

  it('lets a workflow be found by its project and its resource', async () => {
    const [workflowId, resourceId] = [id(), newId()];
    await startRelay();
    await write({ ...start(workflowId), resourceId } as Intent);
    await emptied();
    const { typedSearchAttributes } = await temporal.client.workflow.getHandle(workflowId).describe();
    expect(typedSearchAttributes.get(attributeKeys.projectId)).to.equal(project);
    expect(typedSearchAttributes.get(attributeKeys.resourceId)).to.equal(resourceId);
  });

  it('counts a failure of the row against it, and carries out the others', async () => {
    const [poison, healthy] = [id(), id()];
    await write(start(poison, 'x'.repeat(3_000_000)), start(healthy));
    await startRelay();
    const [row] = await eventually(async () => {
      const rows = await db('outbox');
      return rows.length === 1 && rows[0].attempts > 0 && rows;
    });
    expect(row).to.deep.include({ workflowId: poison, parkedAt: null });
    expect(row.lastError).to.match(/size exceeds limit/i);
    expect((await temporal.client.workflow.getHandle(healthy).describe()).type).to.equal('probe');
  });

  it('counts nothing against a row while Temporal is away, and carries it out when it is there', async () => {
    const workflowId = id();
    await write(start(workflowId), note(workflowId, 'end'));
    const away = createTemporal(temporalSettings(`127.0.0.1:${await freePort()}`, temporal.namespace));
    await startRelay(away);
    const told = () => db('outbox').whereNotNull('lastError').first();
    const row = await eventually(told, { timeoutMs: 25_000, what: 'a try at carrying it out' });
    expect(row).to.include({ workflowId, attempts: 0, parkedAt: null });
    await stopRelays();
    await startRelay();
    await emptied();
    expect(await temporal.client.workflow.result(workflowId)).to.deep.equal(['started', 'end']);
    await away.close();
  });

  it('shares the work with other relays, each intent carried out once', async () => {
    const ids = Array.from({ length: 30 }, id);
    await write(...ids.flatMap((workflowId) => [start(workflowId), note(workflowId, 'a'), note(workflowId, 'end')]));
    await Promise.all([startRelay(), startRelay(), startRelay()]);
    await emptied();
    const results = await Promise.all(ids.map((workflowId) => temporal.client.workflow.result(workflowId)));
    expect(results).to.deep.equal(ids.map(() => ['started', 'a', 'end']));
  });
});
