import { expect } from 'chai';
import { Workflow } from '../../../db/models/workflow.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { enterAtTick } from '../../../services/workflows/tick.ts';
import { updateWorkflow } from '../../../services/workflows/update.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { type CreatedWorkflow, ExecutionDriver, insertWorkflow } from '../../support/executions.ts';
import { outboxMessages } from '../../support/rows/outbox.ts';
import { setExecutions, storedExecutions } from '../../support/rows/workflows.ts';

describe('SCHEDULE workflows', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
    for (let n = 0; n < 5; n++) await driver.contact(`person${n}@example.com`, { plan: n < 2 ? 'pro' : 'free' });
  });
  after(() => database?.close());

  const scheduled = (triggerConfig: object = {}, workflow: object = {}): Promise<CreatedWorkflow> =>
    insertWorkflow(database.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
      workflow: {
        triggerType: 'SCHEDULE',
        triggerConfig: JSON.stringify({ cron: '0 8 * * *', ...triggerConfig }),
        ...workflow,
      },
    });
  const tick = ({ id }: CreatedWorkflow, name = 'first') => enterAtTick(database.db, id, name, () => false);
  const executionsOf = ({ id }: CreatedWorkflow) => storedExecutions(database.db, { workflowId: id });

  it('start an execution for every contact of the project on a tick', async () => {
    const workflow = await scheduled();
    expect(await tick(workflow)).to.deep.equal({ ended: true, entered: 5 });
    expect(await executionsOf(workflow)).to.have.length(5);
  });

  it('start executions for the members of their segment only', async () => {
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
    };
    const segment = await createSegment(database.db, project.access, { name: 'Pro', condition } as never);
    const workflow = await scheduled({ segmentId: segment.id });
    expect(await tick(workflow)).to.include({ entered: 2 });
    const gone = await scheduled({ segmentId: project.id });
    expect(await tick(gone)).to.deep.equal({ ended: true, entered: 0 });
  });

  it('start none twice when a tick is repeated, and again on the next tick if re-entry is allowed', async () => {
    const workflow = await scheduled({}, { allowReentry: true });
    await Promise.all([tick(workflow), tick(workflow), tick(workflow)]);
    await setExecutions(database.db, { workflowId: workflow.id }, { status: 'COMPLETED' });
    expect(await tick(workflow)).to.include({ entered: 0 });
    expect(await tick(workflow, 'second')).to.include({ entered: 5 });
    const once = await scheduled();
    await tick(once);
    await setExecutions(database.db, { workflowId: once.id }, { status: 'COMPLETED' });
    expect(await tick(once, 'second')).to.include({ entered: 0 });
  });

  it('start none once they are disabled, even if a tick still runs', async () => {
    const workflow = await scheduled();
    await updateWorkflow(database.db, project.access, workflow.id, { enabled: false });
    expect(await tick(workflow)).to.deep.equal({ ended: true, entered: 0 });
  });

  it('change, pause and delete their Schedule with the workflow', async () => {
    const workflow = await scheduled();
    const scheduleMessages = async () =>
      (await outboxMessages(database.db, { workflowId: `cron/${project.id}/${workflow.id}` })).map(
        ({ action, payload: { cron, timezone, paused } }) =>
          action === 'schedule' ? `${cron} ${timezone}${paused ? ' paused' : ''}` : action,
      );
    const update = (change: object) => updateWorkflow(database.db, project.access, workflow.id, change);
    await update({ name: 'no matter' });
    await update({ triggerConfig: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' } });
    await update({ enabled: false });
    await update({ triggerType: 'MANUAL' });
    expect(await scheduleMessages()).to.deep.equal([
      '0 9 * * 1 Europe/Berlin',
      '0 9 * * 1 Europe/Berlin paused',
      'unschedule',
    ]);
    expect(await Workflow.query(database.db).findById(workflow.id)).to.include({ triggerType: 'MANUAL' });
  });
});
