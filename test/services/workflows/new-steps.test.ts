import { expect } from 'chai';
import { aggregateCounters } from '../../../db/models/counters.ts';
import { readWorkflowStats } from '../../../services/workflows/counts.ts';
import { cancelExecution } from '../../../services/workflows/executions/cancel.ts';
import { migrateExecutions } from '../../../services/workflows/executions/migrate.ts';
import { retryExecution } from '../../../services/workflows/executions/retry.ts';
import { nextOpening } from '../../../services/workflows/steps/time-window.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { type CreatedWorkflow, ExecutionDriver, insertWorkflow } from '../../support/executions.ts';
import { testKeys } from '../../support/keys.ts';
import { segmentRow, storedMembers } from '../../support/rows/contacts.ts';
import { storedEvents } from '../../support/rows/events.ts';
import { outboxMessagesTo } from '../../support/rows/outbox.ts';
import { setProject } from '../../support/rows/projects.ts';
import { removeWorkflow, setVisits, setWorkflow, storedExecutions } from '../../support/rows/workflows.ts';

const DAY = 86_400_000;

describe('steps SPLIT, TIME_WINDOW, ADD_TO_SEGMENT, REMOVE_FROM_SEGMENT and START_WORKFLOW', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let people = 0;
  const newEmail = () => `new-steps-${++people}@example.com`;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(() => database?.close());

  const run = async (workflow: CreatedWorkflow, email = newEmail()) => {
    const id = await driver.start(workflow, email);
    await driver.advance(id);
    return id;
  };

  it('SPLIT follows the weights and keeps the branch of a contact', async () => {
    const branches = [
      { name: 'A', weight: 3 },
      { name: 'B', weight: 1 },
      { name: 'C', weight: 0 },
    ];
    const workflow = await insertWorkflow(database.db, project, {
      steps: { split: ['SPLIT', { branches }], a: ['EXIT'], b: ['EXIT'] },
      arrows: ['split -A-> a', 'split -B-> b'],
      workflow: { allowReentry: true },
    });
    const taken: Record<string, number> = {};
    for (let n = 0; n < 30; n++) {
      const [visit = ''] = await driver.visits(await run(workflow));
      taken[visit] = (taken[visit] ?? 0) + 1;
    }
    expect(taken).to.have.all.keys('split: COMPLETED by A', 'split: COMPLETED by B');
    expect(taken['split: COMPLETED by A']).to.be.greaterThan(taken['split: COMPLETED by B'] ?? 0);
    const email = newEmail();
    const first = await driver.visits(await run(workflow, email));
    expect(await driver.visits(await run(workflow, email))).to.deep.equal(first);
  });

  describe('TIME_WINDOW', () => {
    const hours = { days: ['MON', 'TUE', 'WED', 'THU', 'FRI'] as const, from: '09:00', to: '17:00' };
    const opening = (at: string, zone: string, config: object = hours) =>
      nextOpening(config, new Date(at), zone)?.toISOString();

    it('is open from the first minute until before the last', () => {
      expect(opening('2026-11-16T09:00:00Z', 'UTC')).to.equal('2026-11-16T09:00:00.000Z');
      expect(opening('2026-11-16T16:59:59.999Z', 'UTC')).to.equal('2026-11-16T16:59:59.999Z');
      expect(opening('2026-11-16T17:00:00Z', 'UTC')).to.equal('2026-11-17T09:00:00.000Z');
    });

    it('skips days, and reads the hours of the time zone', () => {
      expect(opening('2026-11-13T20:00:00Z', 'UTC')).to.equal('2026-11-16T09:00:00.000Z');
      expect(opening('2026-11-16T03:00:00Z', 'America/New_York')).to.equal('2026-11-16T14:00:00.000Z');
      expect(opening('2026-11-16T23:30:00Z', 'Asia/Tokyo')).to.equal('2026-11-17T00:00:00.000Z');
      expect(opening('2026-12-31T20:00:00Z', 'UTC')).to.equal('2027-01-01T09:00:00.000Z');
    });

    it('lasts over midnight when it ends before it begins', () => {
      const night = { days: ['FRI'], from: '22:00', to: '06:00' };
      expect(opening('2026-11-14T05:59:00Z', 'UTC', night)).to.equal('2026-11-14T05:59:00.000Z');
      expect(opening('2026-11-14T06:00:00Z', 'UTC', night)).to.equal('2026-11-20T22:00:00.000Z');
    });

    it('lasts until the end of the day when it ends at 24:00', () => {
      const monday = { days: ['MON'], from: '00:00', to: '24:00' };
      expect(opening('2026-11-16T23:59:59Z', 'UTC', monday)).to.equal('2026-11-16T23:59:59.000Z');
      expect(opening('2026-11-17T00:00:00Z', 'UTC', monday)).to.equal('2026-11-23T00:00:00.000Z');
      // The day on which Berlin's clocks are set back has 25 hours.
      const sunday = { days: ['SUN'], from: '20:00', to: '24:00' };
      expect(opening('2026-10-25T22:59:00Z', 'Europe/Berlin', sunday)).to.equal('2026-10-25T22:59:00.000Z');
      expect(opening('2026-10-25T23:00:00Z', 'Europe/Berlin', sunday)).to.equal('2026-11-01T19:00:00.000Z');
    });

    it('keeps the local hour over changes of clocks', () => {
      expect(opening('2026-10-23T18:00:00Z', 'Europe/Berlin')).to.equal('2026-10-26T08:00:00.000Z');
      expect(opening('2026-03-27T18:00:00Z', 'Europe/Berlin')).to.equal('2026-03-30T07:00:00.000Z');
      const gap = { days: ['SUN'], from: '02:30', to: '04:00' };
      expect(opening('2026-03-28T12:00:00Z', 'Europe/Berlin', gap)).to.equal('2026-03-29T01:30:00.000Z');
    });

    it("prefers the contact's time zone to the step's and the project's", async () => {
      const config = { days: ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'], from: '09:00', to: '09:01' };
      await setProject(database.db, project.id, { timezone: 'Asia/Tokyo' });
      const wakes = async (step: object, data: Record<string, unknown>) => {
        const workflow = await insertWorkflow(database.db, project, {
          steps: { window: ['TIME_WINDOW', step], out: ['EXIT'] },
        });
        const email = newEmail();
        await driver.contact(email, data);
        return (await driver.execution(await run(workflow, email))).wakeAt?.getUTCHours();
      };
      expect(await wakes({ ...config, timezone: 'UTC' }, { timezone: 'Pacific/Honolulu' })).to.equal(19);
      expect(await wakes({ ...config, timezone: 'UTC' }, { timezone: 'Nowhere/Nothing' })).to.equal(9);
      expect(await wakes(config, {})).to.equal(0);
    });

    it('goes on when the window opens', async () => {
      const config = {
        days: ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'],
        from: '09:00',
        to: '09:01',
        timezone: 'UTC',
      };
      const workflow = await insertWorkflow(database.db, project, {
        steps: { window: ['TIME_WINDOW', config], out: ['EXIT'] },
      });
      const id = await run(workflow);
      driver.later(DAY);
      await driver.advance(id);
      expect(await driver.visits(id)).to.deep.equal(['window: COMPLETED', 'out: COMPLETED']);
    });
  });

  describe('segments', () => {
    const insertSegment = async (type = 'STATIC') => {
      const [segment] = await database
        .db('segments')
        .insert({
          id: database.db.raw('gen_random_uuid()'),
          projectId: project.id,
          name: type,
          slug: `s${++people}`,
          type,
          trackMembership: true,
          condition: type === 'STATIC' ? null : '{}',
        })
        .returning(['id', 'slug']);
      return segment as { id: string; slug: string };
    };

    it('ADD_TO_SEGMENT and REMOVE_FROM_SEGMENT change members once, with events and count', async () => {
      const { id: segmentId, slug } = await insertSegment();
      const workflow = await insertWorkflow(database.db, project, {
        steps: { add: ['ADD_TO_SEGMENT', { segmentId }], again: ['ADD_TO_SEGMENT', { segmentId }], out: ['EXIT'] },
        workflow: { allowReentry: true },
      });
      const email = newEmail();
      const id = await run(workflow, email);
      expect((await driver.steps(id)).map(({ output }) => output)).to.deep.equal([
        { changed: true },
        { changed: false },
        null,
      ]);
      const { contactId } = await driver.execution(id);
      const members = async () => (await storedMembers(database.db, segmentId)).map((member) => member.contactId);
      const events = async () => (await storedEvents(database.db, { contactId })).map(({ name }) => name);
      const segment = () => segmentRow(database.db, segmentId);
      expect(await members()).to.deep.equal([contactId]);
      expect(await events()).to.include(`segment.${slug}.entry`);
      expect((await segment())?.memberCount).to.equal(1);
      const back = await insertWorkflow(database.db, project, {
        steps: { drop: ['REMOVE_FROM_SEGMENT', { segmentId }], out: ['EXIT'] },
      });
      await run(back, email);
      expect(await members()).to.deep.equal([]);
      expect(await events()).to.include(`segment.${slug}.exit`);
      expect((await segment())?.memberCount).to.equal(0);
    });

    it('fails at a segment that is gone or dynamic', async () => {
      const { id: segmentId } = await insertSegment('DYNAMIC');
      const workflow = await insertWorkflow(database.db, project, {
        steps: { add: ['ADD_TO_SEGMENT', { segmentId }], out: ['EXIT'] },
      });
      const execution = await driver.execution(await run(workflow));
      expect(execution).to.include({ status: 'FAILED', error: 'the segment of the step is not static' });
    });
  });

  it('START_WORKFLOW starts the other workflow once, one level deeper, with the context', async () => {
    const target = await insertWorkflow(database.db, project, { steps: { out: ['EXIT'] } });
    const workflow = await insertWorkflow(database.db, project, {
      steps: {
        start: ['START_WORKFLOW', { workflowId: target.id }],
        again: ['START_WORKFLOW', { workflowId: target.id }],
        out: ['EXIT'],
      },
    });
    const id = await driver.start(workflow, newEmail(), { plan: 'pro' });
    await driver.advance(id);
    expect(await driver.visits(id)).to.deep.equal(['start: COMPLETED', 'again: SKIPPED', 'out: COMPLETED']);
    const started = await storedExecutions(database.db, { workflowId: target.id });
    expect(started).to.have.length(1);
    expect(started[0]).to.deep.include({ context: { plan: 'pro' }, depth: 1 });
    expect((await driver.steps(id))[0]?.output).to.deep.equal({ executionId: started[0].id });
    expect(await outboxMessagesTo(database.db, started[0].id)).to.have.length(1);
  });

  it('START_WORKFLOW is skipped for a disabled workflow and fails for a deleted one', async () => {
    const target = await insertWorkflow(database.db, project, {
      steps: { out: ['EXIT'] },
      workflow: { enabled: false },
    });
    const starter = async () =>
      insertWorkflow(database.db, project, {
        steps: { start: ['START_WORKFLOW', { workflowId: target.id }], out: ['EXIT'] },
      });
    expect(await driver.visits(await run(await starter()))).to.deep.equal(['start: SKIPPED', 'out: COMPLETED']);
    const workflow = await starter();
    await removeWorkflow(database.db, target.id);
    expect(await driver.visits(await run(workflow))).to.deep.equal(['start: FAILED']);
  });

  describe('numbers', () => {
    const stats = (workflow: CreatedWorkflow, query: object = {}) =>
      readWorkflowStats(database.db, project.id, workflow.id, query);

    it('are exact before and after aggregation', async () => {
      const workflow = await insertWorkflow(database.db, project, {
        steps: {
          ask: ['CONDITION', { field: 'data.vip', operator: 'equals', value: true }],
          wait: ['WAIT_FOR_EVENT', { eventName: 'bought', timeout: { amount: 1, unit: 'days' } }],
          hook: ['DELAY', { until: 'data.never' }],
        },
        arrows: ['ask -no-> wait', 'ask -yes-> hook', 'wait -event-> hook'],
      });
      const { ask = '', wait = '', hook = '' } = workflow.steps;
      const emails = Array.from({ length: 6 }, newEmail);
      const ids: string[] = [];
      for (const email of emails) ids.push(await run(workflow, email));
      const [bought = '', late = '', cancelled = ''] = ids;
      await driver.track(emails[0] ?? '', 'bought');
      await driver.advance(bought);
      await cancelExecution(database.db, project.access, workflow.id, cancelled);
      await aggregateCounters(database.db);
      expect(await stats(workflow)).to.deep.equal({
        executions: { started: 6, active: 4, completed: 0, exited: 0, failed: 1, cancelled: 1 },
        steps: {
          [ask]: { entered: 6, waiting: 0, passed: 6, failed: 0, skipped: 0, medianSeconds: 0, branches: { no: 6 } },
          [wait]: {
            entered: 6,
            waiting: 4,
            passed: 1,
            failed: 0,
            skipped: 0,
            branches: { event: 1 },
            medianSeconds: (await stats(workflow)).steps[wait]?.medianSeconds,
          },
          [hook]: { entered: 1, waiting: 0, passed: 0, failed: 1, skipped: 0, medianSeconds: null, branches: {} },
        },
      });
      await retryExecution(database.db, project.access, workflow.id, bought);
      expect((await stats(workflow)).executions).to.include({ active: 5, failed: 0 });
      expect((await stats(workflow)).steps[hook]).to.include({ waiting: 1, failed: 0 });
      await driver.advance(bought);
      driver.later(2 * DAY);
      await driver.advance(late);
      await aggregateCounters(database.db);
      const after = await stats(workflow);
      expect(after.executions).to.include({ started: 6, active: 3, completed: 1, failed: 1, cancelled: 1 });
      expect(after.steps[wait]).to.deep.include({ waiting: 3, passed: 2, branches: { event: 1, timeout: 1 } });
      const records = await database
        .db('executionSteps as s')
        .join('executions as e', 'e.id', 's.executionId')
        .where({ 'e.workflowId': workflow.id, 's.status': 'COMPLETED' });
      expect(records).to.have.length(Object.values(after.steps).reduce((sum, { passed }) => sum + passed, 0));
      expect((await stats(workflow, { startDate: '2001-01-01', endDate: '2001-01-02' })).executions).to.include({
        started: 0,
        active: 3,
      });
    });

    it('follow executions that move to another version', async () => {
      const workflow = await insertWorkflow(database.db, project, {
        steps: { rest: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] },
      });
      const { rest = '' } = workflow.steps;
      for (let n = 0; n < 3; n++) await run(workflow);
      await database.db.raw(
        'insert into workflow_versions (workflow_id, version, graph) select workflow_id, 2, graph from workflow_versions where workflow_id = ?',
        [workflow.id],
      );
      await setWorkflow(database.db, workflow.id, { version: 2, validVersion: 2 });
      await migrateExecutions(database.db, project.access, workflow.id, testKeys);
      expect((await stats(workflow, { version: 1 })).steps[rest]).to.include({ entered: 3, waiting: 0 });
      expect((await stats(workflow, { version: 2 })).steps[rest]).to.include({ entered: 0, waiting: 3 });
      expect((await stats(workflow)).steps[rest]).to.include({ entered: 3, waiting: 3 });
      expect((await stats(workflow)).executions).to.include({ started: 3, active: 3 });
      expect((await stats(workflow, { version: 2 })).executions).to.include({ started: 0, active: 3 });
    });

    it('have the median of a long time within 10 %', async () => {
      const workflow = await insertWorkflow(database.db, project, {
        steps: { rest: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] },
      });
      const id = await run(workflow);
      await setVisits(database.db, { executionId: id }, { startedAt: new Date(Date.now() - DAY) });
      driver.later(2 * DAY);
      await driver.advance(id);
      const median = (await stats(workflow)).steps[workflow.steps.rest ?? '']?.medianSeconds ?? 0;
      expect(Math.abs(median / 86_400 - 1)).to.be.lessThan(0.1);
    });
  });
});
