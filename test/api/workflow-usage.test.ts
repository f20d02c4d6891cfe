import { expect } from 'chai';
import { type ApiProject, describeApi } from '../support/api.ts';
import { advanceUntilItWaits } from '../support/executions.ts';
import { type Built, build, enable, makeTemplate } from '../support/workflow-building.ts';

describeApi('resources that workflows use', (api) => {
  let project: ApiProject;

  beforeEach(async () => {
    project = await api.project();
  });

  const removeStep = ({ id, steps }: Built, name: string) =>
    project.server.delete(`/workflows/${id}/steps/${steps[name]}?splice=true`);

  describe('a template', () => {
    const usage = async (id: string) => (await project.server.get(`/templates/${id}/usage`)).body;
    const remove = (id: string) => project.server.delete(`/templates/${id}`);
    const mailing = async (templateId: string) =>
      build(project, {
        steps: {
          pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } },
          Hello: { type: 'SEND_EMAIL', config: { templateId } },
        },
        transitions: [['pause', 'Hello']],
      });

    it('cannot be deleted while a step of an enabled or disabled workflow uses it', async () => {
      const templateId = await makeTemplate(project);
      const built = await mailing(templateId);
      expect(await usage(templateId)).to.deep.equal({
        campaigns: [],
        workflowSteps: [
          { workflowId: built.id, workflowName: 'Welcome', stepId: built.steps.Hello, stepName: 'Hello' },
        ],
        canDelete: false,
      });
      expect(await remove(templateId)).to.be.envelope(409, 'CONFLICT');
      await removeStep(built, 'Hello');
      expect(await usage(templateId)).to.deep.include({ workflowSteps: [], canDelete: true });
      expect(await remove(templateId)).to.have.status(204);
    });

    it('is in use while an execution is on a version that uses it', async () => {
      const templateId = await makeTemplate(project);
      const built = await mailing(templateId);
      await enable(project, built.id);
      await project.server.post('/contacts', { email: 'ann@example.com' });
      const started = await project.server.post(`/workflows/${built.id}/executions`, { email: 'ann@example.com' });
      await advanceUntilItWaits(api.db, started.body.id);
      await removeStep(built, 'Hello');
      expect((await usage(templateId)).workflowSteps).to.have.length(1);
      expect(await remove(templateId)).to.be.envelope(409, 'CONFLICT');
      await project.server.delete(`/workflows/${built.id}/executions/${started.body.id}`);
      expect((await usage(templateId)).workflowSteps).to.deep.equal([]);
      expect(await remove(templateId)).to.have.status(204);
    });

    it('is in use by the newest valid version while the edited graph is invalid', async () => {
      const templateId = await makeTemplate(project);
      const built = await mailing(templateId);
      await enable(project, built.id);
      await project.server.post(`/workflows/${built.id}/steps`, { type: 'DELAY' });
      await removeStep(built, 'Hello');
      expect((await usage(templateId)).workflowSteps).to.have.length(1);
      await project.server.patch(`/workflows/${built.id}`, { enabled: false });
      expect((await usage(templateId)).workflowSteps).to.deep.equal([]);
    });

    it('rejects one of a concurrent deletion and a step that starts to use it', async () => {
      const { id } = await build(project, { steps: {} });
      for (let round = 0; round < 5; round++) {
        const templateId = await makeTemplate(project);
        const [added, removed] = await Promise.all([
          project.server.post(`/workflows/${id}/steps`, { type: 'SEND_EMAIL', templateId }),
          remove(templateId),
        ]);
        expect([added.status, removed.status].join(' ')).to.be.oneOf(['201 409', '404 204']);
      }
    });
  });

  it('lists the workflows that read or change a field', async () => {
    const { id } = await build(
      project,
      {
        steps: {
          a: { type: 'CONDITION', config: { field: 'data.plan', operator: 'equals', value: 'pro' } },
          b: { type: 'UPDATE_CONTACT', config: { updates: { stage: 'new' } } },
          c: { type: 'DELAY', config: { until: 'data.trialEnd' } },
          d: { type: 'CONDITION', config: { field: 'email', operator: 'contains', value: '@' } },
        },
      },
      { name: 'Onboarding' },
    );
    for (const field of ['plan', 'data.stage', 'trialEnd', 'email']) {
      const { body } = await project.server.get(`/contacts/fields/${field}/usage`);
      expect(body.usedInWorkflows, field).to.deep.equal([{ id, name: 'Onboarding' }]);
      expect(body.canDelete).to.equal(false);
    }
    expect((await project.server.get('/contacts/fields/other/usage')).body.usedInWorkflows).to.deep.equal([]);
  });

  it('lists the workflows that start with an event, wait for it or filter by it', async () => {
    const steps = {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } },
      ask: { type: 'CONDITION', config: { field: 'event.visited', operator: 'triggered' } },
    };
    const { id } = await build(project, { steps }, { name: 'Onboarding' });
    for (const event of ['signed up', 'bought', 'visited']) {
      const { body } = await project.server.get(`/events/${encodeURIComponent(event)}/usage`);
      expect(body.usedInWorkflows, event).to.deep.equal([{ id, name: 'Onboarding' }]);
    }
  });

  it('rejects deleting a segment that an enabled workflow uses in a condition or schedule', async () => {
    const segment = async (name: string) =>
      (await project.server.post('/segments', { name, type: 'STATIC' })).body.id as string;
    const asked = await segment('Asked');
    const scheduled = await segment('Scheduled');
    const { id } = await build(project, {
      steps: { ask: { type: 'CONDITION', config: { field: `segment.${asked}`, operator: 'memberOfSegment' } } },
    });
    const triggerConfig = { cron: '0 9 * * *', segmentId: scheduled };
    await project.server.patch(`/workflows/${id}`, { triggerType: 'SCHEDULE', triggerConfig, enabled: true });
    for (const used of [asked, scheduled])
      expect(await project.server.delete(`/segments/${used}`)).to.be.envelope(409, 'CONFLICT');
    await project.server.patch(`/workflows/${id}`, { enabled: false });
    expect(await project.server.delete(`/segments/${scheduled}`)).to.have.status(204);
  });
});
