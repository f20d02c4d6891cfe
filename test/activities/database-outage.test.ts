import { expect } from 'chai';
import { executionActivities } from '../../activities/executions.ts';
import { jobActivities } from '../../activities/jobs.ts';
import { connectDb, type Db } from '../../db/connect.ts';
import { Execution } from '../../db/models/execution.ts';
import { Job } from '../../db/models/job.ts';
import { createImport } from '../../services/jobs/create.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow } from '../support/executions.ts';
import { testKeys } from '../support/keys.ts';
import { testLinks } from '../support/links.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/postgres.ts';
import { testRenderer } from '../support/renderer.ts';
import { hideTable } from '../support/rows/tables.ts';
import { activityEnvironment } from '../support/temporal-work.ts';

const ATTEMPTS = 15;

describe('activities while Postgres is unavailable', () => {
  let postgres: OwnPostgres;
  let db: Db;
  let project: TestProject;

  before(async () => {
    postgres = await startOwnPostgres();
    db = connectDb({ databaseUrl: postgres.url, poolSize: 5, timeouts: { connectMs: 30_000 } });
    project = await makeProject(db);
  });
  after(async () => {
    await db?.destroy();
    await postgres?.stop();
  });

  const failed = async (work: () => Promise<unknown>): Promise<boolean> =>
    work().then(
      () => false,
      () => true,
    );

  it(`leaves a job and an execution unchanged after ${ATTEMPTS} attempts, and continues afterwards`, async () => {
    const jobId = await createImport(db, project.access, Buffer.from('email\na@example.com\n'));
    const workflow = await insertWorkflow(db, project, { steps: { out: ['EXIT'] } });
    const driver = new ExecutionDriver(db, project);
    await driver.contact('b@example.com', {});
    const executionId = await driver.start(workflow, 'b@example.com', {});

    const deps = { db, renderer: testRenderer(), links: testLinks, now: () => new Date(), keys: testKeys };
    const executions = executionActivities(deps);
    const jobs = jobActivities({ db, stopping: new AbortController().signal });
    const both: (() => Promise<unknown>)[] = [
      () => activityEnvironment().run(jobs.runJobSlice, jobId),
      () => activityEnvironment().run(executions.advanceExecution, { executionId, generation: 1 }),
    ];
    // Not killed: sessions outlive a killed server by a moment.
    await postgres.stop();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
      for (const work of both) expect(await failed(work)).to.equal(true);
    await postgres.start();

    // Attempts during the outage do not count, so this failure is not the tenth.
    const restore = await hideTable(db, 'jobs');
    expect(await failed(both[0] ?? (async () => {}))).to.equal(true);
    await restore();
    expect(await Job.query(db).findById(jobId)).to.include({ status: 'QUEUED' });
    for (const work of both) await work();
    expect(await Job.query(db).findById(jobId)).to.include({ status: 'COMPLETED' });
    expect(await Execution.query(db).findById(executionId)).not.to.include({ status: 'FAILED' });
  });

  it('fails a job after ten failures while Postgres is available', async () => {
    const jobId = await createImport(db, project.access, Buffer.from('email\nc@example.com\n'));
    const restore = await hideTable(db, 'contacts');
    const jobs = jobActivities({ db, stopping: new AbortController().signal });
    const run = () => activityEnvironment().run(jobs.runJobSlice, jobId);
    for (let attempt = 1; attempt < 10; attempt++) expect(await failed(run)).to.equal(true);
    expect(await run()).to.include({ ended: true });
    await restore();
    expect(await Job.query(db).findById(jobId)).to.include({ status: 'FAILED' });
  });
});
