import { expect } from 'chai';
import joi from 'joi';
import { createWorkflow } from '../../../services/workflows/create.ts';
import { startExecution } from '../../../services/workflows/executions/start.ts';
import { stepTypes } from '../../../services/workflows/steps/index.ts';
import { failStep, leaveBy, type StepType, sleepUntil, stepType } from '../../../services/workflows/steps/step-type.ts';
import { addStep, addTransition } from '../../../services/workflows/steps-edit.ts';
import { updateWorkflow } from '../../../services/workflows/update.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { ExecutionDriver } from '../../support/executions.ts';
import { testKeys } from '../../support/keys.ts';

// What docs/adding-a-step.md walks through: the whole of a new step type, and its entry in the table.

interface CoinConfig {
  side?: 'heads' | 'tails';
}

/** Leaves by `yes` when the contact's `side` is the configured one. */
const coin: StepType<CoinConfig> = {
  type: 'COIN',
  label: 'Coin',
  description: 'For this test.',
  exits: ['yes', 'no'],
  runsUnlocked: true,
  config: joi.object({ side: joi.string().valid('heads', 'tails') }).unknown(),
  violations: ({ config }) => (config.side ? [] : ['has no side']),
  uses: () => ({ fields: ['data.side'] }),
  run: ({ config }, { contact }) => {
    const { side } = contact.data;
    if (side === undefined) return failStep('the contact has no side');
    return leaveBy(side === config.side ? 'yes' : 'no', { side });
  },
};

/** Waits for an hour. */
const nap: StepType = {
  type: 'NAP',
  label: 'Nap',
  description: 'For this test.',
  exits: ['next'],
  waits: true,
  config: joi.object().unknown(),
  violations: () => [],
  run: (_, { now }) => sleepUntil(new Date(now.getTime() + 3_600_000)),
};

describe('a new step type', () => {
  const table = stepTypes as Record<string, StepType>;
  const rules = { webhookAllowedHosts: [], secretKeys: testKeys };
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;

  before(async () => {
    table.COIN = stepType(coin);
    table.NAP = stepType(nap);
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(async () => {
    delete table.COIN;
    delete table.NAP;
    await database?.close();
  });

  const create = () => createWorkflow(database.db, project.access, { name: 'Toss', eventName: 'tossed' });
  const add = (workflowId: string, type: string, config = {}) =>
    addStep(database.db, project.access, workflowId, { type, config }, rules);
  const connect = (workflowId: string, fromStepId: string, toStepId: string, branch: 'yes' | null = null) =>
    addTransition(database.db, project.access, workflowId, { fromStepId, toStepId, branch });
  const enable = (workflowId: string) => updateWorkflow(database.db, project.access, workflowId, { enabled: true });

  async function start(workflowId: string, email: string, data: Record<string, unknown>): Promise<string> {
    await driver.contact(email, data);
    return (await startExecution(database.db, project.access, workflowId, { email })).id;
  }

  it('rejects a config that breaks its schema with 422', async () => {
    const { id } = await create();
    const error = await add(id, 'COIN', { side: 'edge' }).catch((caught: unknown) => caught);
    expect(error).to.include({ status: 422 });
  });

  it('keeps a workflow from being enabled while it reports a violation', async () => {
    const { id } = await create();
    await add(id, 'COIN');
    const error = await enable(id).catch((caught: unknown) => caught);
    expect(error).to.include({ status: 400, message: 'The workflow cannot be enabled: "Coin" has no side.' });
  });

  it('runs from its first step over its exits to the end', async () => {
    const { id } = await create();
    const toss = await add(id, 'COIN', { side: 'heads' });
    const sleep = await add(id, 'NAP');
    await connect(id, toss.id, sleep.id, 'yes');
    await enable(id);

    const winner = await start(id, 'heads@example.com', { side: 'heads' });
    expect(await driver.advance(winner)).to.include({ kind: 'rest', stepType: 'NAP' });
    driver.later(3_600_001);
    expect(await driver.advance(winner)).to.deep.equal({ kind: 'end', status: 'COMPLETED' });
    expect(await driver.visits(winner)).to.deep.equal(['Coin: COMPLETED by yes', 'Nap: COMPLETED']);

    const loser = await start(id, 'tails@example.com', { side: 'tails' });
    expect(await driver.advance(loser)).to.deep.equal({ kind: 'end', status: 'COMPLETED' });
    expect(await driver.visits(loser)).to.deep.equal(['Coin: COMPLETED by no']);
  });

  it('fails the execution with its reason when it cannot go on', async () => {
    const { id } = await create();
    await add(id, 'COIN', { side: 'heads' });
    await enable(id);
    const execution = await start(id, 'none@example.com', {});
    expect(await driver.advance(execution)).to.deep.equal({ kind: 'end', status: 'FAILED' });
    expect(await driver.execution(execution)).to.include({ status: 'FAILED', error: 'the contact has no side' });
  });

  it('allows a circle of transitions only through a type that waits', async () => {
    const { id } = await create();
    const first = await add(id, 'COIN', { side: 'heads' });
    const second = await add(id, 'COIN', { side: 'heads' });
    const sleep = await add(id, 'NAP');
    await connect(id, first.id, second.id, 'yes');
    await connect(id, second.id, sleep.id, 'yes');
    await connect(id, sleep.id, first.id);
    const error = await addTransition(database.db, project.access, id, {
      fromStepId: second.id,
      toStepId: first.id,
      branch: 'no',
    }).catch((caught: unknown) => caught);
    expect(error).to.include({ status: 400 });
  });
});
