import { expect } from 'chai';
import { Contact } from '../../db/models/contact.ts';
import { Email } from '../../db/models/email.ts';
import { signalNames } from '../../services/outbox/signals.ts';
import { createTemplate } from '../../services/templates/save.ts';
import { cancelExecution } from '../../services/workflows/executions/cancel.ts';
import { retryExecution } from '../../services/workflows/executions/retry.ts';
import { skipExecution } from '../../services/workflows/executions/skip.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { type CreatedWorkflow, ExecutionDriver, insertWorkflow, type WorkflowSketch } from '../support/executions.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { hideTable } from '../support/rows/tables.ts';
import { startTimeSkippingExecutions, type TimeSkippingExecutions } from '../support/time-skipping-executions.ts';
import { eventually } from '../support/waiting.ts';

const DAY = 86_400_000;

describe('the execution workflow', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let receiver: HttpReceiver;
  let skipped: TimeSkippingExecutions;
  let people = 0;

  before(async () => {
    [database, receiver] = await Promise.all([connectTestDatabase(), startHttpReceiver()]);
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
    skipped = await startTimeSkippingExecutions(database.db, project, [receiver.host]);
  });
  after(async () => {
    await skipped?.stop();
    await receiver?.stop();
    await database?.close();
  });

  interface Begun {
    id: string;
    email: string;
    workflow: CreatedWorkflow;
    /** Awaiting it lets virtual time pass. */
    result(generation?: number): Promise<unknown>;
  }

  const begin = async (sketch: WorkflowSketch, email = `person${++people}@example.com`): Promise<Begun> => {
    const workflow = await insertWorkflow(database.db, project, sketch);
    const id = await driver.start(workflow, email);
    await skipped.relay();
    return { id, email, workflow, result: (generation) => skipped.handle(id, generation).result() };
  };

  const rests = (id: string) =>
    eventually(async () => (await driver.execution(id)).status === 'WAITING', { what: 'rest' });

  /** Returns the virtual duration of a run from its description, because the server's clock may run on afterwards. */
  const lasted = async (id: string): Promise<number> => {
    const { events } = await skipped.handle(id).fetchHistory();
    const first = Number(events?.at(0)?.eventTime?.seconds ?? 0);
    const last = Number(events?.at(-1)?.eventTime?.seconds ?? 0);
    return (last - first) * 1000;
  };

  it('takes UPDATE_CONTACT, CONDITION, SEND_EMAIL and EXIT in one workflow task', async () => {
    const template = await createTemplate(database.db, project.access, {
      name: 'Hello',
      subject: 'Hello',
      body: '<p>Hello</p>',
      type: 'TRANSACTIONAL',
      from: { email: `hello@${project.senderDomain}` },
    });
    const { id, email, result } = await begin({
      steps: {
        change: ['UPDATE_CONTACT', { data: { plan: 'pro' } }],
        ask: ['CONDITION', { field: 'data.plan', operator: 'equals', value: 'pro' }],
        send: ['SEND_EMAIL', { templateId: template.id }],
        out: ['EXIT', { reason: 'done' }],
      },
      arrows: ['change -> ask', 'ask -yes-> send', 'send -> out'],
    });
    expect(await result()).to.equal('EXITED');
    expect(await driver.visits(id)).to.deep.equal([
      'change: COMPLETED',
      'ask: COMPLETED by yes',
      'send: COMPLETED',
      'out: COMPLETED',
    ]);
    expect(await Contact.query(database.db).findOne({ email })).to.deep.include({ data: { plan: 'pro' } });
    expect(await Email.query(database.db).where({ executionId: id })).to.have.length(1);
    const { events = [] } = await skipped.handle(id).fetchHistory();
    expect(events?.filter((event) => event.workflowTaskCompletedEventAttributes)).to.have.length(1);
    expect(events?.filter((event) => event.activityTaskScheduledEventAttributes)).to.have.length(0);
  });

  it('retries a step in an activity when the local activity fails', async () => {
    const { db } = database;
    const restore = await hideTable(db, 'execution_steps');
    const { id, result } = await begin({ steps: { out: ['EXIT'] } });
    const activities = async () =>
      (await skipped.handle(id).fetchHistory()).events?.filter((event) => event.activityTaskScheduledEventAttributes);
    await eventually(async () => (await activities())?.length === 1, { what: 'an activity' });
    await restore();
    expect(await result()).to.equal('EXITED');
    expect(await activities()).to.have.length(1);
    expect(await driver.visits(id)).to.deep.equal(['out: COMPLETED']);
  });

  it('sleeps through a DELAY of 18 months', async () => {
    const { id, result } = await begin({ steps: { rest: ['DELAY', { amount: 18, unit: 'months' }], out: ['EXIT'] } });
    await result();
    expect(await lasted(id)).to.be.within(18 * 30 * DAY, 18 * 31 * DAY);
    expect(await driver.visits(id)).to.deep.equal(['rest: COMPLETED', 'out: COMPLETED']);
  });

  it('sleeps until a date of the contact', async () => {
    const email = 'own-date@example.com';
    const date = new Date((await skipped.env.currentTimeMs()) + 40 * DAY);
    await driver.contact(email, { trialEnds: date.toISOString() });
    const { result } = await begin({ steps: { rest: ['DELAY', { until: 'data.trialEnds' }] } }, email);
    await result();
    expect(await skipped.env.currentTimeMs()).to.be.at.least(date.getTime());
  });

  const waiting = (timeout?: object): WorkflowSketch => ({
    steps: {
      wait: ['WAIT_FOR_EVENT', { eventName: 'bought', ...(timeout && { timeout }) }],
      came: ['EXIT', { reason: 'came' }],
      late: ['EXIT', { reason: 'gave up' }],
    },
    arrows: ['wait -event-> came', 'wait -timeout-> late'],
  });

  it('takes the timeout branch after 18 months without the event', async () => {
    const { id, result } = await begin(waiting({ amount: 18, unit: 'months' }));
    await result();
    expect(await lasted(id)).to.be.within(18 * 30 * DAY, 18 * 31 * DAY);
    expect(await driver.execution(id)).to.include({ status: 'EXITED', exitReason: 'gave up' });
  });

  it('takes the event branch on a signal after the event', async () => {
    const { id, email, result } = await begin(waiting({ amount: 18, unit: 'months' }));
    await rests(id);
    await driver.track(email, 'bought', { amount: 3 });
    await skipped.relay();
    await eventually(async () => (await driver.execution(id)).status === 'EXITED');
    await result();
    expect(await driver.execution(id)).to.deep.include({ exitReason: 'came', context: { amount: 3 } });
  });

  it('goes on resting on events and signals that do not concern it', async () => {
    const { id, email, result } = await begin(waiting());
    await rests(id);
    await skipped.handle(id).signal(signalNames.refresh);
    await driver.track(email, 'something else');
    await skipped.handle(id).signal(signalNames.refresh);
    await driver.track(email, 'bought');
    await skipped.relay();
    await result();
    expect(await driver.execution(id)).to.include({ exitReason: 'came' });
  });

  it('loops through a DELAY until its condition holds', async () => {
    const email = 'loop@example.com';
    const { id, result } = await begin(
      {
        steps: {
          mark: ['UPDATE_CONTACT', { data: { seen: true } }],
          rest: ['DELAY', { amount: 1, unit: 'days' }],
          ask: ['CONDITION', { field: 'data.ready', operator: 'equals', value: true }],
          out: ['EXIT', { reason: 'ready' }],
        },
        arrows: ['mark -> rest', 'rest -> ask', 'ask -no-> rest', 'ask -yes-> out'],
      },
      email,
    );
    const ready = eventually(async () => (await driver.execution(id)).visit > 8);
    const ended = result();
    await ready;
    await driver.contact(email, { ready: true });
    await ended;
    expect(await driver.execution(id)).to.include({ exitReason: 'ready' });
  });

  describe('WEBHOOK', () => {
    const calling = (path: string): WorkflowSketch => ({
      steps: { call: ['WEBHOOK', { url: `${receiver.url}${path}` }], out: ['EXIT', { reason: 'called' }] },
    });

    it('is retried until it succeeds, honours Retry-After, and keeps its webhook-id', async () => {
      let calls = 0;
      receiver.answer(() => {
        calls++;
        if (calls === 1) return { status: 503, headers: { 'retry-after': '7200' } };
        return calls === 2 ? { status: 429 } : { body: { taken: true } };
      }, '/flaky');
      const { id, result } = await begin(calling('/flaky'));
      await result();
      expect(await lasted(id)).to.be.within(7_200_000, 2 * 7_200_000);
      const requests = receiver.requests.filter(({ path }) => path === '/flaky');
      expect(requests).to.have.length(3);
      expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
      const [step] = await driver.steps(id);
      expect(step).to.include({ status: 'COMPLETED', attempt: 3, error: null, request: null });
      expect(step?.output).to.include({ status: 200, body: '{"taken":true}' });
    });

    it('fails the execution at once on another 4xx, and continues from there on retry', async () => {
      receiver.answer({ status: 410 }, '/gone');
      const { id, workflow, result } = await begin(calling('/gone'));
      await result();
      expect(await driver.execution(id)).to.include({ status: 'FAILED', error: 'The endpoint responded with 410.' });
      expect(receiver.requests.filter(({ path }) => path === '/gone')).to.have.length(1);
      receiver.answer({}, '/gone');
      await retryExecution(database.db, project.access, workflow.id, id);
      await skipped.relay();
      expect(await result(2)).to.equal('EXITED');
      expect(await driver.visits(id)).to.deep.equal(['call: COMPLETED', 'out: COMPLETED']);
      expect((await driver.steps(id))[0]).to.include({ attempt: 2 });
    });

    it('gives up after about a day', async () => {
      receiver.answer({ status: 500 }, '/broken');
      const { id, result } = await begin(calling('/broken'));
      await result();
      expect(await lasted(id)).to.be.within(DAY, 1.2 * DAY);
      expect(await driver.execution(id)).to.include({ status: 'FAILED', error: 'The endpoint responded with 500.' });
    });
  });

  it('ends when it is cancelled, and takes no further step', async () => {
    const { id, workflow, result } = await begin({
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }], out: ['EXIT'] },
    });
    await rests(id);
    await cancelExecution(database.db, project.access, workflow.id, id);
    await skipped.relay();
    const error = await result().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
    expect((await skipped.handle(id).describe()).status.name).to.equal('CANCELLED');
    expect(await driver.visits(id)).to.deep.equal(['rest: CANCELLED']);
  });

  it('leaves its step at once when it is skipped', async () => {
    const { id, workflow, result } = await begin({
      steps: { rest: ['DELAY', { amount: 9, unit: 'months' }], out: ['EXIT'] },
    });
    await rests(id);
    await skipExecution(database.db, project.access, workflow.id, id);
    await skipped.relay();
    await eventually(async () => (await driver.execution(id)).status === 'EXITED');
    await result();
    expect(await driver.visits(id)).to.deep.equal(['rest: SKIPPED', 'out: COMPLETED']);
  });
});
