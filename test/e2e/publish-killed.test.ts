import { expect } from 'chai';
import { continueMoves } from '../../services/workflows/drafts/moves.ts';
import { storedExecutions, storedMoves } from '../support/rows/workflows.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { insertWaiting } from '../support/waiting-executions.ts';

const COUNT = 10_000;

describe('killing the API while executions move to a published version', function () {
  this.timeout(200_000);
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

  it('moves every execution once, continued by housekeeping', async () => {
    const { server, project, api } = stack;
    const { db } = stack.database;
    const { id } = (await server.post('/workflows', { name: 'Welcome', eventName: 'signed up' })).body;
    const rest = { type: 'DELAY', name: 'Rest', config: { amount: 1, unit: 'days' } };
    const stepId = (await server.post(`/workflows/${id}/steps`, rest)).body.id;
    const { version } = (await server.get(`/workflows/${id}`)).body;
    await insertWaiting(db, { projectId: project.id, workflowId: id, version, stepId, count: COUNT });
    const { graph, revision } = (await server.get(`/workflows/${id}/draft`)).body;
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
    await eventually(async () => (await move())?.moved === 5_000, { timeoutMs: 60_000, what: 'five sets' });
    await api.kill();
    expect(await publishing).to.equal('died');
    await lock.rollback();
    expect((await move()).finishedAt).to.equal(null);

    await continueMoves(db);
    expect(await move()).to.include({ moved: COUNT });
    const executions = await storedExecutions(db, { workflowId: id }).select('version', 'status');
    expect(executions).to.have.length(COUNT);
    expect(executions.filter((one) => one.version === version + 1 && one.status === 'WAITING')).to.have.length(COUNT);
    expect(await continueMoves(db)).to.equal(0);
  });
});
