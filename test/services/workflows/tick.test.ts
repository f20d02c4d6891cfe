import { expect } from 'chai';
import { Workflow } from '../../../db/models/workflow.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { enterAtTick } from '../../../services/workflows/tick.ts';
import { updateWorkflow } from '../../../services/workflows/update.ts';
import { type CreatedWorkflow, draw, ExecutionDriver } from '../../support/executions.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

describe('SCHEDULE workflows', () => {
  let world: World;
  let project: TestProject;
  let walker: ExecutionDriver;

  before(async () => {
    world = await openWorld();
    project = await makeProject(world.db);
    walker = new ExecutionDriver(world.db, project);
    for (let n = 0; n < 5; n++) await walker.contact(`person${n}@example.com`, { plan: n < 2 ? 'pro' : 'free' });
  });
  after(() => world?.close());

  const scheduled = (triggerConfig: object = {}, workflow: object = {}): Promise<CreatedWorkflow> =>
    draw(world.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
      workflow: {
        triggerType: 'SCHEDULE',
        triggerConfig: JSON.stringify({ cron: '0 8 * * *', ...triggerConfig }),
        ...workflow,
      },
    });
  const tick = ({ id }: CreatedWorkflow, name = 'first') => enterAtTick(world.db, id, name, () => false);
  const executionsOf = ({ id }: CreatedWorkflow) => world.db('executions').where({ workflowId: id });

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
    const segment = await createSegment(world.db, project.access, { name: 'Pro', condition } as never);
    const workflow = await scheduled({ segmentId: segment.id });
    expect(await tick(workflow)).to.include({ entered: 2 });
    const gone = await scheduled({ segmentId: project.id });
    expect(await tick(gone)).to.deep.equal({ ended: true, entered: 0 });
  });

  it('start none twice when a tick is repeated, and again on the next tick if re-entry is allowed', async () => {
    const workflow = await scheduled({}, { allowReentry: true });
    await Promise.all([tick(workflow), tick(workflow), tick(workflow)]);
    await world.db('executions').where({ workflowId: workflow.id }).update({ status: 'COMPLETED' });
    expect(await tick(workflow)).to.include({ entered: 0 });
    expect(await tick(workflow, 'second')).to.include({ entered: 5 });
    const once = await scheduled();
    await tick(once);
    await world.db('executions').where({ workflowId: once.id }).update({ status: 'COMPLETED' });
    expect(await tick(once, 'second')).to.include({ entered: 0 });
  });

  it('start none once they are disabled, even if a tick still runs', async () => {
    const workflow = await scheduled();
    await updateWorkflow(world.db, project.access, workflow.id, { enabled: false });
    expect(await tick(workflow)).to.deep.equal({ ended: true, entered: 0 });
  });

  it('change, pause and delete their Schedule with the workflow', async () => {
    const workflow = await scheduled();
    const scheduleMessages = async () =>
      (
        await world
          .db('outbox')
          .where({ workflowId: `cron/${project.id}/${workflow.id}` })
          .orderBy('id')
      ).map(({ action, payload: { cron, timezone, paused } }) =>
        action === 'schedule' ? `${cron} ${timezone}${paused ? ' paused' : ''}` : action,
      );
    const update = (change: object) => updateWorkflow(world.db, project.access, workflow.id, change);
    await update({ name: 'no matter' });
    await update({ triggerConfig: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' } });
    await update({ enabled: false });
    await update({ triggerType: 'MANUAL' });
    expect(await scheduleMessages()).to.deep.equal([
      '0 9 * * 1 Europe/Berlin',
      '0 9 * * 1 Europe/Berlin paused',
      'unschedule',
    ]);
    expect(await Workflow.query(world.db).findById(workflow.id)).to.include({ triggerType: 'MANUAL' });
  });
});
