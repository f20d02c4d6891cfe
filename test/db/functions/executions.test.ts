import { expect } from 'chai';
import { newId } from '../../../platform/ids.ts';
import { workflowIds } from '../../../services/outbox/ids.ts';
import { readExecution } from '../../../services/workflows/execution-state.ts';
import { writeExecutionStep } from '../../../services/workflows/records.ts';
import { connectFunctionTestDatabase, type FunctionTestDatabase, runSql } from '../../support/database-functions.ts';
import { pendingSums } from '../../support/rows/counters.ts';

describe('database functions of executions', () => {
  let database: FunctionTestDatabase;

  before(async () => {
    database = await connectFunctionTestDatabase();
  });
  beforeEach(() => database.renew());
  after(() => database.close());

  const execution = (id: string) => database.db('executions').where({ id }).first();
  const stepsOf = (executionId: string) => database.db('executionSteps').where({ executionId }).orderBy('visit');

  describe('workflow_id', () => {
    it('equals services/outbox/ids.ts for every kind', async () => {
      const parts = [newId(), newId(), 3];
      for (const [kind, make] of Object.entries(workflowIds)) {
        const own = parts.slice(0, make.length);
        const id = (make as (...parts: unknown[]) => string)(...own);
        expect(
          await database.value('select workflow_id(?, variadic ?::text[])', [kind, own.map(String)]),
          kind,
        ).to.equal(id);
      }
    });
  });

  describe('time_bucket', () => {
    it('puts a duration into a bucket whose middle is within 10 %', async () => {
      for (const seconds of [0.002, 0.5, 1, 59, 3_600, 86_400, 31_536_000]) {
        const bucket = (await database.value("select time_bucket(? * interval '1 second')", [seconds])) as number;
        expect(Math.abs(1.2 ** (bucket + 0.5) / 1000 / seconds - 1), String(seconds)).to.be.lessThan(0.1);
      }
      expect(await database.value("select time_bucket(interval '0')")).to.equal(-1);
    });
  });

  describe('count_workflow', () => {
    it('counts starts, ends and retries of executions, and the step that they are at', async () => {
      const workflowId = await database.addWorkflow();
      const stepId = newId();
      const counts = async () =>
        (await pendingSums(database.db, database.projectId, `workflow/${workflowId}/days`)).map(
          ({ part, name, count }) => `${part.replace(stepId, 'step')} ${name} ${count}`,
        );
      const id = await database.addExecution({ workflowId, currentStepId: stepId, status: 'WAITING' });
      expect(await counts()).to.deep.equal(['1 started 1', '1/step entered 1']);
      await database.db('executions').where({ id }).update({ status: 'FAILED' });
      const failed = ['1 failed 1', '1 started 1', '1/step entered 1', '1/step failed 1', '1/step left 1'];
      expect(await counts()).to.deep.equal(failed);
      await database.db('executions').where({ id }).update({ status: 'RUNNING' });
      expect(await counts()).to.deep.equal(['1 started 1', '1/step entered 1']);
      await database.db('executions').where({ id }).update({ status: 'CANCELLED' });
      expect(await counts()).to.deep.equal(['1 cancelled 1', '1 started 1', '1/step entered 1', '1/step left 1']);
    });

    const activity = async () =>
      (await pendingSums(database.db, database.projectId, 'activity/hours')).map(
        ({ period, name, count }) => [period, name, count] as const,
      );
    const move = (id: string, columns: object) => database.db('executions').where({ id }).update(columns);
    const startedAt = new Date('2026-03-01T10:00:00Z');
    const completedAt = new Date('2026-03-02T10:00:00Z');

    it('counts a start and one completion as activity', async () => {
      const id = await database.addExecution({ startedAt });
      expect(await activity()).to.deep.equal([[startedAt, 'started', 1]]);
      await move(id, { status: 'WAITING' });
      await move(id, { status: 'COMPLETED', completedAt });
      await move(id, { status: 'EXITED' });
      expect(await activity()).to.deep.equal([
        [startedAt, 'started', 1],
        [completedAt, 'completed', 1],
      ]);
    });

    it('counts a failed execution as completed only after a retry has ended it', async () => {
      const id = await database.addExecution({ startedAt });
      await move(id, { status: 'FAILED' });
      await move(id, { status: 'CANCELLED' });
      expect(await activity()).to.have.length(1);
      await move(id, { status: 'EXITED' });
      expect((await activity()).map(([, name]) => name)).to.deep.equal(['started', 'completed']);
    });

    it('counts both for an execution that is inserted as completed', async () => {
      await database.addExecution({ status: 'COMPLETED', startedAt, completedAt });
      expect(await activity()).to.deep.equal([
        [startedAt, 'started', 1],
        [completedAt, 'completed', 1],
      ]);
    });
  });

  describe('count_step_mails', () => {
    it('counts each result of a mail for the step that sent it, and takes it back', async () => {
      const workflowId = await database.addWorkflow();
      const stepId = newId();
      const contactId = newId();
      const executionId = await database.addExecution({ workflowId, contactId });
      const step = { visit: 1, stepId, type: 'SEND_EMAIL', name: 'Mail', status: 'COMPLETED' };
      await database.db('executionSteps').insert({ id: newId(), projectId: database.projectId, executionId, ...step });
      const id = await database.addEmail({ contactId, workflowId, executionId, stepVisit: 1 });
      const sums = async () =>
        (await pendingSums(database.db, database.projectId, `workflow/${workflowId}/days`)).filter(({ name }) =>
          name.startsWith('mail:'),
        );
      const sentAt = new Date('2026-03-01T10:00:00Z');
      const sent = { part: `1/${stepId}`, period: new Date('2026-03-01'), name: 'mail:sent', count: 1 };
      const openedAt = new Date('2026-03-02T00:00:00Z');
      await database.db('emails').where({ id }).update({ status: 'OPENED', sentAt, openedAt });
      expect(await sums()).to.deep.equal([sent, { ...sent, period: openedAt, name: 'mail:opened' }]);
      await database.db('emails').where({ id }).update({ status: 'SENT', openedAt: null });
      expect(await sums()).to.deep.equal([sent]);
      const clickedAt = new Date('2026-03-03T00:00:00Z');
      await database.db('emails').where({ id }).update({ humanClickedAt: clickedAt });
      expect(await sums()).to.deep.equal([
        sent,
        { ...sent, period: clickedAt, name: 'mail:humanClicked' },
        { ...sent, period: clickedAt, name: 'mail:peopleOpened' },
      ]);
      // Images are loaded later: the email counts once.
      await database
        .db('emails')
        .where({ id })
        .update({ humanOpenedAt: new Date('2026-03-04T00:00:00Z') });
      expect((await sums()).filter(({ name }) => name === 'mail:peopleOpened')).to.deep.equal([
        { ...sent, period: clickedAt, name: 'mail:peopleOpened' },
      ]);
    });
  });

  describe('cancel_executions', () => {
    const cancel = (ids: string[]) => database.value('select cancel_executions(?, ?)', [ids, 'workflow deleted']);
    const outbox = () =>
      database
        .db('outbox')
        .where({ projectId: database.projectId })
        .orderBy('id')
        .select('queue', 'workflowId', 'action');

    it('cancels active executions with their open steps, and asks Temporal to cancel them', async () => {
      const id = await database.addExecution({
        status: 'WAITING',
        awaitedEvent: 'paid',
        wakeAt: new Date(),
        generation: 2,
      });
      const step = { projectId: database.projectId, executionId: id, stepId: newId(), type: 'WAIT', name: 'Wait' };
      await database.db('executionSteps').insert([
        { ...step, id: newId(), visit: 1, status: 'COMPLETED' },
        { ...step, id: newId(), visit: 2, status: 'WAITING', request: { url: 'https://example.com' } },
      ]);
      expect(await cancel([id])).to.equal(1);
      expect(await execution(id)).to.include({
        status: 'CANCELLED',
        exitReason: 'workflow deleted',
        wakeAt: null,
        awaitedEvent: null,
      });
      expect((await execution(id)).completedAt).to.be.instanceOf(Date);
      expect((await stepsOf(id)).map(({ status, request }) => ({ status, request }))).to.deep.equal([
        { status: 'COMPLETED', request: null },
        { status: 'CANCELLED', request: null },
      ]);
      expect(await outbox()).to.deep.equal([
        { queue: 'control', workflowId: workflowIds.execution(database.projectId, id, 2), action: 'cancel' },
      ]);
    });

    it('leaves finished executions as they are and counts only those it has cancelled', async () => {
      const active = [await database.addExecution(), await database.addExecution({ status: 'WAITING' })];
      const finished = await Promise.all(
        ['COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'].map((status) => database.addExecution({ status })),
      );
      expect(await cancel([...active, ...finished, newId()])).to.equal(2);
      expect(await cancel([...active, ...finished])).to.equal(0);
      expect(await outbox()).to.have.length(2);
      expect((await execution(finished[0] ?? '')).status).to.equal('COMPLETED');
    });
  });

  describe('execution_states', () => {
    const state = async (id: string) => (await database.rows('select * from execution_states where id = ?', [id]))[0];

    it('shows an execution with its contact and the name of its workflow', async () => {
      const contactId = await database.addContact({ email: 'ada@example.com', data: { plan: 'pro' } });
      const workflowId = await database.addWorkflow({ name: 'Onboarding' });
      const id = await database.addExecution({ contactId, workflowId, context: { order: 7 } });
      expect(await state(id)).to.deep.include({
        workflow_name: 'Onboarding',
        email: 'ada@example.com',
        subscribed: true,
        data: { plan: 'pro' },
        context: { order: 7 },
        visit: 1,
      });
    });

    it('keeps an execution whose contact and workflow are deleted', async () => {
      const id = await database.addExecution();
      expect(await state(id)).to.deep.include({ id, workflow_name: null, email: null, row_versions: null });
    });

    it('changes row_versions with every write of either row', async () => {
      const contactId = await database.addContact();
      const id = await database.addExecution({ contactId });
      const versions = async () => (await state(id))?.row_versions;
      const seen = [await versions()];
      expect(await versions()).to.equal(seen[0]);
      await database.db('contacts').where({ id: contactId }).update({ subscribed: false });
      seen.push(await versions());
      await database.db('executions').where({ id }).update({ visit: 2 });
      seen.push(await versions());
      expect(new Set(seen).size).to.equal(3);
    });
  });

  describe('lock_execution', () => {
    it('locks contact and execution, and sets the depth of what follows to one more than its own', async () => {
      const contactId = await database.addContact();
      const id = await database.addExecution({ contactId, depth: 2 });
      await database.db.transaction(async (trx) => {
        expect(await runSql(trx, 'select id, contact_id from lock_execution(?)', [id])).to.deep.equal([
          { id, contact_id: contactId },
        ]);
        expect(await runSql(trx, 'select cascade_depth() as depth')).to.deep.equal([{ depth: 3 }]);
        for (const [table, row] of [
          ['contacts', contactId],
          ['executions', id],
        ])
          expect(
            await database.rows(`select 1 from ${table} where id = ? for update skip locked`, [row]),
          ).to.deep.equal([]);
      });
      expect(await database.value('select cascade_depth()')).to.equal(0);
    });

    it('returns no row for an unknown execution', async () => {
      expect(await database.rows('select * from lock_execution(?)', [newId()])).to.deep.equal([]);
    });
  });

  describe('write_execution_step', () => {
    interface Step {
      versions?: string | null;
      record?: object;
      state?: object;
      change?: object;
    }
    const stepId = newId();
    const json = (value?: object) => (value ? JSON.stringify(value) : null);
    const write = (id: string, { versions = null, record = {}, state = {}, change }: Step = {}) =>
      database.rows('select * from write_execution_step(?, ?, ?::jsonb, ?::jsonb, ?::jsonb)', [
        id,
        versions,
        json({ id: newId(), step_id: stepId, type: 'DELAY', name: 'Wait', status: 'COMPLETED', ...record }),
        json({ status: 'RUNNING', step_id: stepId, visit: 2, ...state }),
        json(change),
      ]);
    const start = async (columns: object = {}) => {
      const contactId = await database.addContact({ data: { plan: 'free' } });
      return { contactId, id: await database.addExecution({ contactId, ...columns }) };
    };

    it('records the step under the visit before, and returns the new state', async () => {
      const { id } = await start({ context: { order: 7 }, afterPosition: 5 });
      const [state] = await write(id, { record: { branch: 'yes', output: { answer: 42 } } });
      expect(state).to.deep.include({ id, visit: 2, status: 'RUNNING', context: { order: 7 }, after_position: '5' });
      const [step] = await stepsOf(id);
      expect(step).to.deep.include({
        visit: 1,
        status: 'COMPLETED',
        branch: 'yes',
        output: { answer: 42 },
        attempt: 1,
      });
      expect(step.completedAt).to.be.instanceOf(Date);
    });

    it('leaves a waiting step and execution open, and completes a final one', async () => {
      const { id } = await start();
      const scheduled = '2026-12-01T00:00:00+00:00';
      await write(id, {
        record: { status: 'WAITING', scheduled_for: scheduled },
        state: { status: 'WAITING', visit: 1, wake_at: scheduled, awaited_event: 'paid' },
      });
      expect(await execution(id)).to.include({ status: 'WAITING', awaitedEvent: 'paid', completedAt: null });
      expect((await stepsOf(id))[0]).to.include({ status: 'WAITING', completedAt: null });
      await write(id, { state: { status: 'EXITED', exit_reason: 'done' } });
      const ended = await execution(id);
      expect(ended).to.include({ status: 'EXITED', exitReason: 'done', wakeAt: null, awaitedEvent: null });
      expect(ended.completedAt).to.be.instanceOf(Date);
      expect((await stepsOf(id))[0].scheduledFor.toISOString()).to.equal('2026-12-01T00:00:00.000Z');
    });

    it('continues the record of a failed visit as another attempt', async () => {
      const { id } = await start();
      await write(id, {
        record: { status: 'FAILED', error: 'refused' },
        state: { status: 'FAILED', visit: 1, error: 'refused' },
      });
      await write(id);
      const steps = await stepsOf(id);
      expect(steps).to.have.length(1);
      expect(steps[0]).to.include({ status: 'COMPLETED', attempt: 2, error: null });
      expect(await execution(id)).to.include({ status: 'RUNNING', error: null });
    });

    it('writes nothing when a row has changed since row_versions was read', async () => {
      const { id, contactId } = await start();
      const versions = (await database.value('select row_versions from execution_states where id = ?', [id])) as string;
      await database
        .db('contacts')
        .where({ id: contactId })
        .update({ data: { plan: 'pro' } });
      expect(await write(id, { versions })).to.deep.equal([]);
      expect(await stepsOf(id)).to.deep.equal([]);
      const current = (await database.value('select row_versions from execution_states where id = ?', [id])) as string;
      expect(await write(id, { versions: current })).to.have.length(1);
    });

    it('changes the contact, with an event one workflow deeper', async () => {
      const { id, contactId } = await start({ depth: 1 });
      const versions = (await database.value('select row_versions from execution_states where id = ?', [id])) as string;
      const change = { subscribed: false, patch: { plan: 'pro' }, deletes: [], eventId: newId() };
      const [state] = await write(id, { versions, change });
      expect(state).to.deep.include({ subscribed: false, data: { plan: 'pro' } });
      expect(await database.db('events').where({ contactId }).select('name', 'data', 'depth')).to.deep.equal([
        { name: 'contact.unsubscribed', data: { reason: 'workflow' }, depth: 2 },
      ]);
    });

    it('writes one mail per visit, however often the visit is tried', async () => {
      const { id, contactId } = await start({ context: { order: 7 } });
      const bodyId = newId();
      const step = { id: stepId, type: 'SEND_EMAIL', name: 'Send' } as const;
      const send = async (emailId: string, visit: number) => {
        const state = await readExecution(database.db, id);
        if (!state) throw new Error('the execution does not exist');
        const content = {
          n: 1,
          body_id: bodyId,
          html: '<p>Hello</p>',
          shared: true,
          from_email: 'news@example.com',
          subject: 'Hello',
          type: 'MARKETING',
          variables: { event: state.context },
        };
        await writeExecutionStep(
          database.db,
          state,
          step,
          { status: 'COMPLETED', output: { emailId } },
          { status: 'RUNNING', stepId, visit },
          { mail: { id: emailId, to: 'ada@example.com', templateId: newId(), content } },
        );
      };
      const first = newId();
      const second = newId();
      await send(first, 1);
      await send(second, 2);
      expect(
        await database.db('emails').where({ executionId: id }).select('id', 'contactId', 'stepVisit'),
      ).to.deep.equal([{ id: first, contactId, stepVisit: 1 }]);
      const contents = await database.db('emailContents').whereIn('emailId', [first, second]);
      expect(contents.map(({ emailId, variables, bodyId }) => ({ emailId, variables, bodyId }))).to.deep.equal([
        { emailId: first, variables: { event: { order: 7 } }, bodyId },
      ]);
      expect((await stepsOf(id))[0].output).to.deep.equal({ emailId: first });
      expect(await database.db('emailBodies').where({ id: bodyId }).select('html', 'shared')).to.deep.equal([
        { html: '<p>Hello</p>', shared: true },
      ]);
    });
  });
});
