import { expect } from 'chai';
import { Execution } from '../../db/models/execution.ts';
import { newId } from '../../platform/ids.ts';
import { runSlice } from '../../services/jobs/run.ts';
import { resolveWebhook } from '../../services/workflows/webhook-step.ts';
import { person } from '../support/accounts.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { advanceUntilItWaits } from '../support/executions.ts';
import { readAudit, readJobs } from '../support/reading.ts';
import { outboxMessages } from '../support/rows/outbox.ts';
import { copyExecution, setExecutions } from '../support/rows/workflows.ts';
import { type Built, build, enable } from '../support/workflow-building.ts';

const untilDate = { type: 'DELAY', config: { until: 'data.trialEnd' } };
const out = { type: 'EXIT', config: { reason: 'done' } };
const NO_DATE = 'the contact has no date in data.trialEnd';

describeApi('failed executions in bulk', (api) => {
  let project: ApiProject;
  let people = 0;

  beforeEach(async () => {
    project = await api.project();
  });

  const failing = async (workflow: object = {}): Promise<Built> => {
    const built = await build(
      project,
      { steps: { rest: untilDate, leave: out }, transitions: [['rest', 'leave']] },
      workflow,
    );
    await enable(project, built.id);
    return built;
  };
  const failed = async ({ id }: Built, email = `ann${++people}@example.com`): Promise<string> => {
    await project.server.post('/contacts', { email });
    const started = await project.server.post(`/workflows/${id}/executions`, { email });
    expect(started).to.have.status(201);
    await advanceUntilItWaits(api.db, started.body.id);
    return started.body.id;
  };
  const retry = (id: string, body: object = {}) =>
    project.server.post(`/workflows/${id}/executions/retry-failed`, body);
  const ended = async (jobId: string) => {
    while (!(await runSlice(api.db, jobId, () => true)).ended);
    return (await project.server.get(`/jobs/${jobId}`)).body;
  };
  const rows = (ids: string[]) => Execution.query(api.db).findByIds(ids).orderBy('id');
  const setError = (id: string, error: string) => setExecutions(api.db, { id }, { error });

  describe('GET /executions/failures', () => {
    it('counts the causes of all workflows, the most frequent first', async () => {
      const before = Date.now();
      const a = await failing({ name: 'A' });
      const b = await failing({ name: 'B' });
      await failed(a);
      for (let times = 0; times < 2; times++) await failed(b);
      await setError(await failed(b), 'HTTP 500');
      const { body } = await project.server.get('/executions/failures');
      expect(body.truncated).to.equal(false);
      expect(body.data[0]).to.include({ workflowId: b.id, workflowName: 'B', error: NO_DATE, count: 2 });
      expect(body.data).to.have.length(3);
      const one = (await project.server.get(`/executions/failures?workflowId=${a.id}`)).body.data;
      expect(one).to.have.length(1);
      expect(one[0]).to.include({ workflowName: 'A', error: NO_DATE, count: 1 });
      expect(new Date(one[0].lastFailedAt).getTime()).to.be.within(before, Date.now());
    });

    it('groups the newest 2,000, and says that there are more', async () => {
      const built = await failing();
      await copyExecution(api.db, await failed(built), 1_998);
      const few = (await project.server.get('/executions/failures')).body;
      expect([few.data[0].count, few.truncated]).to.deep.equal([1_999, false]);
      await copyExecution(api.db, await failed(built), 2);
      const many = (await project.server.get('/executions/failures')).body;
      expect([many.data[0].count, many.truncated]).to.deep.equal([2_000, true]);
    });

    it('shows nothing of another project', async () => {
      await failed(await failing());
      const other = await api.project();
      expect((await other.server.get('/executions/failures')).body).to.deep.equal({ data: [], truncated: false });
    });
  });

  describe('GET /executions/problems', () => {
    it('counts failed and retried executions of each step, with the newest error', async () => {
      const a = await failing({ name: 'A' });
      await failed(a);
      await setError(await failed(a), 'HTTP 500');
      const call = { type: 'WEBHOOK', config: { url: 'https://example.com/' } };
      const b = await build(project, { steps: { call } }, { name: 'B' });
      await enable(project, b.id);
      const executionId = await failed(b);
      await resolveWebhook(api.db, { executionId, generation: 1 }, 1, { kind: 'retry', reason: 'refused' });
      const { body } = await project.server.get('/executions/problems');
      expect(body).to.deep.equal({
        data: [
          {
            workflowId: a.id,
            workflowName: 'A',
            stepId: a.steps.rest,
            stepName: 'rest',
            failed: 2,
            retrying: 0,
            error: 'HTTP 500',
          },
          {
            workflowId: b.id,
            workflowName: 'B',
            stepId: b.steps.call,
            stepName: 'call',
            failed: 0,
            retrying: 1,
            error: 'refused',
          },
        ],
        truncated: false,
      });
      const one = (await project.server.get(`/executions/problems?workflowId=${b.id}`)).body.data;
      expect(one.map(({ workflowName }: { workflowName: string }) => workflowName)).to.deep.equal(['B']);
    });

    it('forgets a retried step once it succeeds', async () => {
      const call = { type: 'WEBHOOK', config: { url: 'https://example.com/' } };
      const built = await build(project, { steps: { call } });
      await enable(project, built.id);
      const ref = { executionId: await failed(built), generation: 1 };
      await resolveWebhook(api.db, ref, 1, { kind: 'retry', reason: 'refused' });
      await resolveWebhook(api.db, ref, 1, { kind: 'completed', output: { status: 200, body: '', truncated: false } });
      expect((await project.server.get('/executions/problems')).body.data).to.deep.equal([]);
    });

    it('reads the newest 2,000, and says that there are more', async () => {
      const built = await failing();
      await copyExecution(api.db, await failed(built), 2_000);
      const { data, truncated } = (await project.server.get('/executions/problems')).body;
      expect([data[0].failed, truncated]).to.deep.equal([2_000, true]);
    });

    it('shows nothing of another project', async () => {
      await failed(await failing());
      const other = await api.project();
      expect((await other.server.get('/executions/problems')).body).to.deep.equal({ data: [], truncated: false });
    });
  });

  describe('POST /workflows/:id/executions/retry-failed', () => {
    it('retries those of one cause from their failed step, as a job, and leaves the others', async () => {
      const built = await failing();
      const same = [await failed(built), await failed(built)];
      const different = await failed(built);
      await setError(different, 'HTTP 500');
      const answer = await retry(built.id, { error: NO_DATE });
      expect(answer).to.have.status(202);
      const job = await ended(answer.body.jobId);
      expect(job).to.include({ type: 'RETRY_EXECUTIONS', status: 'COMPLETED', total: 2, processed: 2, progress: 100 });
      expect(job.result).to.deep.equal({ requested: 2, changed: 2, unchanged: 0, failed: 0, errors: [] });
      for (const execution of await rows(same))
        expect(execution).to.include({
          status: 'RUNNING',
          generation: 2,
          error: null,
          completedAt: null,
          currentStepId: built.steps.rest,
        });
      expect((await rows([different]))[0]).to.include({ status: 'FAILED', generation: 1 });
      const messages = await outboxMessages(api.db, { projectId: project.id, queue: 'starts' });
      for (const id of same) {
        const message = messages.find(({ workflowId }) => workflowId === `execution/${project.id}/${id}/2`);
        expect(message?.payload).to.deep.include({
          workflowType: 'execution',
          args: [{ executionId: id, generation: 2 }],
        });
      }
    });

    it('retries all causes without an error, and records who ordered it', async () => {
      const built = await failing();
      const ids = [await failed(built), await failed(built)];
      await setError(ids[1] ?? '', 'HTTP 500');
      const { body } = await project.owner.post(`/workflows/${built.id}/executions/retry-failed`, {});
      expect((await ended(body.jobId)).result).to.include({ requested: 2, changed: 2 });
      const [act] = await readAudit(project, 'workflow.executions_retried');
      expect(act.actor).to.include({ id: project.userId });
      expect(act.target).to.include({ type: 'workflow', id: built.id });
      expect(act.changes).to.deep.equal({ executions: { from: null, to: 2 } });
    });

    it('retries more than a chunk, in slices', async () => {
      const built = await failing();
      const id = await failed(built);
      await copyExecution(api.db, id, 1100);
      const job = await ended((await retry(built.id)).body.jobId);
      expect(job.result).to.include({ requested: 1101, changed: 1101, failed: 0 });
      const failedOnes = await project.server.get(`/workflows/${built.id}/executions?status=FAILED`);
      expect(failedOnes.body).to.deep.include({ data: [], total: 0 });
    });

    it('leaves a contact alone that is active again, and retries one of several failed executions', async () => {
      const built = await failing({ allowReentry: true });
      const ann = `ann${++people}@example.com`;
      const bob = `bob${people}@example.com`;
      const first = await failed(built, ann);
      await project.server.post(`/workflows/${built.id}/executions`, { email: ann });
      const older = await failed(built, bob);
      const newer = await failed(built, bob);
      const job = await ended((await retry(built.id)).body.jobId);
      expect(job.result).to.deep.include({ requested: 3, changed: 1, failed: 2 });
      expect(job.result.errors[0].error).to.equal('another execution of the contact is active');
      const states = Object.fromEntries((await rows([first, older, newer])).map(({ id, status }) => [id, status]));
      expect(states).to.deep.equal({ [first]: 'FAILED', [older]: 'FAILED', [newer]: 'RUNNING' });
    });

    it('does not retry what failed after it was ordered, or was retried before its turn', async () => {
      const built = await failing();
      const before = await failed(built);
      const { jobId } = (await retry(built.id)).body;
      await project.server.post(`/workflows/${built.id}/executions/${before}/retry`);
      const later = await failed(built);
      const job = await ended(jobId);
      expect(job.result).to.include({ requested: 1, changed: 0, unchanged: 1 });
      expect((await rows([before, later])).map(({ generation }) => generation)).to.deep.equal([2, 1]);
    });

    it('answers 404 to another workflow, 422 to an empty error, 403 to a VIEWER', async () => {
      const built = await failing();
      const other = await api.project();
      expect(await other.server.post(`/workflows/${built.id}/executions/retry-failed`, {})).to.be.envelope(
        404,
        'WORKFLOW_NOT_FOUND',
      );
      expect(await retry(newId())).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
      expect(await retry(built.id, { error: '' })).to.have.validationError('error', 'too_small');
      const viewer = await person(api, { project: project.id, role: 'VIEWER' });
      const path = `/workflows/${built.id}/executions/retry-failed`;
      expect(await viewer.post(path, {}, { 'x-project-id': project.id })).to.be.envelope(403, 'FORBIDDEN');
      expect(await readJobs(project)).to.have.length(0);
    });
  });
});
