import { expect } from 'chai';
import { trackEvent } from '../../services/events/track.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { spawnWorker } from '../support/processes.ts';
import { storedExecutions, storedVisits } from '../support/rows/workflows.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const steps = {
  ann: { type: 'DELAY', config: { amount: 5, unit: 'days' } },
  bob: { type: 'WAIT_FOR_EVENT', config: { eventName: 'opened' } },
  cem: { type: 'WEBHOOK', config: { url: 'http://127.0.0.1:9/' } },
};
type Name = keyof typeof steps;
const names = Object.keys(steps) as Name[];

describe('killing the worker while executions move to a published version', () => {
  let temporal: OwnNamespace;
  let stack: Stack;
  let receiver: HttpReceiver;

  before(async () => {
    temporal = await ownNamespace();
    receiver = await startHttpReceiver();
    stack = await startStack(temporal, { WEBHOOK_ALLOWED_HOSTS: `${receiver.host},127.0.0.1:9` });
  });
  after(async () => {
    await stack?.end();
    await receiver?.stop();
    await temporal?.close();
  });

  it('lets each go on with the new config of its step', async () => {
    const { server, project } = stack;
    const { db } = stack.database;
    const changed: Record<Name, object> = {
      ann: { amount: 1, unit: 'seconds' },
      bob: { eventName: 'bought' },
      cem: { url: receiver.url },
    };
    const workflows = new Map<Name, string>();
    const worker = await stack.startWorker();
    for (const name of names) {
      const out = { type: 'EXIT', config: { reason: 'old' } };
      const built = await build(
        { server },
        { steps: { at: steps[name], out }, transitions: [['at', 'out']] },
        { eventName: name },
      );
      await enable({ server }, built.id);
      workflows.set(name, built.id);
      await trackEvent(db, project.access, { email: `${name}@example.com`, event: name });
    }
    const at = async (name: Name) => {
      const [execution] = await storedExecutions(db, { workflowId: workflows.get(name) });
      const [visit] = execution ? await storedVisits(db, { executionId: execution.id }) : [];
      return { execution, visit };
    };
    const waits = async () => (await Promise.all(names.map(at))).every(({ visit }) => visit);
    await eventually(waits, { what: 'three executions in their steps' });
    await eventually(async () => (await at('cem')).visit.attempt > 1, { what: 'a failed call' });

    await worker.kill();
    for (const name of names) {
      const path = `/workflows/${workflows.get(name)}`;
      const { graph, revision } = (await server.get(`${path}/draft`)).body;
      for (const step of graph.steps) step.config = step.type === 'EXIT' ? { reason: 'new' } : changed[name];
      const saved = await server.put(`${path}/draft`, { graph, expectedRevision: revision });
      const body = { expectedRevision: saved.body.revision, migrate: 'POSSIBLE' };
      expect((await server.post(`${path}/publish`, body)).body).to.include({ movedCount: 1 });
    }
    // Dies right after the first of them has its new plan or has left its step.
    const second = await spawnWorker({ ...stack.env, EVERPOST_FAULT_POINT: 'step-after-write:1' });
    await second.exited;
    await stack.startWorker();
    await eventually(async () => (await at('bob')).execution.awaitedEvent === 'bought', { what: 'the new event' });
    await trackEvent(db, project.access, { email: 'bob@example.com', event: 'bought' });
    const ended = async () => (await Promise.all(names.map(at))).map(({ execution }) => execution.exitReason);
    await eventually(async () => (await ended()).every((reason) => reason === 'new'), { what: 'three exits' });
    // Called once more when the worker dies before it has recorded the outcome, under the same id.
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    for (const name of names)
      expect(await storedVisits(db, { executionId: (await at(name)).execution.id })).to.have.length(2);
  });
});
