import { expect } from 'chai';
import { deleteContacts } from '../../../services/removal/contact.ts';
import { lockExecution } from '../../../services/workflows/execution-state.ts';
import { cancelAllExecutions, cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { migrateExecutions } from '../../../services/workflows/executions/migrate.ts';
import { deleteLeftoverExecutions } from '../../../services/workflows/executions/remove.ts';
import { retryExecution } from '../../../services/workflows/executions/retry.ts';
import { skipExecution } from '../../../services/workflows/executions/skip.ts';
import { startExecution } from '../../../services/workflows/executions/start.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import {
  type CreatedWorkflow,
  ExecutionDriver,
  graphOf,
  insertWorkflow,
  type WorkflowSketch,
} from '../../support/executions.ts';
import { testKeys } from '../../support/keys.ts';
import { outboxMessagesTo } from '../../support/rows/outbox.ts';
import { countRows } from '../../support/rows/tables.ts';
import {
  addVersion,
  removeWorkflow,
  setExecutions,
  setWorkflow,
  storedExecutions,
  storedVisits,
} from '../../support/rows/workflows.ts';
import { eventually } from '../../support/waiting.ts';

const status = (code: number) => (error: { status?: number }) => expect(error.status).to.equal(code);
const refused = (work: Promise<unknown>, code: number) =>
  work.then(() => expect.fail(`is not refused with ${code}`), status(code));

const resting: WorkflowSketch = { steps: { rest: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] } };

describe('control over executions', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let other: TestProject;
  let driver: ExecutionDriver;
  let people = 0;
  const newEmail = () => `person${++people}@example.com`;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    other = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(() => database?.close());

  const begin = async (sketch: WorkflowSketch = resting, email = newEmail()) => {
    const workflow = await insertWorkflow(database.db, project, sketch);
    const id = await driver.start(workflow, email);
    await driver.advance(id);
    return { workflow, id, email };
  };
  const intentsOf = async (id: string) =>
    (await outboxMessagesTo(database.db, id)).map(
      ({ action, workflowId }) => `${action} ${workflowId.split('/').at(-1)}`,
    );

  describe('start', () => {
    it('rejects a disabled workflow, an unknown contact, and a contact that may not enter', async () => {
      const { workflow, email } = await begin();
      const start = (input: object) => startExecution(database.db, project.access, workflow.id, input);
      await refused(start({ email }), 409);
      await refused(start({ email: 'nobody@example.com' }), 404);
      await setWorkflow(database.db, workflow.id, { enabled: false });
      await refused(start({ email }), 400);
      await refused(startExecution(database.db, other.access, workflow.id, { email }), 404);
    });

    it('starts one execution for twenty concurrent requests', async () => {
      const workflow = await insertWorkflow(database.db, project, resting);
      const contactId = await driver.contact(newEmail());
      const starts = Array.from({ length: 20 }, () =>
        startExecution(database.db, project.access, workflow.id, { contactId }).then(
          () => 201,
          (error) => error.status,
        ),
      );
      expect((await Promise.all(starts)).filter((code) => code === 201)).to.have.length(1);
      expect(await storedExecutions(database.db, { workflowId: workflow.id })).to.have.length(1);
    });
  });

  describe('cancel', () => {
    it('takes effect at once: later calls of advance change nothing', async () => {
      const { workflow, id } = await begin();
      const cancelled = await cancelExecution(database.db, project.access, workflow.id, id);
      expect(cancelled).to.include({ status: 'CANCELLED' });
      driver.later(2 * 86_400_000);
      expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'CANCELLED' });
      expect(await driver.visits(id)).to.deep.equal(['rest: CANCELLED']);
      expect(await intentsOf(id)).to.deep.equal(['start 1', 'cancel 1']);
      await refused(cancelExecution(database.db, project.access, workflow.id, id), 409);
      await refused(cancelExecution(database.db, other.access, workflow.id, id), 404);
    });

    it('ends before or after a concurrent step, and leaves no visit open', async () => {
      for (let round = 0; round < 15; round++) {
        const workflow = await insertWorkflow(database.db, project, resting);
        const id = await driver.start(workflow, newEmail());
        await Promise.all([driver.advance(id), cancelExecution(database.db, project.access, workflow.id, id)]);
        expect(await driver.execution(id)).to.include({ status: 'CANCELLED', awaitedEvent: null, wakeAt: null });
        for (const step of await driver.steps(id)) expect(step.status).to.equal('CANCELLED');
      }
    });

    it('cancels all active executions of the workflow, and no others', async () => {
      const workflow = await insertWorkflow(database.db, project, resting);
      const ids: string[] = [];
      for (let n = 0; n < 5; n++) ids.push(await driver.start(workflow, newEmail()));
      for (const id of ids.slice(2)) await driver.advance(id);
      await setExecutions(database.db, { id: ids[0] }, { status: 'COMPLETED' });
      const bystander = await begin();
      expect(await cancelAllExecutions(database.db, project.access, workflow.id)).to.equal(4);
      expect(await cancelAllExecutions(database.db, project.access, workflow.id)).to.equal(0);
      expect((await driver.execution(bystander.id)).status).to.equal('WAITING');
      expect((await driver.execution(ids[0] ?? '')).status).to.equal('COMPLETED');
      await refused(cancelAllExecutions(database.db, other.access, workflow.id), 404);
    });

    it('cancels when the contact is deleted, and erases its personal data', async () => {
      const { id, email } = await begin({
        steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'x' }], rest: ['DELAY', { amount: 1, unit: 'days' }] },
      });
      await driver.track(email, 'x', { secret: 1 });
      await driver.advance(id);
      const { contactId } = await driver.execution(id);
      await deleteContacts(database.db, project.id, [contactId]);
      expect(await driver.execution(id)).to.deep.include({
        status: 'CANCELLED',
        exitReason: 'contact deleted',
        context: {},
      });
      expect((await driver.steps(id)).map(({ status, output }) => [status, output])).to.deep.equal([
        ['COMPLETED', null],
        ['CANCELLED', null],
      ]);
    });
  });

  describe('retry', () => {
    const failing: WorkflowSketch = {
      steps: { rest: ['DELAY', { until: 'data.date' }], out: ['EXIT', { reason: 'done' }] },
    };

    it('repeats the step of a FAILED execution under a new generation', async () => {
      const { workflow, id, email } = await begin(failing);
      expect(await driver.execution(id)).to.include({ status: 'FAILED', currentStepId: workflow.steps.rest });
      await driver.contact(email, { date: '2020-01-01' });
      const retried = await retryExecution(database.db, project.access, workflow.id, id);
      expect(retried).to.include({ status: 'RUNNING', generation: 2, error: null, completedAt: null });
      expect(await intentsOf(id)).to.deep.equal(['start 1', 'start 2']);
      await driver.advance(id);
      expect(await driver.visits(id)).to.deep.equal(['rest: COMPLETED', 'out: COMPLETED']);
      expect((await driver.steps(id))[0]).to.include({ attempt: 2, error: null });
    });

    it('rejects an execution that has not failed, or whose contact has entered again, with 409', async () => {
      const { workflow, id } = await begin();
      await refused(retryExecution(database.db, project.access, workflow.id, id), 409);
      const again = await begin({ ...failing, workflow: { allowReentry: true } });
      await driver.start(again.workflow, again.email);
      await refused(retryExecution(database.db, project.access, again.workflow.id, again.id), 409);
      expect(await driver.execution(again.id)).to.include({ status: 'FAILED', generation: 1 });
    });
  });

  describe('skip', () => {
    it('leaves a DELAY by its exit, and a wait by its timeout', async () => {
      const { workflow, id } = await begin();
      const skipped = await skipExecution(database.db, project.access, workflow.id, id);
      expect(skipped).to.include({ status: 'RUNNING', currentStepId: workflow.steps.out });
      expect(await intentsOf(id)).to.deep.equal(['start 1', 'signal 1']);
      const wait = await begin({
        steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'x' }], came: ['EXIT'], late: ['EXIT', { reason: 'late' }] },
        arrows: ['wait -event-> came', 'wait -timeout-> late'],
      });
      await skipExecution(database.db, project.access, wait.workflow.id, wait.id);
      await driver.advance(wait.id);
      expect(await driver.visits(wait.id)).to.deep.equal(['wait: SKIPPED by timeout', 'late: COMPLETED']);
    });

    it('rejects an execution that is not WAITING with 409', async () => {
      const { workflow, id } = await begin({ steps: { out: ['EXIT'] } });
      await refused(skipExecution(database.db, project.access, workflow.id, id), 409);
      await refused(skipExecution(database.db, other.access, workflow.id, id), 404);
    });
  });

  describe('a graph that is edited while executions are active', () => {
    const edit = async (workflow: CreatedWorkflow, sketch: WorkflowSketch, names: Record<string, string>) => {
      const graph = graphOf(sketch, { ...workflow.steps, ...names });
      await addVersion(database.db, { workflowId: workflow.id, version: 2, graph });
      await setWorkflow(database.db, workflow.id, { version: 2, validVersion: 2 });
    };
    const longer: WorkflowSketch = {
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
      const later = await driver.start(workflow, newEmail());
      await driver.advance(later);
      driver.later(86_400_000);
      await driver.advance(id);
      await driver.advance(later);
      expect(await driver.visits(id)).to.deep.equal(['rest: COMPLETED', 'out: COMPLETED']);
      expect(await driver.visits(later)).to.deep.equal(['rest: COMPLETED', 'extra: COMPLETED', 'out: COMPLETED']);
    });

    it('migrates executions whose step still exists, and lists those that stayed', async () => {
      const { workflow, id } = await begin();
      const gone = await driver.start(workflow, newEmail());
      await setExecutions(database.db, { id: gone }, { currentStepId: extra.replace('e', 'f') });
      await edit(workflow, longer, { extra });
      const migrated = await migrateExecutions(database.db, project.access, workflow.id, testKeys);
      expect(migrated).to.deep.equal({
        moved: [id],
        movedCount: 1,
        stayed: [{ id: gone, reason: 'the step is not in the new version' }],
        stayedCount: 1,
      });
      driver.later(86_400_000);
      await driver.advance(id);
      expect(await driver.visits(id)).to.deep.equal(['rest: COMPLETED', 'extra: COMPLETED', 'out: COMPLETED']);
      expect(await driver.execution(id)).to.include({ version: 2 });
    });
  });

  it('starts no step before the lock that it has waited for was released', async () => {
    const { id } = await begin();
    const holder = await database.db.transaction();
    await lockExecution(holder, id);
    driver.later(86_400_000);
    const advanced = driver.advance(id);
    const waiting = "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await eventually(async () => (await database.db.raw(`select 1 ${waiting}`)).rows.length > 0, { what: 'the lock' });
    const released = (await holder.raw('select clock_timestamp() as at')).rows[0].at;
    await holder.commit();
    await advanced;
    const times = (await driver.steps(id)).flatMap(({ startedAt, completedAt }) => [startedAt, completedAt]);
    expect(times).to.deep.equal(times.toSorted((a, b) => Number(a) - Number(b)));
    for (const time of times.slice(1)) expect(time).to.be.at.least(released);
  });

  it('deletes executions of a deleted workflow only', async () => {
    const { workflow, id } = await begin({ steps: { out: ['EXIT'] } });
    const bystander = await begin();
    await removeWorkflow(database.db, workflow.id);
    await database.db('workflowRemovals').insert({ workflowId: workflow.id });
    expect(await deleteLeftoverExecutions(database.db)).to.equal(1);
    expect(await storedVisits(database.db, { executionId: id })).to.deep.equal([]);
    expect(await driver.steps(bystander.id)).to.have.length(1);
    expect(await countRows(database.db, 'workflow_removals')).to.equal(0);
  });
});
