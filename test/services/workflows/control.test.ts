import { expect } from 'chai';
import { deleteContacts } from '../../../services/removal/contact.ts';
import { cancelAllExecutions, cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { migrateExecutions } from '../../../services/workflows/executions/migrate.ts';
import { deleteLeftoverExecutions } from '../../../services/workflows/executions/remove.ts';
import { retryExecution } from '../../../services/workflows/executions/retry.ts';
import { skipExecution } from '../../../services/workflows/executions/skip.ts';
import { startExecution } from '../../../services/workflows/executions/start.ts';
import { type CreatedWorkflow, draw, ExecutionDriver, graphOf, type Sketch } from '../../support/executions.ts';
import { makeProject, openWorld, type TestProject, type World } from '../../support/world.ts';

const status = (code: number) => (error: { status?: number }) => expect(error.status).to.equal(code);
const refused = (work: Promise<unknown>, code: number) =>
  work.then(() => expect.fail(`is not refused with ${code}`), status(code));

const resting: Sketch = { steps: { rest: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] } };

describe('control over executions', () => {
  let world: World;
  let project: TestProject;
  let other: TestProject;
  let walker: ExecutionDriver;
  let people = 0;
  const newEmail = () => `person${++people}@example.com`;

  before(async () => {
    world = await openWorld();
    [project, other] = [await makeProject(world.db), await makeProject(world.db)];
    walker = new ExecutionDriver(world.db, project);
  });
  after(() => world?.close());

  const begin = async (sketch: Sketch = resting, email = newEmail()) => {
    const workflow = await draw(world.db, project, sketch);
    const id = await walker.start(workflow, email);
    await walker.advance(id);
    return { workflow, id, email };
  };
  const intentsOf = async (id: string) =>
    (await world.db('outbox').whereLike('workflowId', `%${id}%`).orderBy('id')).map(
      ({ action, workflowId }) => `${action} ${workflowId.split('/').at(-1)}`,
    );

  describe('start', () => {
    it('rejects a disabled workflow, an unknown contact, and a contact that may not enter', async () => {
      const { workflow, email } = await begin();
      const start = (input: object) => startExecution(world.db, project.access, workflow.id, input);
      await refused(start({ email }), 409);
      await refused(start({ email: 'nobody@example.com' }), 404);
      await world.db('workflows').where({ id: workflow.id }).update({ enabled: false });
      await refused(start({ email }), 400);
      await refused(startExecution(world.db, other.access, workflow.id, { email }), 404);
    });

    it('starts one execution for twenty concurrent requests', async () => {
      const workflow = await draw(world.db, project, resting);
      const contactId = await walker.contact(newEmail());
      const starts = Array.from({ length: 20 }, () =>
        startExecution(world.db, project.access, workflow.id, { contactId }).then(
          () => 201,
          (error) => error.status,
        ),
      );
      expect((await Promise.all(starts)).filter((code) => code === 201)).to.have.length(1);
      expect(await world.db('executions').where({ workflowId: workflow.id })).to.have.length(1);
    });
  });

  describe('cancel', () => {
    it('takes effect at once: later calls of advance change nothing', async () => {
      const { workflow, id } = await begin();
      const cancelled = await cancelExecution(world.db, project.access, workflow.id, id);
      expect(cancelled).to.include({ status: 'CANCELLED' });
      walker.later(2 * 86_400_000);
      expect(await walker.advance(id)).to.deep.equal({ kind: 'end', status: 'CANCELLED' });
      expect(await walker.way(id)).to.deep.equal(['rest: CANCELLED']);
      expect(await intentsOf(id)).to.deep.equal(['start 1', 'cancel 1']);
      await refused(cancelExecution(world.db, project.access, workflow.id, id), 409);
      await refused(cancelExecution(world.db, other.access, workflow.id, id), 404);
    });

    it('ends before or after a concurrent step, and leaves no visit open', async () => {
      for (let round = 0; round < 15; round++) {
        const workflow = await draw(world.db, project, resting);
        const id = await walker.start(workflow, newEmail());
        await Promise.all([walker.advance(id), cancelExecution(world.db, project.access, workflow.id, id)]);
        expect(await walker.execution(id)).to.include({ status: 'CANCELLED', awaitedEvent: null, wakeAt: null });
        for (const step of await walker.steps(id)) expect(step.status).to.equal('CANCELLED');
      }
    });

    it('cancels all active executions of the workflow, and no others', async () => {
      const workflow = await draw(world.db, project, resting);
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.push(await walker.start(workflow, newEmail()));
      for (const id of ids.slice(2)) await walker.advance(id);
      await world.db('executions').where({ id: ids[0] }).update({ status: 'COMPLETED' });
      const bystander = await begin();
      expect(await cancelAllExecutions(world.db, project.access, workflow.id)).to.equal(4);
      expect(await cancelAllExecutions(world.db, project.access, workflow.id)).to.equal(0);
      expect((await walker.execution(bystander.id)).status).to.equal('WAITING');
      expect((await walker.execution(ids[0] ?? '')).status).to.equal('COMPLETED');
      await refused(cancelAllExecutions(world.db, other.access, workflow.id), 404);
    });

    it('cancels when the contact is deleted, and erases its personal data', async () => {
      const { id, email } = await begin({
        steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'x' }], rest: ['DELAY', { amount: 1, unit: 'days' }] },
      });
      await walker.track(email, 'x', { secret: 1 });
      await walker.advance(id);
      const { contactId } = await walker.execution(id);
      await deleteContacts(world.db, project.id, [contactId]);
      expect(await walker.execution(id)).to.deep.include({
        status: 'CANCELLED',
        exitReason: 'contact deleted',
        context: {},
      });
      expect((await walker.steps(id)).map(({ status, output }) => [status, output])).to.deep.equal([
        ['COMPLETED', null],
        ['CANCELLED', null],
      ]);
    });
  });

  describe('retry', () => {
    const failing: Sketch = { steps: { rest: ['DELAY', { until: 'data.date' }], out: ['EXIT', { reason: 'done' }] } };

    it('repeats the step of a FAILED execution under a new generation', async () => {
      const { workflow, id, email } = await begin(failing);
      expect(await walker.execution(id)).to.include({ status: 'FAILED', currentStepId: workflow.steps.rest });
      await walker.contact(email, { date: '2020-01-01' });
      const retried = await retryExecution(world.db, project.access, workflow.id, id);
      expect(retried).to.include({ status: 'RUNNING', generation: 2, error: null, completedAt: null });
      expect(await intentsOf(id)).to.deep.equal(['start 1', 'start 2']);
      await walker.advance(id);
      expect(await walker.way(id)).to.deep.equal(['rest: COMPLETED', 'out: COMPLETED']);
      expect((await walker.steps(id))[0]).to.include({ attempt: 2, error: null });
    });

    it('rejects an execution that has not failed, or whose contact has entered again, with 409', async () => {
      const { workflow, id } = await begin();
      await refused(retryExecution(world.db, project.access, workflow.id, id), 409);
      const again = await begin({ ...failing, workflow: { allowReentry: true } });
      await walker.start(again.workflow, again.email);
      await refused(retryExecution(world.db, project.access, again.workflow.id, again.id), 409);
      expect(await walker.execution(again.id)).to.include({ status: 'FAILED', generation: 1 });
    });
  });

  describe('skip', () => {
    it('leaves a DELAY by its exit, and a wait by its timeout', async () => {
      const { workflow, id } = await begin();
      const skipped = await skipExecution(world.db, project.access, workflow.id, id);
      expect(skipped).to.include({ status: 'RUNNING', currentStepId: workflow.steps.out });
      expect(await intentsOf(id)).to.deep.equal(['start 1', 'signal 1']);
      const wait = await begin({
        steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'x' }], came: ['EXIT'], late: ['EXIT', { reason: 'late' }] },
        arrows: ['wait -event-> came', 'wait -timeout-> late'],
      });
      await skipExecution(world.db, project.access, wait.workflow.id, wait.id);
      await walker.advance(wait.id);
      expect(await walker.way(wait.id)).to.deep.equal(['wait: SKIPPED by timeout', 'late: COMPLETED']);
    });

    it('rejects an execution that is not WAITING with 409', async () => {
      const { workflow, id } = await begin({ steps: { out: ['EXIT'] } });
      await refused(skipExecution(world.db, project.access, workflow.id, id), 409);
      await refused(skipExecution(world.db, other.access, workflow.id, id), 404);
    });
  });

  describe('a graph that is edited while executions are active', () => {
    const edit = async (workflow: CreatedWorkflow, sketch: Sketch, names: Record<string, string>) => {
      const graph = graphOf(sketch, { ...workflow.steps, ...names });
      await world.db('workflowVersions').insert({ workflowId: workflow.id, version: 2, graph: JSON.stringify(graph) });
      await world.db('workflows').where({ id: workflow.id }).update({ version: 2, validVersion: 2 });
    };
    const longer: Sketch = {
      steps: {
        rest: ['DELAY', { amount: 1, unit: 'days' }],
        extra: ['UPDATE_CONTACT', { data: { x: 1 } }],
        out: ['EXIT'],
      },
    };
    const extra = '0190f0f0-0000-7000-8000-00000000000e';

    it('keeps active executions on their version, and starts later ones on the new one', async () => {
      const { workflow, id } = await begin();
      await edit(workflow, longer, { extra });
      const later = await walker.start(workflow, newEmail());
      await walker.advance(later);
      walker.later(86_400_000);
      await walker.advance(id);
      await walker.advance(later);
      expect(await walker.way(id)).to.deep.equal(['rest: COMPLETED', 'out: COMPLETED']);
      expect(await walker.way(later)).to.deep.equal(['rest: COMPLETED', 'extra: COMPLETED', 'out: COMPLETED']);
    });

    it('migrates executions whose step still exists, and lists those that stayed', async () => {
      const { workflow, id } = await begin();
      const gone = await walker.start(workflow, newEmail());
      await world
        .db('executions')
        .where({ id: gone })
        .update({ currentStepId: extra.replace('e', 'f') });
      await edit(workflow, longer, { extra });
      const migrated = await migrateExecutions(world.db, project.access, workflow.id);
      expect(migrated).to.deep.equal({
        moved: [id],
        movedCount: 1,
        stayed: [{ id: gone, reason: 'its current step is not in the newest version' }],
        stayedCount: 1,
      });
      walker.later(86_400_000);
      await walker.advance(id);
      expect(await walker.way(id)).to.deep.equal(['rest: COMPLETED', 'extra: COMPLETED', 'out: COMPLETED']);
      expect(await walker.execution(id)).to.include({ version: 2 });
    });
  });

  it('deletes executions of a deleted workflow only', async () => {
    const { workflow, id } = await begin({ steps: { out: ['EXIT'] } });
    const bystander = await begin();
    await world.db('workflows').where({ id: workflow.id }).del();
    await world.db('workflowRemovals').insert({ workflowId: workflow.id });
    expect(await deleteLeftoverExecutions(world.db)).to.equal(1);
    expect(await world.db('executionSteps').where({ executionId: id })).to.deep.equal([]);
    expect(await walker.steps(bystander.id)).to.have.length(1);
    expect(await world.db('workflowRemovals')).to.deep.equal([]);
  });
});
