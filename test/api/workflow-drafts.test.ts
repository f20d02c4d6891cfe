import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { continueMoves } from '../../services/workflows/drafts/moves.ts';
import { type ApiProject, describeApi } from '../support/api.ts';
import { testKeys } from '../support/keys.ts';
import {
  addMove,
  addPublishedVersions,
  storedDraft,
  storedExecutions,
  storedMoves,
} from '../support/rows/workflows.ts';
import { insertWaiting } from '../support/waiting-executions.ts';
import { type Built, build, enable, makeTemplate } from '../support/workflow-building.ts';

const day = { type: 'DELAY', config: { amount: 1, unit: 'days' } };
const exit = { type: 'EXIT', config: {} };
const FIELDS = [
  'workflowId',
  'baseVersion',
  'revision',
  'triggerType',
  'triggerConfig',
  'allowReentry',
  'graph',
  'valid',
  'faults',
  'changed',
  'updatedAt',
  'updatedBy',
];

interface DraftStep {
  id: string;
  type: string;
  name?: string;
  config?: object;
  position?: object;
}

describeApi('drafts of a workflow', (api) => {
  let project: ApiProject;
  let built: Built;
  /** Of the workflow before each test. */
  let revision: number;

  before(async () => {
    project = await api.project();
  });
  beforeEach(async () => {
    built = await build(project, { steps: { wait: day, out: exit }, transitions: [['wait', 'out']] });
    ({ revision } = await draft());
  });

  const path = (rest = '/draft', id = built.id) => `/workflows/${id}${rest}`;
  const draft = async () => (await project.server.get(path())).body;
  const put = (body: object, of = project.server) => of.put(path(), body);
  const whole = async () => (await project.server.get(path(''))).body;
  const publish = (body: object) => project.server.post(path('/publish'), body);
  const step = (type = 'EXIT', config: object = {}): DraftStep => ({ id: newId(), type, name: type, config });
  const lineOf = (...steps: DraftStep[]) => ({
    steps,
    transitions: steps.slice(1).map(({ id }, n) => ({ fromStepId: steps[n]?.id, toStepId: id, branch: null })),
  });
  /** Puts a graph as the next revision and publishes it. */
  const publishGraph = async (graph: object, rest: object = {}) => {
    const saved = await put({ graph, expectedRevision: (await draft()).revision });
    expect(saved).to.have.status(200);
    return publish({ expectedRevision: saved.body.revision, ...rest });
  };

  describe('GET and PUT /workflows/:id/draft', () => {
    it('answers the newest version of a workflow without a draft', async () => {
      const answer = await project.server.get(path());
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys(FIELDS);
      expect(answer.body).to.deep.include({
        workflowId: built.id,
        changed: false,
        valid: true,
        faults: [],
        revision,
      });
      expect(answer.body.graph.steps.map(({ id }: DraftStep) => id)).to.have.members(Object.values(built.steps));
      expect(answer.body.graph.steps[0]).to.have.all.keys('id', 'type', 'name', 'position', 'config', 'templateId');
      expect(answer.body.graph.transitions).to.deep.equal([
        { fromStepId: built.steps.wait, toStepId: built.steps.out, branch: null },
      ]);
    });

    it('stores a draft with ids of the client, and changes nothing that is live', async () => {
      const before = await whole();
      const graph = lineOf(step('UPDATE_CONTACT', { data: { a: 1 } }), step());
      const saved = await put({ graph, expectedRevision: revision, allowReentry: true }, project.owner);
      expect(saved).to.have.status(200);
      expect(saved.body).to.deep.include({ revision: revision + 1, changed: true, valid: true, allowReentry: true });
      expect(saved.body.updatedBy).to.match(/@example\.com$/);
      expect(saved.body.graph.transitions).to.deep.equal(graph.transitions);
      expect(await draft()).to.deep.equal(saved.body);
      expect(await whole()).to.deep.equal(before);
    });

    it('is not changed when it equals the newest version', async () => {
      const { graph } = await draft();
      expect((await put({ graph, expectedRevision: revision })).body).to.include({
        changed: false,
        revision: revision + 1,
      });
    });

    it('stores an incomplete graph with all its faults', async () => {
      const delay = step('DELAY');
      const split = step('DELAY', { amount: 1, unit: 'days' });
      const hook = step('WEBHOOK', { url: 'http://127.0.0.1/' });
      const transitions = [{ fromStepId: delay.id, toStepId: delay.id, branch: null }];
      const { body } = await put({ graph: { steps: [delay, split, hook], transitions }, expectedRevision: revision });
      expect(body.valid).to.equal(false);
      const of = (id: string) => body.faults.filter(({ stepId }: { stepId: string }) => stepId === id).length;
      expect([of(delay.id), of(hook.id)]).to.deep.equal([2, 1]);
      expect(body.faults).to.deep.include({
        stepId: delay.id,
        message: 'a transition is not allowed: a step cannot lead to itself',
      });
    });

    it('rejects a graph of the wrong shape with 422', async () => {
      const { id } = step();
      const twice = { steps: [step(), { ...step(), id }, { ...step(), id }], transitions: [] };
      expect(await put({ graph: twice, expectedRevision: revision })).to.have.validationError(
        'graph.steps.2.id',
        'custom',
      );
      const nowhere = { steps: [{ ...step(), id }], transitions: [{ fromStepId: id, toStepId: newId() }] };
      expect(await put({ graph: nowhere, expectedRevision: revision })).to.have.validationError(
        'graph.transitions.0.toStepId',
        'custom',
      );
      const wrong = { steps: [step('DELAY', { amount: 'long' })], transitions: [] };
      expect(await put({ graph: wrong, expectedRevision: revision })).to.have.validationError(
        'graph.steps.0.config.amount',
        'invalid_type',
      );
      const unknown = { steps: [step('SHOUT')], transitions: [] };
      expect(await put({ graph: unknown, expectedRevision: revision })).to.have.validationError(
        'graph.steps.0.type',
        'invalid_enum',
      );
      expect((await draft()).revision).to.equal(revision);
    });

    it('rejects a second editor with 409 and the current draft', async () => {
      const graph = lineOf(step());
      await put({ graph, expectedRevision: revision });
      const answer = await put({ graph: lineOf(step()), expectedRevision: revision });
      expect(answer).to.be.envelope(409, 'CONFLICT');
      expect(answer.body.error.details).to.deep.equal(await draft());
      expect((await draft()).graph.steps[0].id).to.equal(graph.steps[0]?.id);
    });

    it('accepts one of two concurrent writes of the same revision', async () => {
      const answers = await Promise.all(
        [1, 2, 3].map(() => put({ graph: lineOf(step()), expectedRevision: revision })),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409]);
    });

    it('never reuses a revision after the draft is dropped', async () => {
      await put({ graph: lineOf(step()), expectedRevision: revision });
      expect(await project.server.delete(path())).to.have.status(204);
      const now = await draft();
      expect(now.changed).to.equal(false);
      expect(now.revision).to.be.greaterThan(revision + 1);
      expect(await put({ graph: lineOf(step()), expectedRevision: revision + 1 })).to.have.status(409);
    });

    for (const [change, send] of Object.entries({
      'a step': () => project.server.patch(path(`/steps/${built.steps.wait}`), { config: { amount: 5, unit: 'days' } }),
      'the position of a step': () =>
        project.server.patch(path(`/steps/${built.steps.wait}`), { position: { x: 40, y: 40 } }),
      'a transition': async () => project.server.delete(path(`/transitions/${(await whole()).transitions[0].id}`)),
      'the trigger': () => project.server.patch(path(''), { triggerType: 'MANUAL', triggerConfig: {} }),
      're-entry': () => project.server.patch(path(''), { allowReentry: true }),
    }))
      it(`rejects a draft that was read before ${change} was changed live with 409`, async () => {
        const read = await draft();
        expect((await send()).status).to.be.lessThan(300);
        const changed = await whole();
        const answer = await put({ graph: read.graph, expectedRevision: read.revision });
        expect(answer).to.be.envelope(409, 'CONFLICT');
        expect(answer.body.error.details).to.deep.equal(await draft());
        expect(answer.body.error.details.revision).to.be.greaterThan(read.revision);
        expect(await whole()).to.deep.equal(changed);
      });

    it('rejects publishing a draft that was read before a live change with 409', async () => {
      const { body } = await put({ graph: (await draft()).graph, expectedRevision: revision });
      await project.server.patch(path(''), { triggerType: 'MANUAL', triggerConfig: {} });
      expect(await publish({ expectedRevision: body.revision })).to.be.envelope(409, 'CONFLICT');
      expect(await publish({ expectedRevision: (await draft()).revision })).to.have.status(200);
    });

    it('keeps the revision when the workflow is enabled, disabled or renamed', async () => {
      for (const change of [{ enabled: true }, { enabled: false }, { name: 'Another name', description: 'Other' }])
        expect(await project.server.patch(path(''), change)).to.have.status(200);
      const answer = await project.server.patch(path(`/steps/${built.steps.wait}`), { position: { x: 0, y: 0 } });
      expect(answer).to.have.status(200);
      expect((await draft()).revision).to.equal(revision);
    });

    it('is a 404 for another project', async () => {
      const stranger = await api.project();
      for (const method of ['get', 'delete'] as const)
        expect(await stranger.server[method](path())).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
      expect(await stranger.server.put(path(), { graph: lineOf(step()), expectedRevision: revision })).to.have.status(
        404,
      );
    });

    it('shows headers of webhooks and stores them sealed', async () => {
      const headers = { 'x-token': 'secret-token' };
      const graph = lineOf(step('WEBHOOK', { url: 'https://hooks.example/', headers }));
      const { body } = await put({ graph, expectedRevision: revision });
      expect(body.graph.steps[0].config.headers).to.deep.equal(headers);
      expect(await storedDraft(api.db, built.id))
        .to.include('hooks.example')
        .and.not.include('secret-token');
    });
  });

  describe('POST /workflows/:id/publish', () => {
    it('makes the draft the newest version', async () => {
      await enable(project, built.id);
      const { version } = await whole();
      const graph = lineOf({ ...step('DELAY', { amount: 2, unit: 'days' }), id: built.steps.wait ?? '' }, step());
      const answer = await publishGraph(graph, { note: 'Longer' });
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys('workflow', 'version', 'movedCount', 'stayedCount');
      expect(answer.body).to.include({ version: version + 1, movedCount: 0, stayedCount: 0 });
      const now = await whole();
      expect(now).to.include({ version: version + 1, valid: true, enabled: true });
      expect(now.steps.map(({ id }: DraftStep) => id)).to.have.members(graph.steps.map(({ id }) => id));
      expect(now.transitions).to.have.length(1);
      expect(await draft()).to.include({ changed: false, baseVersion: version + 1 });
    });

    it('accepts the ids of a step in two workflows', async () => {
      const first = step('DELAY', { amount: 1, unit: 'days' });
      const last = step();
      const other = await build(project, { steps: {} });
      expect(await publishGraph(lineOf(first, last))).to.have.status(200);
      const saved = await project.server.put(path('/draft', other.id), {
        graph: lineOf(first, last),
        expectedRevision: 0,
      });
      const published = await project.server.post(path('/publish', other.id), {
        expectedRevision: saved.body.revision,
      });
      expect(published).to.have.status(200);
      const change = { name: 'Renamed' };
      expect(await project.server.patch(path(`/steps/${first.id}`, other.id), change)).to.have.status(200);
      expect(await project.server.delete(path(`/steps/${last.id}`, other.id))).to.have.status(204);
      expect((await whole()).steps.map(({ name }: DraftStep) => name)).to.have.members(['DELAY', 'EXIT']);
      expect((await whole()).transitions).to.have.length(1);
    });

    it('rejects an invalid draft with 400 and its faults', async () => {
      const answer = await publishGraph(lineOf(step('DELAY')));
      expect(answer).to.be.envelope(400, 'BAD_REQUEST');
      expect(answer.body.error.details.faults).to.have.length(1);
      expect((await whole()).steps).to.have.length(2);
    });

    it('rejects another revision and a missing draft with 409', async () => {
      expect(await publish({ expectedRevision: revision })).to.be.envelope(409, 'CONFLICT');
      await put({ graph: lineOf(step()), expectedRevision: revision });
      expect(await publish({ expectedRevision: revision })).to.be.envelope(409, 'CONFLICT');
    });

    it('rejects a draft of an older version with 409 until it is rebased, and keeps both changes', async () => {
      const { graph } = await draft();
      const changed = graph.steps.map((one: DraftStep) =>
        one.id === built.steps.wait ? { ...one, config: { amount: 9, unit: 'days' } } : one,
      );
      const { body } = await put({ graph: { ...graph, steps: changed }, expectedRevision: revision });
      await project.server.patch(path(`/steps/${built.steps.out}`), { name: 'The end' });
      expect(await publish({ expectedRevision: body.revision })).to.be.envelope(409, 'CONFLICT');
      const rebased = await project.server.post(path('/draft/rebase'), {});
      expect(rebased).to.have.status(200);
      expect(rebased.body.baseVersion).to.equal((await whole()).version);
      expect(await publish({ expectedRevision: rebased.body.revision })).to.have.status(200);
      const { steps } = await whole();
      const named = Object.fromEntries(
        steps.map(({ name, config }: { name: string; config: object }) => [name, config]),
      );
      expect(named).to.deep.equal({ wait: { amount: 9, unit: 'days' }, 'The end': {} });
    });

    it('publishes trigger and re-entry with the graph', async () => {
      const { graph } = await draft();
      const changes = { triggerType: 'MANUAL', triggerConfig: {}, allowReentry: true };
      const { body } = await put({ graph, expectedRevision: revision, ...changes });
      expect(body).to.deep.include({ ...changes, changed: true });
      expect(await publish({ expectedRevision: body.revision })).to.have.status(200);
      expect(await whole()).to.include({ triggerType: 'MANUAL', allowReentry: true });
    });

    it('counts a template of the draft as missing once it is deleted', async () => {
      const templateId = await makeTemplate(project);
      const { body } = await put({ graph: lineOf(step('SEND_EMAIL', { templateId })), expectedRevision: revision });
      expect(body.valid).to.equal(true);
      expect(await project.server.delete(`/templates/${templateId}`)).to.have.status(204);
      expect((await draft()).faults).to.have.length(1);
      expect(await publish({ expectedRevision: body.revision })).to.have.status(400);
    });
  });

  describe('moving executions', () => {
    const versionsOf = async () => {
      const counts = new Map<number, number>();
      for (const { version } of await storedExecutions(api.db, { workflowId: built.id }))
        counts.set(version, (counts.get(version) ?? 0) + 1);
      return [...counts].sort(([a], [b]) => a - b);
    };

    it('previews and moves those whose step is still there with the same type', async () => {
      await enable(project, built.id);
      const { version } = await whole();
      await insertWaiting(api.db, {
        projectId: project.id,
        workflowId: built.id,
        version,
        stepId: built.steps.wait,
        count: 7,
      });
      const gone = step('DELAY', { amount: 1, unit: 'days' });
      expect(await publishGraph(lineOf(gone, { ...step(), id: built.steps.out ?? '' }))).to.have.status(200);
      await insertWaiting(api.db, {
        projectId: project.id,
        workflowId: built.id,
        version: version + 1,
        stepId: gone.id,
        count: 3,
      });
      const back = lineOf({ ...step('DELAY', { amount: 2, unit: 'days' }), id: built.steps.wait ?? '' }, step());
      const { body } = await put({ graph: back, expectedRevision: (await draft()).revision });
      const preview = await project.server.post(path('/publish/preview'));
      expect(preview).to.have.status(200);
      expect(preview.body).to.deep.equal({
        valid: true,
        faults: [],
        affected: {
          active: 10,
          canMove: 7,
          cannotMove: [{ stepId: gone.id, count: 3, reason: 'the step is not in the new version' }],
          changes: [
            {
              stepId: built.steps.wait,
              count: 7,
              keys: ['amount'],
              effect:
                'the delay is recalculated from the start of the step; if it is over, the execution continues at once',
            },
          ],
        },
      });
      const answer = await publish({ expectedRevision: body.revision, migrate: 'POSSIBLE' });
      expect(answer.body).to.include({ movedCount: 7, stayedCount: 3 });
      expect(await versionsOf()).to.deep.equal([
        [version + 1, 3],
        [version + 2, 7],
      ]);
    });

    it('leaves executions at a step that changes its type', async () => {
      const { version } = await whole();
      await insertWaiting(api.db, {
        projectId: project.id,
        workflowId: built.id,
        version,
        stepId: built.steps.wait,
        count: 2,
      });
      const other = { ...step('WAIT_FOR_EVENT', { eventName: 'bought' }), id: built.steps.wait ?? '' };
      const answer = await publishGraph(lineOf(other, step()), { migrate: 'POSSIBLE' });
      expect(answer.body).to.include({ movedCount: 0, stayedCount: 2 });
    });

    it('finishes an open move in housekeeping', async () => {
      const { version } = await whole();
      const own = { projectId: project.id, workflowId: built.id };
      await insertWaiting(api.db, { ...own, version, stepId: built.steps.wait, count: 2_500 });
      const { graph } = await draft();
      await publishGraph(graph, { migrate: 'NONE' });
      await addMove(api.db, { ...own, version: version + 1 });
      expect(await continueMoves(api.db, testKeys)).to.equal(1);
      expect(await versionsOf()).to.deep.equal([[version + 1, 2_500]]);
      expect((await storedMoves(api.db, own))[0]).to.include({ moved: 2_500 });
      expect(await continueMoves(api.db, testKeys)).to.equal(0);
    });

    it('moves 10,000 waiting executions, none lost', async () => {
      const { version } = await whole();
      await insertWaiting(api.db, {
        projectId: project.id,
        workflowId: built.id,
        version,
        stepId: built.steps.wait,
        count: 10_000,
      });
      const { graph } = await draft();
      const answer = await publishGraph({ ...graph, steps: [...graph.steps] }, { migrate: 'POSSIBLE' });
      expect(answer.body).to.include({ movedCount: 10_000, stayedCount: 0 });
      expect(await versionsOf()).to.deep.equal([[version + 1, 10_000]]);
    });
  });

  describe('versions', () => {
    it('lists published versions with note, author and active executions, and restores one as the draft', async () => {
      const { version } = await whole();
      const first = lineOf(step('DELAY', { amount: 1, unit: 'hours' }), step());
      await publishGraph(first, { note: 'One' });
      const { body } = await put({ graph: lineOf(step()), expectedRevision: (await draft()).revision });
      await project.owner.post(path('/publish'), { expectedRevision: body.revision, note: 'Two' });
      const list = await project.server.get(path('/versions'));
      expect(list.body).to.include({ total: 3, hasMore: false });
      expect(list.body.data[0]).to.have.all.keys('version', 'note', 'publishedAt', 'publishedBy', 'activeExecutions');
      expect(list.body.data.map((row: { version: number; note: string }) => [row.version, row.note])).to.deep.equal([
        [version + 2, 'Two'],
        [version + 1, 'One'],
        [version, null],
      ]);
      expect(list.body.data[0].publishedBy).to.match(/@example\.com$/);
      const page = await project.server.get(path('/versions?limit=2'));
      const rest = await project.server.get(path(`/versions?limit=2&cursor=${page.body.cursor}`));
      expect([page.body.total, rest.body.total]).to.deep.equal([3, 0]);
      expect(rest.body.data.map((row: { version: number }) => row.version)).to.deep.equal([version]);
      const one = await project.server.get(path(`/versions/${version + 1}`));
      expect(one.body.graph.steps.map(({ id }: DraftStep) => id)).to.deep.equal(first.steps.map(({ id }) => id));
      const restored = await project.server.post(path(`/versions/${version + 1}/restore`));
      expect(restored).to.have.status(200);
      expect(restored.body).to.include({ changed: true, baseVersion: version + 2 });
      expect(restored.body.graph.transitions).to.deep.equal(first.transitions);
      expect(await publish({ expectedRevision: restored.body.revision })).to.have.status(200);
      for (const unknown of ['9999', '0', '-1', 'x']) {
        const answer = await project.server.get(path(`/versions/${unknown}`));
        expect(answer).to.be.envelope(404, 'WORKFLOW_NOT_FOUND');
        expect(answer.body.error.message).to.equal('Workflow version not found in this project.');
      }
    });

    it('restores over the draft of someone else only with its revision', async () => {
      const { version } = await whole();
      await publishGraph(lineOf(step()));
      const restore = (body?: object, by = project.server) => by.post(path(`/versions/${version}/restore`), body);
      const read = await draft();
      expect(await restore({ expectedRevision: read.revision - 1 })).to.be.envelope(409, 'CONFLICT');
      const graph = lineOf(step('DELAY', { amount: 3, unit: 'days' }), step());
      const { body: theirs } = await put({ graph, expectedRevision: read.revision }, project.owner);
      for (const body of [undefined, {}, { expectedRevision: read.revision }]) {
        const answer = await restore(body);
        expect(answer).to.be.envelope(409, 'CONFLICT');
        expect(answer.body.error.details).to.deep.equal(theirs);
      }
      expect(await draft()).to.deep.equal(theirs);
      const own = await restore(undefined, project.owner);
      expect(own).to.have.status(200);
      expect(await restore({ expectedRevision: own.body.revision })).to.have.status(200);
      expect(await restore({ expectedRevision: -1 })).to.have.validationError('expectedRevision', 'too_small');
    });

    it('keeps the last 200 published', async () => {
      await addPublishedVersions(api.db, built.id, { from: 1000, to: 1204 });
      await publishGraph(lineOf(step()));
      const { body } = await project.server.get(path('/versions?limit=1'));
      expect(body.total).to.equal(200);
      expect(body.data[0].version).to.equal(1205);
    });
  });
});
