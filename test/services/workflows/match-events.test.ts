import { expect } from 'chai';
import type { Execution } from '../../../db/models/execution.ts';
import { writeContacts } from '../../../services/contacts/write.ts';
import { trackEvent } from '../../../services/events/track.ts';
import { applyAllContactChanges } from '../../../services/segments/changes.ts';
import { createSegment } from '../../../services/segments/create.ts';
import { MAX_TRIGGER_DEPTH, matchEvents } from '../../../services/workflows/match-events.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { type CreatedWorkflow, ExecutionDriver, insertWorkflow } from '../../support/executions.ts';
import { removeContacts } from '../../support/rows/contacts.ts';
import { outboxMessagesTo } from '../../support/rows/outbox.ts';
import { countRows } from '../../support/rows/tables.ts';
import { setExecutions, setVersions, setWorkflow, storedExecutions } from '../../support/rows/workflows.ts';

describe('events that start workflows', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let names = 0;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(() => database?.close());

  const trigger = () => `event ${++names}`;
  const startedBy = (eventName: string, workflow: object = {}): Promise<CreatedWorkflow> =>
    insertWorkflow(database.db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
      workflow: { triggerConfig: JSON.stringify({ eventName }), ...workflow },
    });
  const executionsOf = ({ id }: CreatedWorkflow): Promise<Execution[]> =>
    storedExecutions(database.db, { workflowId: id });
  const queued = () => countRows(database.db, 'event_queue');

  it('starts an execution with the event’s data as context, and its outbox message in the same transaction', async () => {
    const event = trigger();
    const workflow = await startedBy(event);
    await driver.track('ann@example.com', event, { plan: 'pro', once: { value: 'x', persistent: false } });
    const [execution] = await executionsOf(workflow);
    expect(execution).to.deep.include({
      status: 'RUNNING',
      version: 1,
      depth: 0,
      generation: 1,
      context: { plan: 'pro', once: 'x' },
    });
    const intents = await outboxMessagesTo(database.db, execution?.id ?? '');
    expect(intents.map(({ action, queue, workflowId }) => ({ action, queue, workflowId }))).to.deep.equal([
      { action: 'start', queue: 'starts', workflowId: `execution/${project.id}/${execution?.id}/1` },
    ]);
  });

  it('starts and signals nothing for an event without a workflow', async () => {
    await startedBy(trigger());
    await startedBy(trigger(), { enabled: false });
    await trackEvent(database.db, project.access, { email: 'ann@example.com', event: `event ${names}` });
    await trackEvent(database.db, project.access, { email: 'ann@example.com', event: 'unheard of' });
    expect(await queued()).to.equal(0);
  });

  it('ignores a contact that has entered before, unless re-entry is allowed', async () => {
    const once = trigger();
    const again = trigger();
    const first = await startedBy(once);
    const second = await startedBy(again, { allowReentry: true });
    for (const event of [once, once, again, again]) await driver.track('bob@example.com', event);
    expect(await executionsOf(first)).to.have.length(1);
    expect(await executionsOf(second)).to.have.length(1);
    await setExecutions(database.db, {}, { status: 'COMPLETED' });
    for (const event of [once, again]) await driver.track('bob@example.com', event);
    expect(await executionsOf(first)).to.have.length(1);
    expect(await executionsOf(second)).to.have.length(2);
  });

  it('starts one execution for 50 concurrent events of one contact', async () => {
    const event = trigger();
    const workflow = await startedBy(event, { allowReentry: true });
    const tracks = Array.from(
      { length: 50 },
      (_, n) => () => trackEvent(database.db, project.access, { email: 'cid@example.com', event, data: { n } }),
    );
    const relays = Array.from({ length: 4 }, () => async () => {
      for (let rounds = 0; rounds < 20; rounds++) await matchEvents(database.db, 7);
    });
    await Promise.all([...tracks, ...relays].map((work) => work()));
    while ((await matchEvents(database.db)).events > 0);
    expect(await executionsOf(workflow)).to.have.length(1);
    expect(await queued()).to.equal(0);
  });

  it('starts one execution per contact for a large batch of events', async () => {
    const event = trigger();
    const workflow = await startedBy(event);
    const emails = Array.from({ length: 300 }, (_, n) => `flood${n}@example.com`);
    await Promise.all(emails.map((email) => trackEvent(database.db, project.access, { email, event })));
    await Promise.all(Array.from({ length: 3 }, () => matchEvents(database.db, 120)));
    while ((await matchEvents(database.db)).events > 0);
    expect(await executionsOf(workflow)).to.have.length(300);
  });

  it('starts nothing for an event beyond the maximum depth', async () => {
    const event = trigger();
    const workflow = await startedBy(event);
    for (const [email, depth] of [
      ['deep@example.com', MAX_TRIGGER_DEPTH],
      ['deeper@example.com', MAX_TRIGGER_DEPTH + 1],
    ] as const)
      await database.db.transaction(async (trx) => {
        await trx.raw("select set_config('everpost.depth', ?, true)", [String(depth)]);
        await trackEvent(trx, project.access, { email, event });
      });
    while ((await matchEvents(database.db)).events > 0);
    expect((await executionsOf(workflow)).map(({ depth }) => depth)).to.deep.equal([MAX_TRIGGER_DEPTH]);
  });

  it('gives events that an execution causes a depth of one more than its own', async () => {
    const { db } = database;
    const first = await startedBy('contact.unsubscribed');
    const second = await startedBy('contact.subscribed');
    await setVersions(db, { workflowId: first.id }, { graph: JSON.stringify(subscribe(true)) });
    await setWorkflow(db, first.id, { allowReentry: true });
    await driver.contact('dan@example.com');
    await writeContacts(db, project.id, [
      { email: 'dan@example.com', subscribed: false, subscribedWhenNew: true, patch: {}, deletes: [] },
    ]);
    while ((await matchEvents(db)).events > 0);
    const [execution] = await executionsOf(first);
    await driver.advance(execution?.id ?? '');
    while ((await matchEvents(db)).events > 0);
    expect((await executionsOf(second)).map(({ depth }) => depth)).to.deep.equal([1]);
  });

  const subscribe = (subscribed: boolean) => ({
    steps: [
      {
        id: '0190f0f0-0000-7000-8000-000000000001',
        type: 'UPDATE_CONTACT',
        name: 'change',
        config: { subscribed },
        templateId: null,
      },
    ],
    transitions: [],
  });

  it('increases the depth of segment entries that an execution causes', async () => {
    const { db } = database;
    const filter = { field: 'data.level', operator: 'equals', value: 'gold' };
    await createSegment(db, project.access, {
      name: 'Gold',
      type: 'DYNAMIC',
      trackMembership: true,
      condition: { logic: 'AND', groups: [{ filters: [filter] }] },
    });
    const promoted = await startedBy('segment.gold.entry');
    const workflow = await insertWorkflow(db, project, {
      steps: { promote: ['UPDATE_CONTACT', { data: { level: 'gold' } }] },
    });
    await driver.advance(await driver.start(workflow, 'gil@example.com'));
    await applyAllContactChanges(db);
    while ((await matchEvents(db)).events > 0);
    expect((await executionsOf(promoted)).map(({ depth }) => depth)).to.deep.equal([1]);
  });

  it('ignores events of contacts that were deleted since', async () => {
    const event = trigger();
    const workflow = await startedBy(event);
    await trackEvent(database.db, project.access, { email: 'eve@example.com', event });
    await removeContacts(database.db, { email: 'eve@example.com' });
    expect(await matchEvents(database.db)).to.deep.equal({ events: 1, started: 0, signalled: 0 });
    expect(await executionsOf(workflow)).to.deep.equal([]);
  });
});
