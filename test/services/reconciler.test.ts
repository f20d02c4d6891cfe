import { expect } from 'chai';
import { readSettings } from '../../platform/settings.ts';
import { createBulkJob } from '../../services/jobs/create.ts';
import { type OpenRun, reconcileTemporal, type TemporalSide } from '../../services/reconciler/reconcile.ts';
import { createEndpoint } from '../../services/webhooks/endpoints.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow } from '../support/executions.ts';
import { setJobs } from '../support/rows/jobs.ts';
import { emptyOutbox, outboxMessages } from '../support/rows/outbox.ts';
import { countRows } from '../support/rows/tables.ts';
import { setEndpoints } from '../support/rows/webhooks.ts';
import { setExecutions } from '../support/rows/workflows.ts';

const LONG_AGO = new Date(Date.now() - 3_600_000);
/** Within the grace of the reconciler, however long a test takes. */
const JUST_NOW = new Date(Date.now() + 3_600_000);

/** Stands in for Temporal with a list of open runs. */
class Listed implements TemporalSide {
  readonly ended: string[] = [];
  readonly runs: OpenRun[];
  private readonly unlisted: string[];

  constructor(runs: OpenRun[] = [], unlisted: string[] = []) {
    this.runs = runs;
    this.unlisted = unlisted;
  }

  async *open() {
    yield this.runs;
  }

  async isOpen({ workflowId }: { workflowId: string }) {
    return this.unlisted.includes(workflowId) || this.runs.some((run) => run.workflowId === workflowId);
  }

  async end({ workflowId }: { workflowId: string }) {
    this.ended.push(workflowId);
  }
}

describe('the reconciler', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let execution: string;

  beforeEach(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
    const workflow = await insertWorkflow(database.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
    });
    execution = await driver.start(workflow, 'ann@example.com');
    await driver.advance(execution);
    await emptyOutbox(database.db);
    await setExecutions(database.db, {}, { updatedAt: LONG_AGO });
  });
  afterEach(() => database?.close());

  const run = (workflowId: string, workflowType: string, startedAt = LONG_AGO): OpenRun => ({
    workflowId,
    workflowType,
    startedAt,
  });
  const idOf = (generation: number) => `execution/${project.id}/${execution}/${generation}`;
  const intents = () => outboxMessages(database.db).select('action', 'workflowId');

  it('changes nothing for open workflows', async () => {
    const side = new Listed([run(idOf(1), 'execution')]);
    expect(await reconcileTemporal(database.db, side)).to.deep.equal({ open: 1, revived: 0, ended: 0 });
    expect(await intents()).to.deep.equal([]);
    expect(await countRows(database.db, 'open_runs')).to.equal(0);
  });

  it('restarts a lost execution under a new generation', async () => {
    expect(await reconcileTemporal(database.db, new Listed())).to.deep.equal({ open: 0, revived: 1, ended: 0 });
    expect(await intents()).to.deep.equal([{ action: 'start', workflowId: idOf(2) }]);
    expect(await driver.execution(execution)).to.include({ status: 'WAITING', generation: 2 });
    expect(await driver.advance(execution)).to.include({ kind: 'rest' });
    // Its start is in the outbox now.
    expect(await reconcileTemporal(database.db, new Listed())).to.include({ revived: 0 });
  });

  it('restarts neither what `isOpen` finds nor a row that has just changed', async () => {
    expect(await reconcileTemporal(database.db, new Listed([], [idOf(1)]))).to.include({ revived: 0 });
    await setExecutions(database.db, {}, { updatedAt: JUST_NOW });
    expect(await reconcileTemporal(database.db, new Listed())).to.include({ revived: 0 });
  });

  it('ends workflows without a row, except those that have just started', async () => {
    await setExecutions(database.db, {}, { generation: 3 });
    const side = new Listed([
      run(idOf(3), 'execution'),
      run(idOf(2), 'execution'),
      run(idOf(4), 'execution', JUST_NOW),
      run(`cron/${project.id}/${execution}`, 'Schedule'),
      run('segments/sweep', 'segmentSweep'),
    ]);
    expect(await reconcileTemporal(database.db, side)).to.include({ revived: 0, ended: 2 });
    expect(side.ended).to.have.members([idOf(2), `cron/${project.id}/${execution}`]);
  });

  it('restarts a lost job under its id, and recreates a lost Schedule', async () => {
    const { db } = database;
    const jobId = await createBulkJob(db, project.access, 'BULK_SUBSCRIBE', [execution]);
    const { id } = await insertWorkflow(db, project, {
      steps: { out: ['EXIT'] },
      workflow: { triggerType: 'SCHEDULE', triggerConfig: JSON.stringify({ cron: '0 8 * * *' }), updatedAt: LONG_AGO },
    });
    await setJobs(db, {}, { createdAt: LONG_AGO, admittedAt: LONG_AGO });
    await emptyOutbox(db);
    expect(await reconcileTemporal(db, new Listed([run(idOf(1), 'execution')]))).to.include({ revived: 2 });
    const rows = await outboxMessages(db);
    expect(rows.map(({ action, workflowId }) => [action, workflowId])).to.deep.equal([
      ['start', `job/${project.id}/${jobId}`],
      ['schedule', `cron/${project.id}/${id}`],
    ]);
    expect(rows[0].payload).to.include({ again: true });
  });

  it('restarts the lost workflow of a webhook endpoint under a new generation, and ends that of a deleted one', async () => {
    const { db } = database;
    const input = { url: 'https://hooks.example', types: ['*'] };
    const { endpoint } = await createEndpoint(db, project.access, input, readSettings({}));
    await setEndpoints(db, {}, { loopStartedAt: LONG_AGO });
    await emptyOutbox(db);
    const gone = `webhookEndpoint/${project.id}/${execution}/1`;
    const side = new Listed([run(idOf(1), 'execution'), run(gone, 'webhookEndpoint')]);
    expect(await reconcileTemporal(db, side)).to.include({ revived: 1, ended: 1 });
    expect(await intents()).to.deep.equal([
      { action: 'start', workflowId: `webhookEndpoint/${project.id}/${endpoint.id}/2` },
    ]);
    expect(side.ended).to.deep.equal([gone]);
  });
});
