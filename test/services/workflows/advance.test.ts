import { expect } from 'chai';
import { Contact } from '../../../db/models/contact.ts';
import { Email } from '../../../db/models/email.ts';
import { Event } from '../../../db/models/event.ts';
import { createTemplate } from '../../../services/templates/save.ts';
import { advance } from '../../../services/workflows/advance.ts';
import { openHeaders } from '../../../services/workflows/sealed-headers.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../../support/connected-database.ts';
import { ExecutionDriver, insertWorkflow, type WorkflowSketch } from '../../support/executions.ts';
import { testKeys } from '../../support/keys.ts';
import { testLinks } from '../../support/links.ts';
import { testRenderer } from '../../support/renderer.ts';
import { removeContacts, setContacts } from '../../support/rows/contacts.ts';
import { storedContents } from '../../support/rows/mails.ts';
import { outboxMessages } from '../../support/rows/outbox.ts';
import { setWorkflow, storedExecutions } from '../../support/rows/workflows.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('advancing an execution', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let driver: ExecutionDriver;
  let people = 0;
  const newEmail = () => `person${++people}@example.com`;

  before(async () => {
    database = await connectTestDatabase();
    project = await makeProject(database.db);
    driver = new ExecutionDriver(database.db, project);
  });
  after(() => database?.close());

  const begin = async (sketch: WorkflowSketch, email = newEmail(), context = {}) =>
    driver.start(await insertWorkflow(database.db, project, sketch), email, context);

  const template = async (change: object = {}) => {
    const { id } = await createTemplate(database.db, project.access, {
      name: 'Hello',
      subject: 'Hello {{ event.plan }}',
      body: '<p>Hello</p>',
      type: 'TRANSACTIONAL',
      from: { email: `hello@${project.senderDomain}` },
      ...change,
    } as never);
    return id;
  };

  it('ends COMPLETED when no transition leaves the step', async () => {
    const id = await begin({ steps: { mark: ['UPDATE_CONTACT', { data: { seen: true } }] } });
    expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'COMPLETED' });
    const execution = await driver.execution(id);
    expect(execution).to.include({ status: 'COMPLETED', exitReason: null, error: null, visit: 1 });
    expect(execution.completedAt).to.be.instanceOf(Date);
  });

  it('changes nothing after the end, or for a run with an older generation', async () => {
    const id = await begin({ steps: { out: ['EXIT'] } });
    await driver.advance(id);
    expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'EXITED' });
    expect(await driver.steps(id)).to.have.length(1);
    const deps = { db: database.db, renderer: testRenderer(), links: testLinks, now: () => new Date(), keys: testKeys };
    expect(await advance(deps, { executionId: id, generation: 0 })).to.deep.equal({ kind: 'end', status: 'OVER' });
  });

  it('takes each step once under concurrent calls', async () => {
    const id = await begin({ steps: { send: ['SEND_EMAIL', { templateId: await template() }], out: ['EXIT'] } });
    await Promise.all(Array.from({ length: 8 }, () => driver.advance(id)));
    expect(await driver.visits(id)).to.deep.equal(['send: COMPLETED', 'out: COMPLETED']);
    expect(await Email.query(database.db).where({ executionId: id })).to.have.length(1);
  });

  it('ends CANCELLED when the contact was deleted', async () => {
    const email = newEmail();
    const id = await begin({ steps: { out: ['EXIT'] } }, email);
    await removeContacts(database.db, { email });
    expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'CANCELLED' });
    expect(await driver.execution(id)).to.include({ status: 'CANCELLED', exitReason: 'contact deleted' });
  });

  describe('EXIT', () => {
    it('ends the execution EXITED with its reason', async () => {
      const id = await begin({ steps: { out: ['EXIT', { reason: 'not for you' }] } });
      expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'EXITED' });
      expect(await driver.execution(id)).to.include({ status: 'EXITED', exitReason: 'not for you' });
      expect(await driver.visits(id)).to.deep.equal(['out: COMPLETED']);
    });
  });

  describe('UPDATE_CONTACT', () => {
    it('updates the contact, and records a change of subscription as an event with depth + 1', async () => {
      const email = newEmail();
      const change = {
        data: { plan: 'pro', old: null, email: 'x@example.com' },
        updates: { team: 3 },
        subscribed: false,
      };
      await driver.contact(email, { old: 1 });
      const id = await begin({ steps: { change: ['UPDATE_CONTACT', change] } }, email);
      await driver.advance(id);
      const contact = await Contact.query(database.db).findOne({ email }).throwIfNotFound();
      expect(contact).to.deep.include({ subscribed: false, data: { plan: 'pro', team: 3 } });
      const event = await Event.query(database.db).findOne({ contactId: contact.id, name: 'contact.unsubscribed' });
      expect(event).to.include({ depth: 1 });
    });

    it('fails with the reason and changes nothing when the contact would grow too large', async () => {
      const email = newEmail();
      await driver.contact(email, { a: 'x'.repeat(60_000) });
      await driver.contact(email, { b: 'x'.repeat(60_000) });
      const id = await begin({ steps: { change: ['UPDATE_CONTACT', { data: { c: 'x'.repeat(60_000) } }] } }, email);
      expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'FAILED' });
      const [step] = await driver.steps(id);
      expect(step).to.include({ status: 'FAILED' });
      expect(step?.error).to.contain('128 KB');
      expect(await driver.execution(id)).to.include({ status: 'FAILED', error: step?.error });
    });
  });

  describe('CONDITION', () => {
    const asking = (config: object): WorkflowSketch => ({
      steps: { ask: ['CONDITION', config], yes: ['EXIT', { reason: 'yes' }], no: ['EXIT', { reason: 'no' }] },
      arrows: ['ask -yes-> yes', 'ask -no-> no'],
    });
    const answer = async (config: object, data: object, context: object = {}) => {
      const email = newEmail();
      await driver.contact(email, { ...data });
      const id = await begin(asking(config), email, context);
      await driver.advance(id);
      return (await driver.execution(id)).exitReason;
    };

    it('takes the branch that matches the contact’s data, for a single filter and for a tree', async () => {
      const flat = { field: 'data.plan', operator: 'equals', value: 'pro' };
      expect(await answer(flat, { plan: 'pro' })).to.equal('yes');
      expect(await answer(flat, { plan: 'free' })).to.equal('no');
      const tree = { logic: 'OR', groups: [{ filters: [flat] }, { filters: [{ ...flat, value: 'team' }] }] };
      expect(await answer(tree, { plan: 'team' })).to.equal('yes');
    });

    it('records which filters decided the branch, without values of the contact', async () => {
      const flat = { field: 'data.plan', operator: 'equals', value: 'pro' };
      const never = { field: 'event.never', operator: 'triggered' };
      const reasons: [config: object, reason: string][] = [
        [flat, 'data.plan equals "pro" is false'],
        [{ ...flat, operator: 'notEquals' }, 'data.plan notEquals "pro" is true'],
        [
          { logic: 'AND', groups: [{ filters: [{ ...flat, operator: 'notEquals' }, never] }] },
          'event.never triggered is false',
        ],
      ];
      for (const [config, reason] of reasons) {
        const email = newEmail();
        await driver.contact(email, { plan: 'secret' });
        const id = await begin(asking(config), email);
        await driver.advance(id);
        expect((await driver.steps(id))[0]?.output).to.deep.equal({ reason });
      }
    });

    it('reads `event.<key>` from the context', async () => {
      const config = { field: 'event.amount', operator: 'greaterThan', value: 10 };
      expect(await answer(config, {}, { amount: 11 })).to.equal('yes');
      expect(await answer(config, {}, { amount: 10 })).to.equal('no');
    });

    it('evaluates whether an event has happened', async () => {
      expect(await answer({ field: 'event.arrived', operator: 'triggered' }, {})).to.equal('yes');
      expect(await answer({ field: 'event.never', operator: 'triggered' }, {})).to.equal('no');
    });

    it('ends COMPLETED when the branch has no transition', async () => {
      const config = { field: 'email', operator: 'contains', value: 'nobody' };
      const id = await begin({ steps: { ask: ['CONDITION', config], yes: ['EXIT'] }, arrows: ['ask -yes-> yes'] });
      expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'COMPLETED' });
      expect(await driver.visits(id)).to.deep.equal(['ask: COMPLETED by no']);
    });
  });

  describe('SEND_EMAIL', () => {
    it('writes the mail to the ledger with the context as `event` and priority 1', async () => {
      const email = newEmail();
      const templateId = await template();
      const id = await begin({ steps: { send: ['SEND_EMAIL', { templateId }] } }, email, { plan: 'pro' });
      await driver.advance(id);
      const mail = await Email.query(database.db).findOne({ executionId: id }).throwIfNotFound();
      const { workflowId } = await driver.execution(id);
      expect(mail).to.include({
        status: 'PENDING',
        sourceType: 'WORKFLOW',
        priority: 1,
        templateId,
        workflowId,
        stepVisit: 1,
      });
      const content = await storedContents(database.db, { emailId: mail.id }).first();
      expect(content).to.deep.include({ toEmail: email, variables: { event: { plan: 'pro' } } });
      const [step] = await driver.steps(id);
      expect(step).to.deep.include({ status: 'COMPLETED', output: { emailId: mail.id } });
    });

    it('skips MARKETING mail to an unsubscribed contact and continues', async () => {
      const email = newEmail();
      const templateId = await template({ type: 'MARKETING' });
      await driver.contact(email);
      await setContacts(database.db, { email }, { subscribed: false });
      const id = await begin({ steps: { send: ['SEND_EMAIL', { templateId }], out: ['EXIT'] } }, email);
      await driver.advance(id);
      expect(await driver.visits(id)).to.deep.equal(['send: SKIPPED', 'out: COMPLETED']);
      expect(await Email.query(database.db).where({ executionId: id })).to.deep.equal([]);
    });

    it('uses sender and recipient of its config', async () => {
      const config = {
        templateId: await template(),
        from: `sales@${project.senderDomain}`,
        fromName: 'Sales',
        replyTo: 'reply@example.com',
        recipient: { type: 'CUSTOM', email: 'team@example.com' },
      };
      const id = await begin({ steps: { send: ['SEND_EMAIL', config] } });
      await driver.advance(id);
      const { id: emailId } = await Email.query(database.db).findOne({ executionId: id }).throwIfNotFound();
      expect(await storedContents(database.db, { emailId }).first()).to.include({
        toEmail: 'team@example.com',
        fromEmail: config.from,
        fromName: 'Sales',
        replyTo: 'reply@example.com',
      });
    });

    it('fails when the sender’s domain is not one of the project’s', async () => {
      const config = { templateId: await template(), from: 'me@elsewhere.example' };
      const id = await begin({ steps: { send: ['SEND_EMAIL', config] } });
      await driver.advance(id);
      expect((await driver.execution(id)).error).to.contain('elsewhere.example is not verified');
    });
  });

  describe('DELAY', () => {
    it('rests for its time, records when it ends, and then continues', async () => {
      const id = await begin({ steps: { rest: ['DELAY', { amount: 2, unit: 'hours' }], out: ['EXIT'] } });
      const next = await driver.advance(id);
      expect(next).to.include({ kind: 'rest', stepType: 'DELAY' });
      const { scheduledFor } = (await driver.steps(id))[0] ?? {};
      expect(scheduledFor?.getTime()).to.equal(next.kind === 'rest' && next.until);
      expect(await driver.execution(id)).to.include({ status: 'WAITING' });
      driver.later(HOUR);
      expect(await driver.advance(id)).to.include({ kind: 'rest' });
      driver.later(HOUR);
      expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'EXITED' });
      expect(await driver.visits(id)).to.deep.equal(['rest: COMPLETED', 'out: COMPLETED']);
    });

    it('rests until a fixed date, or until a date of the contact', async () => {
      const email = newEmail();
      await driver.contact(email, { trial: { ends: '2031-05-04' } });
      for (const until of ['2031-05-04T00:00:00Z', 'data.trial.ends']) {
        const id = await begin({ steps: { rest: ['DELAY', { until }] } }, email);
        expect(await driver.advance(id)).to.include({ kind: 'rest', until: Date.UTC(2031, 4, 4) });
      }
    });

    it('continues at once when the date is past, and fails when the contact has none', async () => {
      const past = await begin({ steps: { rest: ['DELAY', { until: '2020-01-01' }] } });
      expect(await driver.advance(past)).to.deep.equal({ kind: 'end', status: 'COMPLETED' });
      const none = await begin({ steps: { rest: ['DELAY', { until: 'data.birthday' }] } });
      await driver.advance(none);
      expect(await driver.execution(none)).to.include({ error: 'the contact has no date in data.birthday' });
    });
  });

  describe('WAIT_FOR_EVENT', () => {
    const waiting = (config: object = {}): WorkflowSketch => ({
      steps: {
        wait: ['WAIT_FOR_EVENT', { eventName: 'bought', ...config }],
        came: ['EXIT', { reason: 'came' }],
        late: ['EXIT', { reason: 'late' }],
      },
      arrows: ['wait -event-> came', 'wait -timeout-> late'],
    });

    it('leaves by event when it happens, and merges its data into the context', async () => {
      const email = newEmail();
      const id = await begin(waiting(), email, { plan: 'pro', amount: 1 });
      expect(await driver.advance(id)).to.deep.equal({
        kind: 'rest',
        stepType: 'WAIT_FOR_EVENT',
        event: 'bought',
        until: undefined,
      });
      await driver.track(email, 'bought', { amount: 7 });
      expect(await outboxMessages(database.db, { action: 'signal' }).whereLike('workflowId', `%${id}%`)).to.have.length(
        1,
      );
      await driver.advance(id);
      expect(await driver.execution(id)).to.deep.include({ exitReason: 'came', context: { plan: 'pro', amount: 7 } });
      expect(await driver.visits(id)).to.deep.equal(['wait: COMPLETED by event', 'came: COMPLETED']);
    });

    it('leaves by timeout when the time is over', async () => {
      const id = await begin(waiting({ timeout: { amount: 3, unit: 'days' } }));
      await driver.advance(id);
      driver.later(3 * DAY);
      await driver.advance(id);
      expect(await driver.execution(id)).to.include({ exitReason: 'late' });
    });

    it('ignores events before the start, and accepts one from before the wait was reached', async () => {
      const email = newEmail();
      await driver.track(email, 'bought');
      const id = await begin(waiting(), email);
      expect(await driver.advance(id)).to.include({ kind: 'rest' });
      const early = newEmail();
      const second = await begin(waiting(), early);
      await driver.track(early, 'bought');
      expect(await driver.advance(second)).to.deep.equal({ kind: 'end', status: 'EXITED' });
    });

    it('ignores the event that started the execution', async () => {
      const email = newEmail();
      const { id } = await insertWorkflow(database.db, project, {
        ...waiting(),
        workflow: { triggerConfig: JSON.stringify({ eventName: 'bought' }) },
      });
      await driver.track(email, 'bought');
      const [execution] = await storedExecutions(database.db, { workflowId: id });
      expect(await driver.advance(execution.id)).to.include({ kind: 'rest' });
      await setWorkflow(database.db, id, { enabled: false });
    });

    it('ignores events before the end of a DELAY, and the event that ended an earlier wait', async () => {
      const email = newEmail();
      const id = await begin(
        {
          steps: {
            rest: ['DELAY', { amount: 1, unit: 'hours' }],
            first: ['WAIT_FOR_EVENT', { eventName: 'bought' }],
            second: ['WAIT_FOR_EVENT', { eventName: 'bought' }],
          },
        },
        email,
      );
      await driver.advance(id);
      await driver.track(email, 'bought');
      driver.later(HOUR);
      expect(await driver.advance(id)).to.include({ kind: 'rest', event: 'bought' });
      await driver.track(email, 'bought');
      expect(await driver.advance(id)).to.include({ kind: 'rest', event: 'bought' });
      await driver.track(email, 'bought');
      expect(await driver.advance(id)).to.deep.equal({ kind: 'end', status: 'COMPLETED' });
    });

    it('misses no event that is tracked while the wait begins', async () => {
      for (let round = 0; round < 25; round++) {
        const email = newEmail();
        const id = await begin(waiting(), email);
        const [next] = await Promise.all([driver.advance(id), driver.track(email, 'bought')]);
        const signals = await outboxMessages(database.db, { action: 'signal' }).whereLike('workflowId', `%${id}%`);
        // Either the wait found the event, or matching the event found the wait.
        expect(next.kind === 'end' || signals.length > 0).to.equal(true);
      }
    });
  });

  describe('WEBHOOK', () => {
    it('stores the rendered request once and returns `webhook`', async () => {
      const email = newEmail();
      const config = {
        url: 'https://hooks.example.com/{{ event.plan }}',
        headers: { 'X-Who': '{{ email }}' },
        body: { who: '{{ email }}', plan: ['{{ event.plan }}', 1] },
      };
      const id = await begin({ steps: { call: ['WEBHOOK', config] } }, email, { plan: 'a & b' });
      expect(await driver.advance(id)).to.deep.equal({ kind: 'webhook', visit: 1 });
      expect(await driver.advance(id)).to.deep.equal({ kind: 'webhook', visit: 1 });
      const [step] = await driver.steps(id);
      expect(JSON.stringify(step?.request)).to.not.include('x-who');
      expect(openHeaders(testKeys, project.id, step?.request ?? {})).to.deep.equal({
        url: 'https://hooks.example.com/a%20%26%20b',
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-who': email },
        body: JSON.stringify({ who: email, plan: ['a & b', 1] }),
      });
      expect(step).to.include({ status: 'RUNNING' });
    });
  });
});
