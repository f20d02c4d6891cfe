import { expect } from 'chai';
import { trackEvent } from '../../services/events/track.ts';
import { continueMoves } from '../../services/workflows/drafts/moves.ts';
import { testKeys } from '../support/keys.ts';
import { storedExecutions, storedMoves } from '../support/rows/workflows.ts';
import { type OwnNamespace, ownNamespace, type ProcessStack, startProcessStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { insertWaiting } from '../support/waiting-executions.ts';
import { build, enable } from '../support/workflow-building.ts';

const COUNT = 10_000;

describe('killing the API while executions move to a published version', () => {
  let temporal: OwnNamespace;
  let stack: ProcessStack;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startProcessStack(temporal);
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  it('moves every execution once, continued by a worker, and loses nobody', async () => {
    const { server, project, api } = stack;
    const { db } = stack.database;
    const worker = await stack.startWorker();
    const { id, steps } = await build(
      { server },
      {
        steps: {
          wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } },
          out: { type: 'EXIT', config: { reason: 'old' } },
        },
        transitions: [['wait', 'out']],
      },
    );
    await enable({ server }, id);
    const { version } = (await server.get(`/workflows/${id}`)).body;
    /** People whose executions run, unlike the thousands: their Temporal workflows wait for the event. */
    const enter = async (emails: string[]) => {
      for (const email of emails) await trackEvent(db, project.access, { email, event: 'signed up' });
      const waiting = () => db('executions').where({ workflowId: id, awaitedEvent: 'bought', version });
      await eventually(async () => (await waiting()).length >= emails.length, { what: 'executions' });
    };
    const first = ['ann@example.com', 'bob@example.com'];
    const last = ['cem@example.com', 'dee@example.com'];
    // Ids grow, so that these move before the API dies, and the last ones after.
    await enter(first);
    await insertWaiting(db, { projectId: project.id, workflowId: id, version, stepId: steps.wait, count: COUNT });
    await enter([...first, ...last]);
    await worker.kill();
    const { graph, revision } = (await server.get(`/workflows/${id}/draft`)).body;
    for (const step of graph.steps) if (step.type === 'EXIT') step.config = { reason: 'new' };
    const saved = await server.put(`/workflows/${id}/draft`, { graph, expectedRevision: revision });

    // Locks an execution in the middle, so that the API dies between two sets.
    const lock = await db.transaction();
    const middle = await storedExecutions(db, { workflowId: id }).offset(5_500).first('id');
    await lock('executions').where({ id: middle.id }).forUpdate();
    const body = { expectedRevision: saved.body.revision, migrate: 'POSSIBLE' };
    const publishing = server.post(`/workflows/${id}/publish`, body).then(
      ({ status }) => status,
      () => 'died',
    );
    const move = () => storedMoves(db, { workflowId: id }).first();
    await eventually(async () => (await move())?.moved === 5_000, { what: 'five sets' });
    await api.kill();
    expect(await publishing).to.equal('died');
    await lock.rollback();
    expect((await move()).finishedAt).to.equal(null);

    await stack.startWorker();
    await eventually(async () => (await move()).finishedAt !== null, { what: 'the end of the move' });
    const people = [...first, ...last];
    expect(await move()).to.include({ moved: COUNT + people.length });
    const executions = await storedExecutions(db, { workflowId: id }).select('version', 'status');
    expect(executions).to.have.length(COUNT + people.length);
    expect(executions.every((one) => one.version === version + 1 && one.status === 'WAITING')).to.equal(true);
    expect(await continueMoves(db, testKeys)).to.equal(0);

    for (const email of people) await trackEvent(db, project.access, { email, event: 'bought' });
    const ended = () => storedExecutions(db, { workflowId: id, status: 'EXITED' });
    await eventually(async () => (await ended()).length === people.length, { what: 'four exits' });
    expect((await ended()).map(({ exitReason }) => exitReason)).to.deep.equal(people.map(() => 'new'));
  });
});
