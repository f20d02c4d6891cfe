import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { advanceUntilItWaits } from '../support/executions.ts';
import { readExecutions } from '../support/reading.ts';
import { type Built, build, enable } from '../support/workflow-building.ts';

const FIELDS = [
  'id',
  'workflowId',
  'version',
  'contactId',
  'status',
  'currentStepId',
  'exitReason',
  'error',
  'context',
  'startedAt',
  'completedAt',
  'createdAt',
  'updatedAt',
];
const day = { type: 'DELAY', config: { amount: 1, unit: 'days' } };
const out = { type: 'EXIT', config: { reason: 'done' } };

describeApi('executions', (api) => {
  let project: ApiProject;
  let people = 0;

  before(async () => {
    project = await api.project();
  });

  const enabled = async (drawing: Parameters<typeof build>[1], workflow: object = {}): Promise<Built> => {
    const built = await build(project, drawing, workflow);
    await enable(project, built.id);
    return built;
  };
  const waiting = (workflow: object = {}) =>
    enabled({ steps: { pause: day, leave: out }, transitions: [['pause', 'leave']] }, workflow);
  const contact = async (): Promise<{ id: string; email: string }> =>
    (await project.server.post('/contacts', { email: `ann${++people}@example.com` })).body;
  const start = (id: string, body: object) => project.server.post(`/workflows/${id}/executions`, body);
  const started = async (id: string, body: object = {}): Promise<string> => {
    const answer = await start(id, { contactId: (await contact()).id, ...body });
    expect(answer).to.have.status(201);
    return answer.body.id;
  };
  const path = ({ id }: Built, executionId: string, verb = '') => `/workflows/${id}/executions/${executionId}${verb}`;
  const get = async (built: Built, executionId: string) => (await project.server.get(path(built, executionId))).body;

  describe('POST /workflows/:id/executions', () => {
    it('answers 201 with the execution for a contact id or an address', async () => {
      const { id } = await waiting();
      const ann = await contact();
      const bob = await contact();
      const one = await start(id, { contactId: ann.id, context: { plan: 'pro', tags: ['a'] } });
      expect(one).to.have.status(201);
      expect(one.body).to.have.all.keys(FIELDS);
      expect(one.body).to.deep.include({
        workflowId: id,
        contactId: ann.id,
        status: 'RUNNING',
        context: { plan: 'pro', tags: ['a'] },
        exitReason: null,
        error: null,
        completedAt: null,
      });
      const two = await start(id, { email: ` ${bob.email.toUpperCase()} ` });
      expect(two.body).to.deep.include({ contactId: bob.id, context: {} });
    });

    it('answers 409 to a contact that has an active or ended execution', async () => {
      const { id } = await waiting();
      const { id: contactId } = await contact();
      const first = await started(id, { contactId });
      expect(await start(id, { contactId })).to.be.envelope(409, 'CONFLICT');
      await project.server.delete(`/workflows/${id}/executions/${first}`);
      expect(await start(id, { contactId })).to.be.envelope(409, 'CONFLICT');
    });

    it('starts another execution after the first has ended when re-entry is allowed', async () => {
      const { id } = await waiting({ allowReentry: true });
      const { id: contactId } = await contact();
      const first = await started(id, { contactId });
      expect(await start(id, { contactId })).to.be.envelope(409, 'CONFLICT');
      await project.server.delete(`/workflows/${id}/executions/${first}`);
      expect(await start(id, { contactId })).to.have.status(201);
    });

    it('applies the current re-entry rule to contacts that entered before it changed', async () => {
      const { id } = await waiting({ allowReentry: true });
      const { id: contactId } = await contact();
      for (let times = 0; times < 2; times++) {
        const executionId = await started(id, { contactId });
        await project.server.delete(`/workflows/${id}/executions/${executionId}`);
      }
      await project.server.patch(`/workflows/${id}`, { allowReentry: false });
      expect(await start(id, { contactId })).to.be.envelope(409, 'CONFLICT');
      await project.server.patch(`/workflows/${id}`, { allowReentry: true });
      expect(await start(id, { contactId })).to.have.status(201);
      await project.server.patch(`/workflows/${id}`, { allowReentry: false });
      expect(await start(id, { contactId })).to.be.envelope(409, 'CONFLICT');
      expect(await started(id)).to.be.a('string');
    });

    it('starts one execution for twenty concurrent requests', async () => {
      const { id } = await waiting();
      const { id: contactId } = await contact();
      const answers = await Promise.all(Array.from({ length: 20 }, () => start(id, { contactId })));
      expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
      expect(answers.filter(({ status }) => status === 409)).to.have.length(19);
    });

    it('answers 400 while the workflow is disabled', async () => {
      const { id } = await waiting();
      await project.server.patch(`/workflows/${id}`, { enabled: false });
      expect(await start(id, { contactId: (await contact()).id })).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('answers 404 to a workflow or a contact of another project', async () => {
      const { id } = await waiting();
      const other = await api.project();
      const foreign = (await other.server.post('/contacts', { email: 'x@example.com' })).body;
      for (const who of [{ contactId: foreign.id }, { contactId: newId() }, { email: 'nobody@example.com' }])
        expect(await start(id, who)).to.be.envelope(404, 'CONTACT_NOT_FOUND');
      expect(await other.server.post(`/workflows/${id}/executions`, { contactId: foreign.id })).to.be.envelope(
        404,
        'WORKFLOW_NOT_FOUND',
      );
      expect(await readExecutions(project, id)).to.have.length(0);
    });

    it('answers 422 without a contact and to a context that is not an object', async () => {
      const { id } = await waiting();
      expect(await start(id, {})).to.have.validationError('contactId', 'required');
      expect(await start(id, { contactId: 'ann' })).to.have.validationError('contactId', 'invalid_string');
      expect(await start(id, { email: 'nonsense' })).to.have.validationError('email', 'invalid_string');
      const { id: contactId } = await contact();
      expect(await start(id, { contactId, context: 'x' })).to.have.validationError('context', 'invalid_type');
      expect(await start(id, { contactId, context: { x: 'y'.repeat(70_000) } })).to.have.validationError(
        'context',
        'too_big',
      );
    });
  });

  describe('GET /workflows/:id/executions', () => {
    it('returns a page, newest first, filtered by status and contact', async () => {
      const built = await waiting();
      const a = await started(built.id);
      const b = await started(built.id);
      const c = await started(built.id);
      await advanceUntilItWaits(api.db, b);
      await project.server.delete(path(built, c));
      const list = async (query = '') => (await project.server.get(`/workflows/${built.id}/executions${query}`)).body;
      const page = await list();
      expect(page).to.include({ total: 3, page: 1, pageSize: 20, totalPages: 1 });
      expect(page.data[0]).to.have.all.keys(FIELDS);
      const ids = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
      expect(ids(page)).to.deep.equal([c, b, a]);
      expect(ids(await list('?status=WAITING'))).to.deep.equal([b]);
      expect(ids(await list('?status=CANCELLED'))).to.deep.equal([c]);
      expect(ids(await list(`?contactId=${page.data[2].contactId}`))).to.deep.equal([a]);
      expect(ids(await list('?pageSize=2&page=2'))).to.deep.equal([a]);
    });

    it('answers 400 to an invalid query and 404 to an unknown workflow', async () => {
      const { id } = await waiting();
      for (const query of ['status=asleep', 'contactId=ann', 'page=0'])
        expect(await project.server.get(`/workflows/${id}/executions?${query}`)).to.be.envelope(400, 'BAD_REQUEST');
      const unknown = await project.server.get(`/workflows/${newId()}/executions`);
      expect(unknown).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    });
  });

  describe('GET /workflows/:id/executions/:executionId', () => {
    it('returns the execution with contact, workflow and the steps taken', async () => {
      const built = await enabled({
        steps: {
          mark: { type: 'UPDATE_CONTACT', config: { data: { seen: true } } },
          fork: { type: 'CONDITION', config: { field: 'data.seen', operator: 'equals', value: true } },
          pause: day,
          leave: out,
        },
        transitions: [
          ['mark', 'fork'],
          ['fork', 'pause', 'yes'],
          ['pause', 'leave'],
        ],
      });
      const id = await started(built.id);
      await advanceUntilItWaits(api.db, id);
      const found = await get(built, id);
      expect(found).to.have.all.keys(...FIELDS, 'contact', 'workflow', 'steps');
      expect(found).to.include({ status: 'WAITING', currentStepId: built.steps.pause });
      expect(found.contact.data).to.deep.equal({ seen: true });
      expect(found.workflow).to.include({ id: built.id, name: 'Welcome' });
      expect(found.steps[0]).to.have.all.keys(
        'id',
        'stepId',
        'type',
        'name',
        'status',
        'branch',
        'output',
        'error',
        'attempt',
        'scheduledFor',
        'startedAt',
        'completedAt',
      );
      const steps = found.steps.map((step: Record<string, unknown>) => [step.name, step.status, step.branch]);
      expect(steps).to.deep.equal([
        ['mark', 'COMPLETED', null],
        ['fork', 'COMPLETED', 'yes'],
        ['pause', 'WAITING', null],
      ]);
      const { scheduledFor, startedAt, completedAt } = found.steps[2];
      expect(Math.round((Date.parse(scheduledFor) - Date.parse(startedAt)) / 3_600_000)).to.equal(24);
      expect(completedAt).to.equal(null);
    });

    it('answers 404 under another workflow and in another project', async () => {
      const one = await waiting();
      const two = await waiting();
      const id = await started(one.id);
      const other = await api.project();
      expect(await project.server.get(path(two, id))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await project.server.get(path(one, newId()))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await project.server.get(path(one, 'nonsense'))).to.have.status(404);
      expect(await other.server.get(path(one, id))).to.have.status(404);
    });
  });

  describe('DELETE /workflows/:id/executions/:executionId', () => {
    it('answers 200 with the cancelled execution, which takes no further step', async () => {
      const built = await waiting();
      const id = await started(built.id);
      await advanceUntilItWaits(api.db, id);
      const answer = await project.server.delete(path(built, id));
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys(FIELDS);
      expect(answer.body.status).to.equal('CANCELLED');
      expect(answer.body.completedAt).to.be.a('string');
      expect(await advanceUntilItWaits(api.db, id, () => new Date(Date.now() + 90_000_000))).to.include({
        kind: 'end',
      });
      const found = await get(built, id);
      expect(found.status).to.equal('CANCELLED');
      expect(found.steps.map((step: { status: string }) => step.status)).to.deep.equal(['CANCELLED']);
    });

    it('answers 409 when it has ended and 404 when it does not exist', async () => {
      const built = await waiting();
      const id = await started(built.id);
      await project.server.delete(path(built, id));
      expect(await project.server.delete(path(built, id))).to.be.envelope(409, 'CONFLICT');
      expect(await project.server.delete(path(built, newId()))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      const other = await api.project();
      const foreign = await started(built.id);
      expect(await other.server.delete(path(built, foreign))).to.have.status(404);
      expect((await get(built, foreign)).status).to.equal('RUNNING');
    });
  });

  describe('POST /workflows/:id/executions/cancel-all', () => {
    it('returns the number of cancelled executions, after which the workflow can be deleted', async () => {
      const built = await waiting();
      const other = await waiting();
      const spared = await started(other.id);
      for (let n = 0; n < 3; n++) await started(built.id);
      expect(await project.server.delete(`/workflows/${built.id}`)).to.be.envelope(409, 'CONFLICT');
      const all = () => project.server.post(`/workflows/${built.id}/executions/cancel-all`);
      const answer = await all();
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.equal({ cancelled: 3 });
      expect((await all()).body).to.deep.equal({ cancelled: 0 });
      expect((await get(other, spared)).status).to.equal('RUNNING');
      expect(await project.server.delete(`/workflows/${built.id}`)).to.have.status(204);
    });

    it('answers 404 to an unknown workflow', async () => {
      const answer = await project.server.post(`/workflows/${newId()}/executions/cancel-all`);
      expect(answer).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    });
  });

  it('stay on the version that they started on, while new ones start on the edited version', async () => {
    const built = await waiting();
    const before = await started(built.id);
    await advanceUntilItWaits(api.db, before);
    const step = `/workflows/${built.id}/steps/${built.steps.leave}`;
    await project.server.patch(step, { config: { reason: 'another way' } });
    await project.server.delete(`/workflows/${built.id}/steps/${built.steps.pause}`);
    const after = await started(built.id);
    expect(await advanceUntilItWaits(api.db, after)).to.include({ kind: 'end' });
    await project.server.patch(`/workflows/${built.id}`, { enabled: false });
    await advanceUntilItWaits(api.db, before, () => new Date(Date.now() + 90_000_000));
    expect(await get(built, before)).to.include({ status: 'EXITED', exitReason: 'done' });
    expect(await get(built, after)).to.include({ status: 'EXITED', exitReason: 'another way' });
  });

  describe('POST /workflows/:id/executions/migrate', () => {
    it('moves executions whose step still exists, and returns the others with the reason', async () => {
      const built = await enabled({
        steps: { pause: day, later: { type: 'DELAY', config: { amount: 1, unit: 'hours' } }, leave: out },
        transitions: [
          ['pause', 'later'],
          ['later', 'leave'],
        ],
      });
      const early = await started(built.id);
      const late = await started(built.id);
      for (const id of [early, late]) await advanceUntilItWaits(api.db, id);
      await advanceUntilItWaits(api.db, late, () => new Date(Date.now() + 90_000_000));
      await project.server.delete(`/workflows/${built.id}/steps/${built.steps.later}?splice=true`);
      const answer = await project.server.post(`/workflows/${built.id}/executions/migrate`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.deep.include({ moved: [early], movedCount: 1, stayedCount: 1 });
      expect(answer.body.stayed[0]).to.have.property('id', late);
      expect(answer.body.stayed[0].reason).to.be.a('string').and.not.equal('');
      const { version } = (await project.server.get(`/workflows/${built.id}`)).body;
      expect((await get(built, early)).version).to.equal(version);
      await advanceUntilItWaits(api.db, early, () => new Date(Date.now() + 90_000_000));
      expect(await get(built, early)).to.include({ status: 'EXITED', exitReason: 'done' });
    });
  });

  describe('POST /workflows/:id/executions/:executionId/retry', () => {
    it('repeats the step of a failed execution on its own version', async () => {
      const built = await enabled({
        steps: { until: { type: 'DELAY', config: { until: 'data.trialEnd' } }, leave: out },
        transitions: [['until', 'leave']],
      });
      const { id: contactId } = await contact();
      const id = await started(built.id, { contactId });
      await advanceUntilItWaits(api.db, id);
      expect(await get(built, id)).to.include({ status: 'FAILED', error: 'the contact has no date in data.trialEnd' });
      await project.server.delete(`/workflows/${built.id}/steps/${built.steps.until}?splice=true`);
      await project.server.patch(`/contacts/${contactId}`, { data: { trialEnd: '2020-01-01T00:00:00.000Z' } });
      const answer = await project.server.post(path(built, id, '/retry'));
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ status: 'RUNNING', error: null, completedAt: null });
      await advanceUntilItWaits(api.db, id);
      const found = await get(built, id);
      expect(found).to.include({ status: 'EXITED', exitReason: 'done' });
      expect(found.steps[0]).to.include({ name: 'until', status: 'COMPLETED', attempt: 2, error: null });
      expect(await project.server.post(path(built, id, '/retry'))).to.be.envelope(409, 'CONFLICT');
    });

    it('answers 409 to an execution that has not failed and 404 to an unknown one', async () => {
      const built = await waiting();
      const id = await started(built.id);
      expect(await project.server.post(path(built, id, '/retry'))).to.be.envelope(409, 'CONFLICT');
      expect(await project.server.post(path(built, newId(), '/retry'))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('POST /workflows/:id/executions/:executionId/skip', () => {
    it('leaves a DELAY at once, and a wait by its timeout branch', async () => {
      const built = await enabled({
        steps: {
          pause: day,
          wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } },
          bought: { type: 'EXIT', config: { reason: 'bought' } },
          late: { type: 'EXIT', config: { reason: 'late' } },
        },
        transitions: [
          ['pause', 'wait'],
          ['wait', 'bought', 'event'],
          ['wait', 'late', 'timeout'],
        ],
      });
      const id = await started(built.id);
      await advanceUntilItWaits(api.db, id);
      const skipped = await project.server.post(path(built, id, '/skip'));
      expect(skipped).to.have.status(200);
      expect(skipped.body).to.include({ status: 'RUNNING', currentStepId: built.steps.wait });
      await advanceUntilItWaits(api.db, id);
      await project.server.post(path(built, id, '/skip'));
      await advanceUntilItWaits(api.db, id);
      const found = await get(built, id);
      expect(found).to.include({ status: 'EXITED', exitReason: 'late' });
      const steps = found.steps.map((step: Record<string, unknown>) => [step.name, step.status, step.branch]);
      expect(steps).to.deep.equal([
        ['pause', 'SKIPPED', null],
        ['wait', 'SKIPPED', 'timeout'],
        ['late', 'COMPLETED', null],
      ]);
    });

    it('answers 409 to an execution that is not waiting', async () => {
      const built = await waiting();
      const id = await started(built.id);
      expect(await project.server.post(path(built, id, '/skip'))).to.be.envelope(409, 'CONFLICT');
      expect(await project.server.post(path(built, newId(), '/skip'))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });
});
