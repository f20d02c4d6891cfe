import { expect } from 'chai';
import { aggregateCounters } from '../../db/models/counters.ts';
import { newId } from '../../platform/ids.ts';
import { deleteUnusedVersions } from '../../services/workflows/versions.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { countRows } from '../support/rows/tables.ts';
import { addExecutions, setExecutions, storedVersions, storedWorkflows } from '../support/rows/workflows.ts';
import { build, enable, makeTemplate } from '../support/workflow-building.ts';

const FIELDS = [
  'id',
  'name',
  'description',
  'triggerType',
  'triggerConfig',
  'enabled',
  'allowReentry',
  'version',
  'projectId',
  'createdAt',
  'updatedAt',
];
const minimal = { name: 'Welcome', eventName: 'signed up' };
const leave = { steps: { Leave: { type: 'EXIT' } } };

const sampleOf = (type: string) =>
  ({ boolean: true, number: 1, date: '2027-01-01' })[type as 'boolean' | 'number' | 'date'] ?? 'x';

describeApi('workflows', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const create = async (body: object = {}) => {
    const answer = await project.server.post('/workflows', { ...minimal, ...body });
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const get = async (id: string) => (await project.server.get(`/workflows/${id}`)).body;
  const patch = (id: string, body: object) => project.server.patch(`/workflows/${id}`, body);

  /** An active execution, inserted without Temporal. */
  const activeExecution = (workflowId: string, status = 'WAITING', version = 2) =>
    addExecutions(api.db, {
      id: newId(),
      projectId: project.id,
      workflowId,
      version,
      contactId: newId(),
      status,
      afterPosition: 0,
      oncePerContact: true,
    });

  describe('POST /workflows', () => {
    it('answers 201 with a disabled workflow that starts with the event', async () => {
      const workflow = await create({
        description: 'First days',
        allowReentry: true,
        enabled: true,
        triggerType: 'MANUAL',
      });
      expect(workflow).to.have.all.keys(FIELDS);
      expect(workflow).to.deep.include({
        name: 'Welcome',
        description: 'First days',
        triggerType: 'EVENT',
        triggerConfig: { eventName: 'signed up' },
        enabled: false,
        allowReentry: true,
        version: 1,
        projectId: project.id,
      });
    });

    it('accepts the event in triggerConfig, and disallows re-entry by default', async () => {
      const { body } = await project.server.post('/workflows', {
        name: 'Welcome',
        triggerConfig: { eventName: 'segment.vip.entry', extra: 1 },
      });
      expect(body).to.deep.include({ triggerConfig: { eventName: 'segment.vip.entry' }, allowReentry: false });
    });

    it('answers 422 to a missing name or event, or one of the wrong type', async () => {
      const post = (body: object) => project.server.post('/workflows', body);
      expect(await post({ eventName: 'x' })).to.have.validationError('name', 'required');
      expect(await post({ name: 'x' })).to.have.validationError('eventName', 'required');
      expect(await post({ name: 'x', triggerConfig: {} })).to.have.validationError('eventName', 'required');
      expect(await post({ name: 'x', eventName: 5 })).to.have.validationError('eventName', 'invalid_type');
      expect((await project.server.get('/workflows')).body.data).to.have.length(0);
    });
  });

  describe('GET /workflows', () => {
    it('returns a page, newest first, with the number of steps and of active executions', async () => {
      const first = await build(project, { steps: { a: { type: 'EXIT' }, b: { type: 'EXIT' } } }, { name: 'First' });
      await create({ name: 'Second' });
      await activeExecution(first.id);
      await activeExecution(first.id, 'RUNNING');
      await activeExecution(first.id, 'COMPLETED');
      const { body } = await project.server.get('/workflows');
      expect(body).to.include({ total: 2, page: 1, pageSize: 20, totalPages: 1 });
      expect(body.data[0]).to.have.all.keys(...FIELDS, 'stepCount', 'activeExecutions');
      expect(
        body.data.map((row: Record<string, unknown>) => [row.name, row.stepCount, row.activeExecutions]),
      ).to.deep.equal([
        ['Second', 0, 0],
        ['First', 2, 2],
      ]);
    });

    it('filters by status and by part of name or description', async () => {
      const { id } = await build(project, leave, { name: 'Onboarding 100%' });
      await enable(project, id);
      await create({ name: 'Win back', description: 'onboard again' });
      const names = async (query: string) =>
        (await project.server.get(`/workflows?${query}`)).body.data.map(({ name }: { name: string }) => name);
      expect(await names('status=active')).to.deep.equal(['Onboarding 100%']);
      expect(await names('status=disabled')).to.deep.equal(['Win back']);
      expect(await names('search=ONBOARD')).to.deep.equal(['Win back', 'Onboarding 100%']);
      expect(await names('search=100%25')).to.deep.equal(['Onboarding 100%']);
      expect(await names('pageSize=1&page=2')).to.deep.equal(['Onboarding 100%']);
    });

    it('answers 400 to an invalid query', async () => {
      for (const query of ['status=asleep', 'page=0', 'pageSize=x'])
        expect(await project.server.get(`/workflows?${query}`), query).to.be.envelope(400, 'BAD_REQUEST');
    });
  });

  describe('GET /workflows/:id', () => {
    it('returns the workflow with steps, transitions and validation errors', async () => {
      const { id, steps } = await build(project, {
        steps: { Wait: { type: 'DELAY' }, Leave: { type: 'EXIT' } },
        transitions: [['Wait', 'Leave']],
      });
      const whole = await get(id);
      expect(whole).to.have.all.keys(...FIELDS, 'steps', 'transitions', 'valid', 'faults');
      expect(whole.steps.map((step: { id: string }) => step.id)).to.deep.equal([steps.Wait, steps.Leave]);
      expect(whole.transitions[0]).to.include({
        workflowId: id,
        fromStepId: steps.Wait,
        toStepId: steps.Leave,
        branch: null,
      });
      expect(whole.valid).to.equal(false);
      expect(whole.faults).to.deep.equal([{ stepId: steps.Wait, message: '"Wait" needs a duration or a date' }]);
    });

    it('answers 404 to an id of another project, an unknown id and an invalid one', async () => {
      const other = await api.project();
      const { id } = await create();
      expect(await other.server.get(`/workflows/${id}`)).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
      for (const unknown of [newId(), 'nonsense'])
        expect(await project.server.get(`/workflows/${unknown}`)).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    });
  });

  describe('PATCH /workflows/:id', () => {
    it('changes only the given fields and creates no new version', async () => {
      const { id } = await create({ description: 'Old' });
      const change = { name: 'New', description: null, allowReentry: true };
      expect((await patch(id, change)).body).to.deep.include({
        ...change,
        triggerConfig: { eventName: 'signed up' },
        version: 1,
      });
      expect((await patch(id, { eventName: 'bought' })).body.triggerConfig).to.deep.equal({ eventName: 'bought' });
      expect((await patch(id, {})).body).to.deep.include(change);
    });

    it('accepts a schedule with a cron expression, a time zone and a segment', async () => {
      const { id } = await create();
      const segment = (await project.server.post('/segments', { name: 'VIP', type: 'STATIC' })).body;
      const triggerConfig = { cron: '0 9 * * mon-fri', timezone: 'Europe/Berlin', segmentId: segment.id };
      const { body } = await patch(id, { triggerType: 'SCHEDULE', triggerConfig });
      expect(body).to.deep.include({ triggerType: 'SCHEDULE', triggerConfig });
      const plain = await patch(id, { triggerConfig: { cron: '*/5 * * * *' } });
      expect(plain.body.triggerConfig).to.deep.equal({ cron: '*/5 * * * *', timezone: 'UTC' });
    });

    it('answers 422 to a schedule that never runs and 404 to an unknown segment', async () => {
      const { id } = await create();
      const schedule = (triggerConfig: object) => patch(id, { triggerType: 'SCHEDULE', triggerConfig });
      for (const cron of [
        'nonsense',
        '* * * *',
        '61 * * * *',
        '0 0 31 2 *',
        '* * * * * *',
        '@daily',
        '0 0 L * *',
        '0 0 1W * *',
      ])
        expect(await schedule({ cron }), cron).to.have.validationError('triggerConfig.cron', 'invalid_string');
      for (const timezone of ['Mars/Base', '+02:00'])
        expect(await schedule({ cron: '0 9 * * *', timezone })).to.have.validationError(
          'triggerConfig.timezone',
          'invalid_string',
        );
      expect(await schedule({ cron: '0 9 * * *', segmentId: 'x' })).to.have.validationError(
        'triggerConfig.segmentId',
        'invalid_string',
      );
      expect(await schedule({ cron: '0 9 * * *', segmentId: newId() })).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
      expect(await patch(id, { triggerType: 'NEVER' })).to.have.validationError('triggerType', 'invalid_enum');
      expect((await get(id)).triggerType).to.equal('EVENT');
    });

    it('validates a schedule that was stored before the trigger type was set', async () => {
      const { id } = await create();
      const set = async (triggerConfig: object) => {
        expect(await patch(id, { triggerConfig })).to.have.status(200);
        return patch(id, { triggerType: 'SCHEDULE' });
      };
      expect(await set({ cron: 'nonsense' })).to.have.validationError('triggerConfig.cron', 'invalid_string');
      expect(await set({ cron: '0 9 * * *', segmentId: newId() })).to.be.envelope(404, 'SEGMENT_NOT_FOUND');
      expect((await set({ cron: '0 9 * * *' })).body).to.deep.include({
        triggerType: 'SCHEDULE',
        triggerConfig: { cron: '0 9 * * *', timezone: 'UTC' },
      });
    });

    it('answers 404 to an id of another project and changes nothing', async () => {
      const other = await api.project();
      const { id } = await create();
      expect(await other.server.patch(`/workflows/${id}`, { name: 'Mine' })).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
      expect((await get(id)).name).to.equal('Welcome');
    });
  });

  describe('enabling', () => {
    it('enables and disables a valid workflow', async () => {
      const templateId = await makeTemplate(project);
      const { id } = await build(project, {
        steps: { Mail: { type: 'SEND_EMAIL', config: { templateId } }, Leave: { type: 'EXIT' } },
        transitions: [['Mail', 'Leave']],
      });
      expect((await get(id)).valid).to.equal(true);
      expect((await patch(id, { enabled: true })).body.enabled).to.equal(true);
      expect((await patch(id, { enabled: false })).body.enabled).to.equal(false);
    });

    it('answers 400 with all validation errors', async () => {
      const sender = await makeTemplate(project, { from: null });
      const { id, steps } = await build(project, {
        steps: {
          Mail: { type: 'SEND_EMAIL' },
          Anonymous: { type: 'SEND_EMAIL', templateId: sender },
          Wait: { type: 'WAIT_FOR_EVENT' },
          Fork: { type: 'CONDITION' },
          Call: { type: 'WEBHOOK' },
          Change: { type: 'UPDATE_CONTACT' },
        },
        transitions: [['Mail', 'Wait']],
      });
      await patch(id, { triggerType: 'SCHEDULE', triggerConfig: {} });
      const answer = await patch(id, { enabled: true });
      expect(answer).to.be.envelope(400, 'BAD_REQUEST');
      const faults = answer.body.error.errors.map(
        ({ field, message }: Record<string, string>) => `${field}: ${message}`,
      );
      expect(faults).to.deep.equal([
        'workflow: the trigger needs a schedule',
        'workflow: there must be exactly one first step, but "Mail", "Anonymous", "Fork", "Call", "Change" have no incoming transition',
        `steps.${steps.Mail}: "Mail" has no template`,
        `steps.${steps.Anonymous}: "Anonymous" has no sender: set one on the step or its template`,
        `steps.${steps.Wait}: "Wait" has no event to wait for`,
        `steps.${steps.Fork}: "Fork" has no condition`,
        `steps.${steps.Call}: "Call" has no URL`,
        `steps.${steps.Change}: "Change" changes nothing`,
      ]);
      for (const fault of answer.body.error.errors) expect(answer.body.error.message).to.include(fault.message);
      expect(await get(id)).to.include({ enabled: false, valid: false });
    });

    it('answers 400 to a workflow without steps or without a first step', async () => {
      const { id } = await create();
      expect(await patch(id, { enabled: true })).to.be.envelope(400, 'BAD_REQUEST');
      const round = await build(project, {
        steps: {
          a: { type: 'DELAY', config: { amount: 1, unit: 'days' } },
          b: { type: 'UPDATE_CONTACT', config: { data: { x: 1 } } },
        },
        transitions: [
          ['a', 'b'],
          ['b', 'a'],
        ],
      });
      expect(await patch(round.id, { enabled: true })).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('rejects an invalid trigger for an enabled workflow and leaves it unchanged', async () => {
      const { id } = await build(project, leave);
      await enable(project, id);
      expect(await patch(id, { triggerType: 'SCHEDULE' })).to.be.envelope(400, 'BAD_REQUEST');
      expect(await get(id)).to.include({ enabled: true, triggerType: 'EVENT' });
      expect(await patch(id, { triggerType: 'MANUAL' })).to.have.status(200);
    });

    it('accepts edits of an enabled workflow, which starts executions on its newest valid version', async () => {
      const { id, steps } = await build(project, leave);
      await enable(project, id);
      const versions = async () => {
        const row = await storedWorkflows(api.db, { id }).first('version', 'validVersion');
        return [row.version, row.validVersion];
      };
      expect(await versions()).to.deep.equal([2, 2]);
      const added = await project.server.post(`/workflows/${id}/steps`, { type: 'DELAY' });
      expect(await versions()).to.deep.equal([3, 2]);
      expect(await get(id)).to.include({ enabled: true, valid: false, version: 3 });
      await project.server.patch(`/workflows/${id}/steps/${added.body.id}`, { config: { amount: 2, unit: 'days' } });
      await project.server.post(`/workflows/${id}/transitions`, { fromStepId: added.body.id, toStepId: steps.Leave });
      expect(await versions()).to.deep.equal([5, 5]);
      expect(await get(id)).to.include({ enabled: true, valid: true });
    });
  });

  describe('versions', () => {
    const stored = async (id: string) => (await storedVersions(api.db, id)).map(({ version }) => version);

    it('are removed when neither an active nor a failed execution is on them', async () => {
      const { id } = await build(project, leave);
      await activeExecution(id, 'WAITING', 2);
      await project.server.post(`/workflows/${id}/steps`, { type: 'EXIT' });
      await activeExecution(id, 'FAILED', 3);
      await project.server.post(`/workflows/${id}/steps`, { type: 'EXIT' });
      await project.server.post(`/workflows/${id}/steps`, { type: 'EXIT' });
      expect(await stored(id)).to.deep.equal([2, 3, 5]);
      await setExecutions(api.db, { workflowId: id, version: 3 }, { status: 'CANCELLED' });
      await project.server.post(`/workflows/${id}/steps`, { type: 'EXIT' });
      expect(await stored(id)).to.deep.equal([2, 6]);
    });

    it('are removed by the next sweep after their last execution has ended', async () => {
      const { id } = await build(project, leave);
      await activeExecution(id, 'RUNNING', 2);
      for (let n = 0; n < 2; n++)
        await project.server.patch(`/workflows/${id}/steps/${(await get(id)).steps[0].id}`, { name: `Leave ${n}` });
      await deleteUnusedVersions(api.db);
      expect(await stored(id)).to.deep.equal([2, 4]);
      await setExecutions(api.db, { workflowId: id }, { status: 'COMPLETED' });
      await deleteUnusedVersions(api.db);
      expect(await stored(id)).to.deep.equal([4]);
    });

    it('are not created by a change of the position of a step', async () => {
      const { id, steps } = await build(project, leave);
      const before = (await get(id)).version;
      const moved = await project.server.patch(`/workflows/${id}/steps/${steps.Leave}`, {
        position: { x: 10, y: -4.5 },
      });
      expect(moved.body.position).to.deep.equal({ x: 10, y: -4.5 });
      expect((await get(id)).version).to.equal(before);
    });
  });

  describe('DELETE /workflows/:id', () => {
    it('answers 204 and removes the workflow', async () => {
      const { id } = await build(project, leave);
      await activeExecution(id, 'COMPLETED');
      await aggregateCounters(api.db);
      await activeExecution(id, 'COMPLETED');
      const answer = await project.server.delete(`/workflows/${id}`);
      expect(answer).to.have.status(204);
      expect(answer.body).to.equal('');
      for (const subject of [`workflow/${id}`, `workflow/${id}/days`])
        for (const table of ['counters', 'counter_deltas'])
          expect(await countRows(api.db, table, { subject }), table).to.equal(0);
      expect(await project.server.get(`/workflows/${id}`)).to.have.status(404);
      expect(await project.server.delete(`/workflows/${id}`)).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    });

    it('answers 409 while an execution is active', async () => {
      for (const status of ['RUNNING', 'WAITING']) {
        const { id } = await build(project, leave);
        await activeExecution(id, status);
        expect(await project.server.delete(`/workflows/${id}`)).to.be.envelope(409, 'CONFLICT');
        expect(await project.server.get(`/workflows/${id}`)).to.have.status(200);
      }
    });
  });

  describe('POST /workflows/:id/duplicate', () => {
    it('answers 201 with a disabled copy of everything under new ids', async () => {
      const original = await build(
        project,
        {
          steps: {
            Fork: { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
            A: { type: 'EXIT', config: { reason: 'pro' } },
            B: { type: 'EXIT' },
          },
          transitions: [
            ['Fork', 'A', 'yes'],
            ['Fork', 'B', 'no'],
          ],
        },
        { description: 'Both ways', allowReentry: true },
      );
      await enable(project, original.id);
      const answer = await project.server.post(`/workflows/${original.id}/duplicate`);
      expect(answer).to.have.status(201);
      expect(answer.body).to.deep.include({
        name: 'Welcome (Copy)',
        description: 'Both ways',
        enabled: false,
        allowReentry: true,
        version: 1,
        triggerConfig: { eventName: 'signed up' },
      });
      const one = await get(original.id);
      const two = await get(answer.body.id);
      const drawn = (whole: typeof one) => {
        const nameOf = (id: string) => whole.steps.find((step: { id: string }) => step.id === id).name;
        return {
          steps: whole.steps.map(({ name, type, config }: Record<string, unknown>) => ({ name, type, config })),
          transitions: whole.transitions.map((way: Record<string, string>) =>
            [nameOf(way.fromStepId ?? ''), nameOf(way.toStepId ?? ''), way.branch].join(' '),
          ),
        };
      };
      expect(drawn(two)).to.deep.equal(drawn(one));
      expect(two.valid).to.equal(true);
      const ids = (whole: typeof one) => whole.steps.map((step: { id: string }) => step.id);
      expect(ids(two)).to.not.have.any.members(ids(one));
      await enable(project, two.id);
    });

    it('answers 404 to an unknown workflow', async () => {
      expect(await project.server.post(`/workflows/${newId()}/duplicate`)).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    });
  });

  describe('GET /workflows/fields', () => {
    it('lists only fields that a condition accepts', async () => {
      const { id } = await create();
      const { fields } = (await project.server.get('/workflows/fields')).body;
      for (const { field, type } of fields) {
        const filter = type === 'event' ? { operator: 'triggered' } : { operator: 'notEquals', value: sampleOf(type) };
        const answer = await project.server.post(`/workflows/${id}/steps`, {
          type: 'CONDITION',
          config: { field, ...filter },
        });
        expect(answer, field).to.have.status(201);
      }
    });

    it('lists fields of contacts, of their data, events and the data of events', async () => {
      await project.browser.post('/v1/track', {
        email: 'ann@example.com',
        event: 'bought',
        data: { plan: 'pro', total: { value: 12, persistent: false } },
      });
      const { body } = await project.server.get('/workflows/fields');
      expect(body.count).to.equal(body.fields.length);
      expect(body.fields).to.deep.include.members([
        { field: 'email', type: 'string', category: 'CONTACT' },
        { field: 'subscribed', type: 'boolean', category: 'CONTACT' },
        { field: 'data.plan', type: 'string', category: 'DATA' },
        { field: 'event.bought', type: 'event', category: 'EVENT' },
        { field: 'event.email.open', type: 'event', category: 'EVENT' },
        { field: 'event.total', type: 'number', category: 'EVENT' },
      ]);
    });
  });
});
