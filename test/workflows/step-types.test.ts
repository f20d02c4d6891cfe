import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow, type WorkflowSketch } from '../support/executions.ts';
import { startTimeSkippingExecutions, type TimeSkippingExecutions } from '../support/time-skipping-executions.ts';
import { eventually } from '../support/waiting.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SUNDAY = 0;
const FRIDAY = 5;
const MARCH = 2;
const OCTOBER = 9;
const workingHours = { days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '09:00', to: '17:00' };

/** Returns the next time after `after` at which it is that hour of that weekday, in UTC. */
const next = (weekday: number, hour: number, after: number): Date => {
  const found = new Date(after);
  found.setUTCHours(hour, 0, 0, 0);
  while (found.getUTCDay() !== weekday || found.getTime() <= after) found.setTime(found.getTime() + DAY);
  return found;
};

/** Returns the Sunday of the next change of clocks in Europe: the last one of March or of October. */
const changeOfClocks = (month: number, after: number): Date => {
  const found = next(SUNDAY, 1, after);
  while (found.getUTCMonth() !== month || new Date(found.getTime() + 7 * DAY).getUTCMonth() === month)
    found.setTime(found.getTime() + 7 * DAY);
  return found;
};

describe('SPLIT, TIME_WINDOW, segment steps and START_WORKFLOW on a time-skipping server', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let skipped: TimeSkippingExecutions;
  let people = 0;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
    skipped = await startTimeSkippingExecutions(database.db, project);
  });
  after(async () => {
    await skipped?.stop();
    await database?.close();
  });

  const begin = async (sketch: WorkflowSketch, data: Record<string, unknown> = {}): Promise<string> => {
    const workflow = await insertWorkflow(database.db, project, sketch);
    const email = `person${++people}@example.com`;
    await driver.contact(email, data);
    const id = await driver.start(workflow, email);
    await skipped.relay();
    return id;
  };
  const passTo = async (at: Date) => {
    const ahead = at.getTime() - (await skipped.env.currentTimeMs());
    if (ahead > 0) await skipped.env.sleep(ahead);
  };
  const rests = (id: string) =>
    eventually(async () => (await driver.execution(id)).status === 'WAITING', { what: 'a rest' });
  const windowThenExit = (config: object): WorkflowSketch => ({
    steps: { window: ['TIME_WINDOW', config], out: ['EXIT', { reason: 'open' }] },
  });

  /** Lets time pass until the end. Returns when the window opened, after checking that the run ended within that hour. */
  const opened = async (id: string): Promise<string | undefined> => {
    expect(await skipped.handle(id).result()).to.equal('EXITED');
    expect(await driver.visits(id)).to.deep.equal(['window: COMPLETED', 'out: COMPLETED']);
    const [window] = await driver.steps(id);
    const { events } = await skipped.handle(id).fetchHistory();
    const endedAt = Number(events?.at(-1)?.eventTime?.seconds ?? 0) * 1000;
    expect(endedAt - (window?.scheduledFor?.getTime() ?? 0)).to.be.within(0, HOUR);
    return window?.scheduledFor?.toISOString();
  };

  it('takes SPLIT, segment steps and START_WORKFLOW in one workflow task, and runs the started workflow', async () => {
    const segmentId = newId();
    const segment = { id: segmentId, projectId: project.id, name: 'Tried', slug: 'tried', type: 'STATIC' };
    await database.db('segments').insert(segment);
    const target = await insertWorkflow(database.db, project, { steps: { out: ['EXIT', { reason: 'started' }] } });
    const branches = [
      { name: 'A', weight: 1 },
      { name: 'B', weight: 0 },
    ];
    const id = await begin({
      steps: {
        split: ['SPLIT', { branches }],
        add: ['ADD_TO_SEGMENT', { segmentId }],
        start: ['START_WORKFLOW', { workflowId: target.id, context: { from: 'the other' } }],
        drop: ['REMOVE_FROM_SEGMENT', { segmentId }],
        never: ['EXIT'],
      },
      arrows: ['split -A-> add', 'split -B-> never', 'add -> start', 'start -> drop'],
    });
    expect(await skipped.handle(id).result()).to.equal('COMPLETED');
    expect(await driver.visits(id)).to.deep.equal([
      'split: COMPLETED by A',
      'add: COMPLETED',
      'start: COMPLETED',
      'drop: COMPLETED',
    ]);
    const { events } = await skipped.handle(id).fetchHistory();
    expect(events?.filter((event) => event.workflowTaskCompletedEventAttributes)).to.have.length(1);
    expect(events?.filter((event) => event.activityTaskScheduledEventAttributes)).to.have.length(0);
    const started = await database.db('executions').where({ workflowId: target.id }).first('id');
    await skipped.relay();
    expect(await skipped.handle(started.id).result()).to.equal('EXITED');
    expect(await driver.execution(started.id)).to.deep.include({
      exitReason: 'started',
      context: { from: 'the other' },
    });
  });

  it('TIME_WINDOW that is closed on Friday evening opens on Monday morning', async () => {
    const friday = next(FRIDAY, 18, await skipped.env.currentTimeMs());
    await passTo(friday);
    const id = await begin(windowThenExit({ ...workingHours, timezone: 'UTC' }));
    await rests(id);
    expect(await opened(id)).to.equal(new Date(friday.getTime() + 2 * DAY + 15 * HOUR).toISOString());
  });

  it('TIME_WINDOW that is open takes no time', async () => {
    await passTo(next(FRIDAY, 10, await skipped.env.currentTimeMs()));
    const id = await begin(windowThenExit({ ...workingHours, timezone: 'UTC' }));
    expect(await skipped.handle(id).result()).to.equal('EXITED');
    const { events } = await skipped.handle(id).fetchHistory();
    expect(events?.filter((event) => event.timerStartedEventAttributes)).to.have.length(0);
  });

  for (const [name, month, opensAt] of [
    ['begin', MARCH, 7],
    ['end', OCTOBER, 8],
  ] as const)
    it(`TIME_WINDOW opens at 9:00 in Berlin over the ${name} of summer time`, async () => {
      const change = changeOfClocks(month, (await skipped.env.currentTimeMs()) + 3 * DAY);
      await passTo(new Date(change.getTime() - 32 * HOUR));
      const id = await begin(windowThenExit(workingHours), { timezone: 'Europe/Berlin' });
      await rests(id);
      const monday = new Date(change.getTime() + DAY);
      monday.setUTCHours(opensAt);
      expect(await opened(id)).to.equal(monday.toISOString());
    });

  it("TIME_WINDOW opens by the contact's time zone, and by the project's for a contact without one", async () => {
    await database.db('projects').where({ id: project.id }).update({ timezone: 'Asia/Tokyo' });
    const friday = next(FRIDAY, 12, await skipped.env.currentTimeMs());
    await passTo(friday);
    const daily = { ...workingHours, days: [...workingHours.days, 'SAT', 'SUN'] };
    const inPhoenix = await begin(windowThenExit(daily), { timezone: 'America/Phoenix' });
    const inTokyo = await begin(windowThenExit(daily));
    await Promise.all([rests(inPhoenix), rests(inTokyo)]);
    const after = (hours: number) => new Date(friday.getTime() + hours * HOUR).toISOString();
    // It is 5:00 in Phoenix and 21:00 in Tokyo.
    expect(await opened(inPhoenix)).to.equal(after(4));
    expect(await opened(inTokyo)).to.equal(after(12));
  });
});
