import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { type Built, build } from '../support/workflow-building.ts';

const contact = { email: 'ann@example.com', subscribed: true, data: { plan: 'pro' } };

describeApi('cases of a workflow', (api) => {
  let project: ApiProject;
  let built: Built;

  before(async () => {
    project = await api.project();
  });
  beforeEach(async () => {
    built = await build(project, {
      steps: {
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: { amount: 3, unit: 'days' } } },
        thank: { type: 'UPDATE_CONTACT', config: { data: { customer: true } } },
        out: { type: 'EXIT', config: { reason: 'no sale' } },
      },
      transitions: [
        ['wait', 'thank', 'event'],
        ['wait', 'out', 'timeout'],
      ],
    });
  });

  const path = (rest = '/cases') => `/workflows/${built.id}${rest}`;
  const at = (name: string, branch?: string) => ({ stepId: built.steps[name] ?? '', ...(branch && { branch }) });
  const buys = (rest: object = {}) => ({
    name: 'buys',
    contact,
    events: [{ at: 3_600, name: 'bought', data: { total: 5 } }],
    expect: [at('wait', 'event'), at('thank')],
    ...rest,
  });
  const add = (body: object) => project.server.post(path(), body);
  const run = (body: object = {}) => project.server.post(path('/cases/run'), body);

  it('are created, listed, read, replaced and deleted', async () => {
    const answer = await add(buys({ until: '2030-01-01T00:00:00.000Z' }));
    expect(answer).to.have.status(201);
    expect(answer.body).to.deep.include({ ...buys({ until: '2030-01-01T00:00:00.000Z' }) });
    const { id } = answer.body;
    expect((await project.server.get(path(`/cases/${id}`))).body).to.deep.equal(answer.body);
    expect((await project.server.get(path())).body).to.deep.equal({
      data: [answer.body],
      cursor: null,
      hasMore: false,
      total: 1,
    });
    const replaced = await project.server.put(path(`/cases/${id}`), buys({ name: 'other' }));
    expect(replaced).to.have.status(200);
    expect(replaced.body).to.include({ name: 'other', startAt: answer.body.startAt }).and.not.have.property('until');
    expect(await project.server.delete(path(`/cases/${id}`))).to.have.status(204);
    expect(await project.server.get(path(`/cases/${id}`))).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
  });

  it('are listed by cursor, with the total on the first page', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await add(buys())).body.id);
    const { body: first } = await project.server.get(`${path()}?limit=2`);
    expect(first).to.include({ total: 3, hasMore: true });
    const { body: second } = await project.server.get(`${path()}?limit=2&cursor=${first.cursor}`);
    expect(second).to.include({ total: 0, hasMore: false, cursor: null });
    expect([...first.data, ...second.data].map(({ id }) => id)).to.deep.equal(ids);
  });

  it('rejects bad input with 422, and the 101st with 409', async () => {
    expect(await add({ ...buys(), expect: [{ stepId: 'x' }] })).to.have.validationError(
      'expect.0.stepId',
      'invalid_string',
    );
    expect(await add({ ...buys(), events: [{ at: 'noon', name: 'x' }] })).to.have.status(422);
    expect(await add({ ...buys(), name: undefined })).to.have.validationError('name', 'required');
    for (let n = 0; n < 100; n++) expect(await add(buys())).to.have.status(201);
    expect(await add(buys())).to.be.envelope(409, 'CONFLICT');
  });

  it('are a 404 for another project', async () => {
    const stranger = await api.project();
    const { id } = (await add(buys())).body;
    expect(await stranger.server.get(path())).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    expect(await stranger.server.get(path(`/cases/${id}`))).to.have.status(404);
    expect(await stranger.server.post(path('/cases/run'), {})).to.have.status(404);
    expect(await run({ ids: [newId()] })).to.have.status(404);
  });

  it('pass with the expected path and fail at the first difference', async () => {
    const good = (await add(buys())).body;
    const bad = (await add(buys({ name: 'does not buy', events: [] }))).body;
    const { body } = await run();
    expect(body).to.include({ passed: 1, failed: 1 });
    const [passed, failed] = body.results;
    expect(passed).to.deep.include({ caseId: good.id, name: 'buys', passed: true, difference: null });
    expect(passed.path.map(({ stepId, branch }: { stepId: string; branch: string }) => [stepId, branch])).to.deep.equal(
      [
        [built.steps.wait, 'event'],
        [built.steps.thank, null],
      ],
    );
    expect(failed).to.include({ caseId: bad.id, passed: false });
    expect(failed.difference).to.deep.include({
      index: 0,
      expected: at('wait', 'event'),
      actual: at('wait', 'timeout'),
    });
    expect((await run({ ids: [bad.id] })).body).to.include({ passed: 0, failed: 1 });
  });

  it('stop at `until`', async () => {
    await add(buys({ events: [], until: { amount: 1, unit: 'days' }, expect: [at('wait')] }));
    const { body } = await run();
    expect(body).to.include({ passed: 1, failed: 0 });
    expect(body.results[0].path[0]).to.include({ status: 'WAITING', leftAt: null });
  });

  it('take the event that triggers the workflow as the start and its data as the context', async () => {
    const start = '2025-03-01T10:00:00.000Z';
    const events = [
      { at: start, name: 'signed up', data: { source: 'ad' } },
      { at: '2025-03-02T10:00:00.000Z', name: 'bought' },
    ];
    const { body } = await add(buys({ events }));
    expect(body.startAt).to.equal(start);
    const answer = await run();
    expect(answer.body.results[0]).to.include({ passed: true });
    expect(answer.body.results[0].path[0]).to.include({ enteredAt: start, leftAt: '2025-03-02T10:00:00.000Z' });
  });

  it('run against the draft, or a graph that is given', async () => {
    await add(buys());
    const { graph, revision } = (await project.server.get(path('/draft'))).body;
    const steps = graph.steps.filter(({ id }: { id: string }) => id !== built.steps.thank);
    const transitions = graph.transitions.filter(
      ({ toStepId }: { toStepId: string }) => toStepId !== built.steps.thank,
    );
    expect((await run({ graph: { steps, transitions } })).body).to.include({ passed: 0, failed: 1 });
    expect((await run()).body).to.include({ passed: 1 });
    await project.server.put(path('/draft'), { graph: { steps, transitions }, expectedRevision: revision });
    expect((await run()).body).to.include({ passed: 0, failed: 1 });
  });

  it('stop a publication that requires them, with the failed ones', async () => {
    const { id } = (await add(buys())).body;
    const { graph, revision } = (await project.server.get(path('/draft'))).body;
    const steps = graph.steps.map((step: { type: string; config: object }) =>
      step.type === 'WAIT_FOR_EVENT' ? { ...step, config: { ...step.config, eventName: 'paid' } } : step,
    );
    const { body } = await project.server.put(path('/draft'), {
      graph: { ...graph, steps },
      expectedRevision: revision,
    });
    const publish = (rest: object) =>
      project.server.post(path('/publish'), { expectedRevision: body.revision, ...rest });
    const refused = await publish({ requireCases: true });
    expect(refused).to.have.validationError(`cases.${id}`, 'custom');
    expect(refused.body.error.details.failed.map(({ caseId }: { caseId: string }) => caseId)).to.deep.equal([id]);
    expect((await project.server.get(path('/draft'))).body.changed).to.equal(true);
    expect(await publish({ requireCases: false })).to.have.status(200);
    expect(await publish({ requireCases: true })).to.have.status(409);
  });
});
