import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { findWorkflow } from '../../services/workflows/find.ts';
import { workflowDetails } from '../../services/workflows/workflow-details.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { storedVersions } from '../support/rows/workflows.ts';
import { type Built, build, makeTemplate } from '../support/workflow-building.ts';

const FIELDS = ['id', 'workflowId', 'type', 'name', 'position', 'config', 'templateId', 'createdAt', 'updatedAt'];
const update = { type: 'UPDATE_CONTACT', config: { data: { a: 1 } } };
const day = { type: 'DELAY', config: { amount: 1, unit: 'days' } };
const fork = { type: 'CONDITION', config: { field: 'subscribed', operator: 'equals', value: true } };
const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } };

describe('steps of a workflow', () => {
  let api: TestApi;
  let project: ApiProject;
  let empty: Built;

  before(async () => {
    api = await startTestApi({
      env: { RATE_LIMIT_PER_MINUTE: '100000', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1:4444,Inside.example:80' },
    });
    project = await api.project();
  });
  after(() => api.stop());
  beforeEach(async () => {
    empty = await build(project, { steps: {} });
  });

  const add = (body: object, { id } = empty) => project.server.post(`/workflows/${id}/steps`, body);
  const change = (stepId: string, body: object, { id } = empty) =>
    project.server.patch(`/workflows/${id}/steps/${stepId}`, body);
  const remove = (stepId: string | undefined, { id } = empty, query = '') =>
    project.server.delete(`/workflows/${id}/steps/${stepId}${query}`);
  const connect = (body: object, { id } = empty) => project.server.post(`/workflows/${id}/transitions`, body);
  const whole = async ({ id }: Built) => (await project.server.get(`/workflows/${id}`)).body;
  /** Each transition as `a -> b yes`, by the names of the steps. */
  const transitions = async (built: Built): Promise<string[]> => {
    const { steps, transitions } = await whole(built);
    const nameOf = (id: string) => steps.find((step: { id: string }) => step.id === id).name;
    return transitions.map((way: Record<string, string>) =>
      [nameOf(way.fromStepId ?? ''), '->', nameOf(way.toStepId ?? ''), way.branch].filter(Boolean).join(' '),
    );
  };

  it('are read from the newest version when an edit has removed the one that was the newest', async () => {
    const read = await findWorkflow(api.db, project.id, empty.id);
    const { body: step } = await add(day);
    expect(await storedVersions(api.db, empty.id), 'the first one is gone').to.have.lengthOf(1);
    const { steps } = await workflowDetails(api.db, read);
    expect(steps.map(({ id }) => id)).to.deep.equal([step.id]);
  });

  describe('POST /workflows/:id/steps', () => {
    it('answers 201 with the step, with a default name and position', async () => {
      const answer = await add({ type: 'DELAY', config: { amount: 3, unit: 'days' } });
      expect(answer).to.have.status(201);
      expect(answer.body).to.have.all.keys(FIELDS);
      expect(answer.body).to.deep.include({
        workflowId: empty.id,
        type: 'DELAY',
        name: 'Delay',
        position: { x: 0, y: 0 },
        templateId: null,
        config: { amount: 3, unit: 'days' },
      });
      expect((await whole(empty)).steps).to.deep.equal([answer.body]);
    });

    it('accepts all seven types, with a complete or incomplete config', async () => {
      for (const type of ['SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT'])
        expect(await add({ type }), type).to.have.status(201);
      expect(await add({ type: 'SHOUT' })).to.have.validationError('type', 'invalid_enum');
      expect(await add({})).to.have.validationError('type', 'required');
    });

    it('accepts the template in the config or as a field, and returns it in one place', async () => {
      const templateId = await makeTemplate(project);
      const inside = await add({ type: 'SEND_EMAIL', config: { templateId } });
      const beside = await add({ type: 'SEND_EMAIL', templateId });
      for (const { body } of [inside, beside]) expect(body.templateId).to.equal(templateId);
      const other = await makeTemplate(project);
      for (const { body } of [inside, beside])
        expect((await change(body.id, { templateId: other })).body.templateId).to.equal(other);
    });

    it('answers 404 to a template of another project and 422 to an invalid id', async () => {
      const foreign = await makeTemplate(await api.project());
      for (const body of [{ config: { templateId: foreign } }, { templateId: newId() }])
        expect(await add({ type: 'SEND_EMAIL', ...body })).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
      expect(await add({ type: 'SEND_EMAIL', templateId: 'x' })).to.have.validationError(
        'templateId',
        'invalid_string',
      );
      expect(await add({ type: 'SEND_EMAIL', config: { templateId: 'x' } })).to.have.validationError(
        'config.templateId',
        'invalid_string',
      );
      expect((await whole(empty)).steps).to.have.length(0);
    });

    it('answers 403 to a sender from an unverified domain', async () => {
      const answer = await add({ type: 'SEND_EMAIL', config: { from: 'me@elsewhere.example' } });
      expect(answer).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
    });

    it('accepts a sender as `Name <address>`', async () => {
      const sender = (from: string, more = {}) => add({ type: 'SEND_EMAIL', config: { from, ...more } });
      const address = `ann@${project.senderDomain}`;
      for (const from of [`Ann <${address}>`, `"Ann" <${address.toUpperCase()}>`])
        expect((await sender(from)).body.config).to.deep.equal({ from: address, fromName: 'Ann' });
      const both = await sender(`Ann <${address}>`, { fromName: 'Bea' });
      expect(both.body.config).to.deep.equal({ from: address, fromName: 'Bea' });
      expect((await sender(address)).body.config).to.deep.equal({ from: address });
      expect(await sender('Ann <ann@elsewhere.example>')).to.be.envelope(403, 'INTERNAL_SERVER_ERROR');
      for (const from of ['Ann', 'Ann <ann>', '', `A\nnn <${address}>`])
        expect(await sender(from), from).to.have.validationError('config.from', 'invalid_string');
    });

    it('answers 422 to a config of the wrong shape, with every invalid field', async () => {
      const wrong: [type: string, config: unknown, field: string, code: string][] = [
        ['DELAY', { amount: 'soon', unit: 'days' }, 'config.amount', 'invalid_type'],
        ['DELAY', { amount: 1, unit: 'years' }, 'config.unit', 'invalid_enum'],
        ['DELAY', { amount: -1, unit: 'days' }, 'config.amount', 'too_small'],
        ['DELAY', { until: 'tomorrow' }, 'config.until', 'invalid_string'],
        ['WAIT_FOR_EVENT', { eventName: 5 }, 'config.eventName', 'invalid_type'],
        ['WAIT_FOR_EVENT', { eventName: 'x', timeout: { amount: 1 } }, 'config.timeout.unit', 'required'],
        ['UPDATE_CONTACT', { data: 'x' }, 'config.data', 'invalid_type'],
        ['UPDATE_CONTACT', { subscribed: 'yes' }, 'config.subscribed', 'invalid_type'],
        ['WEBHOOK', { url: 'not a url' }, 'config.url', 'invalid_string'],
        ['WEBHOOK', { url: 'ftp://example.com' }, 'config.url', 'invalid_string'],
        ['WEBHOOK', { url: 'https://example.com', method: 'SHOUT' }, 'config.method', 'invalid_enum'],
        ['WEBHOOK', { url: 'https://example.com', headers: { 'a\r\nb': 'x' } }, 'config.headers.a\r\nb', 'custom'],
        ['SEND_EMAIL', { fromName: 'Ann\r\nBcc: bob@example.com' }, 'config.fromName', 'invalid_string'],
        ['EXIT', { reason: 5 }, 'config.reason', 'invalid_type'],
        ['DELAY', 'soon', 'config', 'invalid_type'],
      ];
      for (const [type, config, field, code] of wrong)
        expect(await add({ type, config })).to.have.validationError(field, code);
      expect((await whole(empty)).steps).to.have.length(0);
    });

    describe('a condition', () => {
      it('may be a tree or one filter, and reads the context as event.<key>', async () => {
        const filter = { field: 'data.plan', operator: 'equals', value: 'pro' };
        for (const config of [
          filter,
          { logic: 'OR', groups: [{ filters: [filter] }] },
          { field: 'event.total', operator: 'greaterThan', value: 10 },
          { field: 'event.bought', operator: 'triggeredWithin', value: 3, unit: 'days' },
        ])
          expect(await add({ type: 'CONDITION', config })).to.have.status(201);
      });

      it('is rejected with 400 when it is invalid, with the path of each error', async () => {
        const flat = await add({ type: 'CONDITION', config: { field: 'email', operator: 'greaterThan', value: 1 } });
        expect(flat).to.be.envelope(400, 'BAD_REQUEST');
        expect(flat.body.error.errors[0].field).to.equal('config.operator');
        const tree = { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: 'x' }] }] };
        const deep = await add({ type: 'CONDITION', config: tree });
        expect(deep).to.be.envelope(400, 'BAD_REQUEST');
        expect(deep.body.error.errors[0].field).to.equal('config.groups.0.filters.0.value');
      });

      it('is rejected with 400 when its segment does not exist', async () => {
        const config = { field: `segment.${newId()}`, operator: 'memberOfSegment' };
        expect(await add({ type: 'CONDITION', config })).to.be.envelope(400, 'BAD_REQUEST');
      });
    });

    describe('the URL of a webhook', () => {
      const call = (url: string) => add({ type: 'WEBHOOK', config: { url } });

      it('may be public, allow-listed, or known only when it is called', async () => {
        for (const url of [
          'https://example.com/hook?a=b',
          'http://8.8.8.8/',
          'http://localhost/',
          'https://{{ host }}/x',
          '{{ data.url }}',
          'https://example.com/{{ id }}',
          'http://127.0.0.1:4444/hook',
        ])
          expect(await call(url), url).to.have.status(201);
      });

      it('is rejected with 400 when it is private, in any notation', async () => {
        for (const url of [
          'http://127.0.0.1/',
          'http://127.0.0.1:4445/',
          'http://2130706433/',
          'http://0x7f.1/{{ id }}',
          'http://[::1]/',
          'http://[::ffff:10.0.0.1]/',
          'http://169.254.169.254/latest/meta-data',
          'http://user@192.168.0.1/',
          ' http://10.1.2.3/ ',
        ])
          expect(await call(url), url).to.be.envelope(400, 'BAD_REQUEST');
      });
    });

    describe('headers of a webhook', () => {
      const config = { url: 'https://example.com/hook', headers: { 'X-Token': 'top secret' } };
      const everything = async () => JSON.stringify(await storedVersions(api.db, empty.id));

      it('are returned as saved, and stored sealed in the step and in every version', async () => {
        const added = await add({ type: 'WEBHOOK', config });
        expect(added.body.config).to.deep.equal(config);
        const stepId = added.body.id;
        const moved = await change(stepId, { name: 'call' });
        expect(moved.body.config).to.deep.equal(config);
        const longer = { ...config, headers: { ...config.headers, 'X-More': 'another secret' } };
        expect((await change(stepId, { config: longer })).body.config).to.deep.equal(longer);
        expect((await whole(empty)).steps[0].config).to.deep.equal(longer);
        const copy = (await project.server.post(`/workflows/${empty.id}/duplicate`)).body;
        expect((await whole(copy)).steps[0].config).to.deep.equal(longer);
        expect(await everything())
          .to.include('sealedHeaders')
          .and.not.include('secret');
      });

      it('create no new version when a client sends back the headers that it read', async () => {
        const { body: step } = await add({ type: 'WEBHOOK', config });
        const { version } = await whole(empty);
        expect(await change(step.id, { config: step.config })).to.have.status(200);
        expect((await whole(empty)).version).to.equal(version);
      });

      it('are rejected when already sealed, and may be empty', async () => {
        const { body } = await add({ type: 'WEBHOOK', config: { url: config.url, sealedHeaders: 'v1.a.b' } });
        expect(body.config).to.deep.equal({ url: config.url });
        for (const headers of [{}, null]) {
          const answer = await add({ type: 'WEBHOOK', config: { url: config.url, headers } });
          expect(answer.body.config).to.deep.equal({ url: config.url, headers });
        }
      });
    });

    describe('autoConnect', () => {
      it('connects the last step without a transition to the new one', async () => {
        for (const name of ['a', 'b', 'c']) await add({ ...update, name, autoConnect: true });
        expect(await transitions(empty)).to.deep.equal(['a -> b', 'b -> c']);
        await add({ type: 'EXIT', name: 'out', autoConnect: true });
        await add({ ...update, name: 'alone', autoConnect: true });
        expect(await transitions(empty)).to.deep.equal(['a -> b', 'b -> c', 'c -> out']);
      });

      it('connects the branches of a condition one after the other, and those of a wait by one transition', async () => {
        await add({ ...fork, name: 'fork', autoConnect: true });
        await add({ type: 'EXIT', name: 'x', autoConnect: true });
        await add({ ...wait, name: 'wait', autoConnect: true });
        await add({ type: 'EXIT', name: 'y', autoConnect: true });
        expect(await transitions(empty)).to.deep.equal(['fork -> x yes', 'fork -> wait no', 'wait -> y']);
      });

      it('is off by default', async () => {
        for (const name of ['a', 'b']) await add({ ...update, name });
        expect(await transitions(empty)).to.deep.equal([]);
      });
    });

    it('answers 404 in a workflow of another project', async () => {
      const other = await api.project();
      expect(await other.server.post(`/workflows/${empty.id}/steps`, update)).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
      expect(await add(update, { id: 'nonsense', steps: {} })).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
      expect((await whole(empty)).steps).to.have.length(0);
    });
  });

  describe('PATCH /workflows/:id/steps/:stepId', () => {
    it('changes the given fields and replaces the config as a whole', async () => {
      const built = await build(project, { steps: { a: day } });
      const id = built.steps.a ?? '';
      expect((await change(id, { name: 'Pause' }, built)).body).to.deep.include({ name: 'Pause', config: day.config });
      const until = { until: 'data.trialEnd' };
      expect((await change(id, { config: until }, built)).body).to.deep.include({ name: 'Pause', config: until });
    });

    it('validates a new config by the rules of the step type', async () => {
      const built = await build(project, { steps: { a: day, b: { type: 'WEBHOOK' }, c: fork } });
      const { a = '', b = '', c = '' } = built.steps;
      expect(await change(a, { config: { amount: 0 } }, built)).to.have.validationError('config.amount', 'too_small');
      expect(await change(b, { config: { url: 'http://10.0.0.1/' } }, built)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await change(c, { config: { field: 'email', operator: 'x' } }, built)).to.be.envelope(400, 'BAD_REQUEST');
      expect(await change(c, { templateId: newId() }, built)).to.be.envelope(404, 'TEMPLATE_NOT_FOUND');
      expect((await whole(built)).steps[0].config).to.deep.equal(day.config);
    });

    it('answers 404 to a step of another workflow, an unknown id and an invalid one', async () => {
      const other = await build(project, { steps: { a: day } });
      for (const id of [other.steps.a ?? '', newId(), 'nonsense'])
        expect(await change(id, { name: 'x' })).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('POST /workflows/:id/transitions', () => {
    const drawn = () => build(project, { steps: { a: update, b: update, fork, wait, day, out: { type: 'EXIT' } } });

    it('answers 201 with the transition, also when the branch is given in `condition`', async () => {
      const built = await drawn();
      const { a, b, fork: from, out } = built.steps;
      const plain = await connect({ fromStepId: a, toStepId: b }, built);
      expect(plain).to.have.status(201);
      expect(plain.body).to.have.all.keys('id', 'workflowId', 'fromStepId', 'toStepId', 'branch');
      expect(plain.body).to.include({ workflowId: built.id, fromStepId: a, toStepId: b, branch: null });
      const yes = await connect({ fromStepId: from, toStepId: a, branch: 'yes' }, built);
      const no = await connect({ fromStepId: from, toStepId: out, condition: { branch: 'no' } }, built);
      expect([yes.body.branch, no.body.branch]).to.deep.equal(['yes', 'no']);
    });

    it('accepts transitions of a wait for the event, for the timeout and without a branch', async () => {
      const built = await drawn();
      const { wait: from, a, b, out } = built.steps;
      const legs: [to: string | undefined, branch: string | null][] = [
        [a, 'event'],
        [b, 'timeout'],
        [out, null],
      ];
      for (const [toStepId, branch] of legs)
        expect(await connect({ fromStepId: from, toStepId, branch }, built)).to.have.status(201);
    });

    describe('400', () => {
      const refused = async (built: Built, from: string, to: string, branch?: string) => {
        const body = { fromStepId: built.steps[from], toStepId: built.steps[to], branch };
        const answer = await connect(body, built);
        expect(answer, `${from} -> ${to}`).to.be.envelope(400, 'BAD_REQUEST');
      };
      const joined = async (built: Built, from: string, to: string, branch?: string) =>
        expect(
          await connect({ fromStepId: built.steps[from], toStepId: built.steps[to], branch }, built),
        ).to.have.status(201);

      it('for a step that connects to itself', async () => {
        const built = await drawn();
        await refused(built, 'a', 'a');
        await refused(built, 'day', 'day');
      });

      it('for a second transition from the same exit', async () => {
        const built = await drawn();
        await joined(built, 'a', 'b');
        await refused(built, 'a', 'out');
        await joined(built, 'fork', 'a', 'yes');
        await refused(built, 'fork', 'out', 'yes');
        await joined(built, 'fork', 'out', 'no');
      });

      it('from an EXIT', async () => {
        await refused(await drawn(), 'out', 'a');
      });

      it('for a branch that the step type does not have', async () => {
        const built = await drawn();
        await refused(built, 'fork', 'a');
        await refused(built, 'fork', 'a', 'event');
        await refused(built, 'wait', 'a', 'yes');
        await refused(built, 'a', 'b', 'yes');
      });

      it('for a loop without a DELAY or WAIT_FOR_EVENT, and not for a loop with one', async () => {
        const built = await drawn();
        await joined(built, 'a', 'fork');
        await joined(built, 'fork', 'b', 'yes');
        await refused(built, 'b', 'a');
        await joined(built, 'b', 'day');
        await joined(built, 'day', 'a');
        await joined(built, 'fork', 'wait', 'no');
        await joined(built, 'wait', 'a');
      });

      it('for a step of another workflow', async () => {
        const one = await drawn();
        const two = await drawn();
        for (const ends of [
          { fromStepId: one.steps.a, toStepId: two.steps.b },
          { fromStepId: two.steps.a, toStepId: one.steps.b },
        ])
          expect(await connect(ends, one)).to.be.envelope(400, 'BAD_REQUEST');
      });
    });

    it('answers 404 to a step of another project and 422 to an invalid id', async () => {
      const built = await drawn();
      const stranger = await api.project();
      const foreign = await build(stranger, { steps: { a: update } });
      for (const toStepId of [foreign.steps.a, newId()])
        expect(await connect({ fromStepId: built.steps.a, toStepId }, built)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await connect({ fromStepId: 'x', toStepId: built.steps.a }, built)).to.have.validationError(
        'fromStepId',
        'invalid_string',
      );
      expect(
        await connect({ fromStepId: built.steps.a, toStepId: built.steps.b, branch: 'maybe' }, built),
      ).to.have.validationError('branch', 'invalid_enum');
    });

    it('creates one of two concurrent transitions from the same exit', async () => {
      const built = await drawn();
      const { a, b, out } = built.steps;
      const answers = await Promise.all(
        [b, out, b, out].map((toStepId) => connect({ fromStepId: a, toStepId }, built)),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 400, 400, 400]);
    });
  });

  describe('DELETE /workflows/:id/transitions/:transitionId', () => {
    it('answers 204 and frees the exit', async () => {
      const built = await build(project, { steps: { a: update, b: update }, transitions: [['a', 'b']] });
      const [{ id }] = (await whole(built)).transitions;
      const path = `/workflows/${built.id}/transitions`;
      expect(await project.server.delete(`${path}/${id}`)).to.have.status(204);
      expect(await transitions(built)).to.deep.equal([]);
      for (const gone of [id, newId(), 'nonsense']) {
        const answer = await project.server.delete(`${path}/${gone}`);
        expect(answer).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
        expect(answer.body.error.message).to.equal('Transition not found in this project.');
      }
      for (const workflow of [newId(), 'nonsense'])
        expect(await project.server.delete(`/workflows/${workflow}/transitions/${id}`)).to.be.envelope(
          404,
          'WORKFLOW_NOT_FOUND',
        );
    });
  });

  describe('DELETE /workflows/:id/steps/:stepId', () => {
    const chain = () =>
      build(project, {
        steps: { a: update, b: day, c: update, fork, x: { type: 'EXIT' } },
        transitions: [
          ['a', 'b'],
          ['b', 'c'],
          ['c', 'fork'],
          ['fork', 'x', 'yes'],
          ['fork', 'b', 'no'],
        ],
      });

    it('answers 204 and removes its transitions', async () => {
      const built = await chain();
      expect(await remove(built.steps.b, built)).to.have.status(204);
      expect(await transitions(built)).to.deep.equal(['c -> fork', 'fork -> x yes']);
    });

    it('connects the neighbours with splice=true', async () => {
      const built = await chain();
      expect(await remove(built.steps.c, built, '?splice=true')).to.have.status(204);
      expect(await transitions(built)).to.have.members(['a -> b', 'b -> fork', 'fork -> x yes', 'fork -> b no']);
    });

    it('keeps the branches that led to it', async () => {
      const built = await chain();
      await remove(built.steps.x, built);
      const y = (await add({ ...update, name: 'y' }, built)).body.id;
      await connect({ fromStepId: built.steps.fork, toStepId: y, branch: 'yes' }, built);
      const out = (await add({ type: 'EXIT', name: 'out' }, built)).body.id;
      await connect({ fromStepId: y, toStepId: out }, built);
      await remove(y, built, '?splice=true');
      expect(await transitions(built)).to.include('fork -> out yes');
    });

    it('rejects splicing a step with branches or the only wait of a loop with 400, and changes nothing', async () => {
      const built = await chain();
      const before = await transitions(built);
      for (const step of [built.steps.fork, built.steps.b])
        expect(await remove(step, built, '?splice=true')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await remove(built.steps.a, built, '?splice=maybe')).to.be.envelope(400, 'BAD_REQUEST');
      expect(await transitions(built)).to.deep.equal(before);
    });

    it('answers 404 to a step of another workflow', async () => {
      const other = await chain();
      for (const id of [other.steps.a, newId(), 'nonsense'])
        expect(await remove(id)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });
});
