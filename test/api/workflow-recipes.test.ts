import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { type ApiProject, describeApi } from '../support/api.ts';

describeApi('recipes, step types and numbers of workflows', (api) => {
  let project: ApiProject;

  before(async () => {
    project = await api.project();
  });

  const install = (body: object) => project.server.post('/workflows/recipes', body);

  it('lists five recipes, and installs each with templates and cases that pass', async () => {
    const { recipes } = (await project.server.get('/workflows/recipes')).body;
    expect(recipes.map(({ id }: { id: string }) => id)).to.deep.equal([
      'welcome-series',
      'trial-ending',
      'abandoned-cart',
      'win-back',
      'double-opt-in',
    ]);
    for (const { id: recipe, caseCount, stepCount } of recipes) {
      const answer = await install({ recipe, from: `hello@${project.senderDomain}` });
      expect(answer, recipe).to.have.status(201);
      const path = `/workflows/${answer.body.id}`;
      const whole = (await project.server.get(path)).body;
      expect(whole.faults, recipe).to.deep.equal([]);
      expect(whole.steps).to.have.length(stepCount);
      expect((await project.server.post(`${path}/cases/run`, {})).body, recipe).to.include({
        passed: caseCount,
        failed: 0,
      });
      expect(await project.server.patch(path, { enabled: true }), recipe).to.have.status(200);
    }
  });

  it('installs nothing when the sender is not verified, or the recipe is unknown', async () => {
    const count = async () => (await project.server.get('/workflows')).body.total;
    const before = await count();
    expect(await install({ recipe: 'welcome-series', from: 'a@not-verified.example' })).to.have.status(403);
    expect(await install({ recipe: 'soup' })).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect(await count()).to.equal(before);
  });

  it('lists step types with exits and the JSON Schema of their config', async () => {
    const { types } = (await project.server.get('/workflows/step-types')).body;
    expect(types).to.have.length(12);
    for (const type of types) {
      expect(type).to.include.all.keys('type', 'label', 'description', 'exits', 'schema');
      expect(type.schema).to.include({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' });
    }
    const delay = types.find(({ type }: { type: string }) => type === 'DELAY');
    expect(delay).to.deep.include({ label: 'Delay', exits: ['next'] });
    expect(delay.schema.properties).to.include.all.keys('amount', 'unit', 'until');
  });

  it('answers stats of a new workflow with zeros, and 404 for another project', async () => {
    const { id } = (await install({ recipe: 'abandoned-cart' })).body;
    const answer = await project.server.get(`/workflows/${id}/stats`);
    expect(answer.body).to.deep.equal({
      executions: { started: 0, active: 0, completed: 0, exited: 0, failed: 0, cancelled: 0 },
      steps: {},
    });
    const stranger = await api.project();
    expect(await stranger.server.get(`/workflows/${id}/stats`)).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    expect(await project.server.get(`/workflows/${id}/stats?version=x`)).to.have.status(400);
  });

  it('rejects a segment that is not static with 400 and a workflow of another project with 404', async () => {
    const { id } = (await install({ recipe: 'welcome-series' })).body;
    const condition = {
      logic: 'AND',
      groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }],
    };
    const segment = (await project.server.post('/segments', { name: 'All', type: 'DYNAMIC', condition })).body;
    const add = (type: string, config: object) => project.server.post(`/workflows/${id}/steps`, { type, config });
    expect(await add('ADD_TO_SEGMENT', { segmentId: segment.id })).to.be.envelope(400, 'BAD_REQUEST');
    const stranger = await api.project();
    const foreign = (await stranger.server.post('/workflows', { name: 'w', eventName: 'e' })).body;
    for (const workflowId of [foreign.id, newId()])
      expect(await add('START_WORKFLOW', { workflowId })).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    expect(await add('START_WORKFLOW', { workflowId: 'x' })).to.have.status(422);
    const branches = [
      { name: 'A', weight: 1 },
      { name: 'A', weight: 1 },
    ];
    expect(await add('SPLIT', { branches })).to.have.status(422);
    expect(await add('TIME_WINDOW', { timezone: 'Nowhere' })).to.have.status(422);
    expect(await add('TIME_WINDOW', { from: '9' })).to.have.status(422);
    for (const wrong of [{ from: '24:00' }, { to: '24:01' }, { to: '25:00' }])
      expect(await add('TIME_WINDOW', wrong)).to.have.status(422);
    expect(await add('TIME_WINDOW', { days: ['MON'], from: '00:00', to: '24:00' })).to.have.status(201);
  });

  it('changes a step that starts a workflow which was deleted since', async () => {
    const add = async (name: string) => (await project.server.post('/workflows', { name, eventName: 'e' })).body.id;
    const id = await add('first');
    const workflowId = await add('second');
    const config = { workflowId };
    const { body: step } = await project.server.post(`/workflows/${id}/steps`, { type: 'START_WORKFLOW', config });
    expect(await project.server.delete(`/workflows/${workflowId}`)).to.have.status(204);
    const change = (body: object) => project.server.patch(`/workflows/${id}/steps/${step.id}`, body);
    expect(await change({ name: 'Renamed', config })).to.have.status(200);
    expect(await change({ config: { workflowId: newId() } })).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
    const { faults } = (await project.server.get(`/workflows/${id}`)).body;
    expect(faults.map(({ message }: { message: string }) => message).join()).to.contain(
      'starts a workflow that does not exist',
    );
  });

  it('changes the time zone of a project', async () => {
    const path = `/users/@me/projects/${project.id}`;
    const answer = await project.owner.patch(path, { timezone: 'Europe/Berlin' });
    expect(answer.body).to.include({ timezone: 'Europe/Berlin' });
    expect(await project.owner.patch(path, { timezone: 'Mars' })).to.have.validationError('timezone', 'invalid_string');
  });
});
