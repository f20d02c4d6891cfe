import { expect } from 'chai';
import { pendingWebhook, resolveWebhook } from '../../services/workflows/webhook-step.ts';
import { type ApiProject, startTestApi, type TestApi } from '../support/api.ts';
import { advanceUntilItWaits } from '../support/executions.ts';
import { testKeys } from '../support/keys.ts';
import { outboxMessagesTo } from '../support/rows/outbox.ts';
import { setVisits, storedExecutions, storedVisits } from '../support/rows/workflows.ts';
import { insertWaiting } from '../support/waiting-executions.ts';
import { type Built, build, enable } from '../support/workflow-building.ts';

const HOUR = 3_600_000;
const out = { type: 'EXIT', config: { reason: 'done' } };
const days = (amount: number) => ({ type: 'DELAY', config: { amount, unit: 'days' } });
const ago = (ms: number) => new Date(Date.now() - ms);

/** An execution in the step `at`, which it has entered two days ago. */
interface Visiting {
  built: Built;
  id: string;
  email: string;
}

describe('executions that move to another version', () => {
  let api: TestApi;
  let project: ApiProject;
  let people = 0;

  before(async () => {
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '0' } });
    project = await api.project();
  });
  after(() => api.stop());

  const started = async (built: Built, email = `moved${++people}@example.com`): Promise<string> => {
    await project.server.post('/contacts', { email });
    const answer = await project.server.post(`/workflows/${built.id}/executions`, { email });
    expect(answer).to.have.status(201);
    await advanceUntilItWaits(api.db, answer.body.id);
    return answer.body.id;
  };
  const visiting = async (at: { type: string; config: object }): Promise<Visiting> => {
    const built = await build(project, { steps: { at, out }, transitions: [['at', 'out']] });
    await enable(project, built.id);
    const email = `moved${++people}@example.com`;
    const id = await started(built, email);
    await setVisits(api.db, { executionId: id }, { startedAt: ago(48 * HOUR) });
    return { built, id, email };
  };
  const saveDraft = async ({ id, steps }: Built, step: object) => {
    const { graph, revision } = (await project.server.get(`/workflows/${id}/draft`)).body;
    for (const one of graph.steps) if (one.id === steps.at) Object.assign(one, step);
    const saved = await project.server.put(`/workflows/${id}/draft`, { graph, expectedRevision: revision });
    expect(saved).to.have.status(200);
    return saved.body.revision;
  };
  /** Publishes the workflow with the step `at` changed, and moves executions. */
  const publish = async (built: Built, step: object, migrate = 'POSSIBLE') => {
    const expectedRevision = await saveDraft(built, step);
    const answer = await project.server.post(`/workflows/${built.id}/publish`, { expectedRevision, migrate });
    expect(answer).to.have.status(200);
    return answer.body;
  };
  const migrate = async ({ id }: Built) => (await project.server.post(`/workflows/${id}/executions/migrate`)).body;
  const advance = (id: string) => advanceUntilItWaits(api.db, id);
  const stored = async (id: string) => storedExecutions(api.db, { id }).first();
  const signals = async (id: string) =>
    (await outboxMessagesTo(api.db, id)).filter(({ action }) => action === 'signal').length;

  it('count a changed delay from the start of the step', async () => {
    const { built, id } = await visiting(days(5));
    expect(await publish(built, { config: { amount: 3, unit: 'days' } })).to.include({ movedCount: 1 });
    expect(await signals(id)).to.equal(1);
    const until = Date.now() + 24 * HOUR;
    const next = await advance(id);
    expect(next).to.include({ kind: 'rest' });
    expect((await stored(id)).wakeAt.getTime()).to.be.closeTo(until, HOUR);
    expect((await storedVisits(api.db, { executionId: id }))[0].scheduledFor.getTime()).to.be.closeTo(until, HOUR);
  });

  it('leave a delay at once that is over by the new config', async () => {
    const { built, id } = await visiting(days(5));
    await publish(built, { config: { amount: 1, unit: 'days' } });
    expect(await advance(id)).to.deep.equal({ kind: 'end', status: 'EXITED' });
  });

  it('fail at a delay whose new date the contact does not have', async () => {
    const { built, id } = await visiting(days(5));
    await publish(built, { config: { until: 'data.birthday' } });
    expect(await advance(id)).to.deep.equal({ kind: 'end', status: 'FAILED' });
    expect((await stored(id)).error).to.equal('the contact has no date in data.birthday');
  });

  it('wait for the new event, also one that came before the move, and not for the old one', async () => {
    const wait = (eventName: string) => ({ type: 'WAIT_FOR_EVENT', config: { eventName } });
    const one = await visiting(wait('opened'));
    const two = await visiting(wait('opened'));
    const track = (email: string, event: string) =>
      project.browser.post('/v1/track', { email, event, data: { by: event } });
    await track(one.email, 'bought');
    for (const { built } of [one, two]) await publish(built, wait('bought'));
    expect(await advance(one.id)).to.include({ kind: 'end', status: 'EXITED' });
    expect((await stored(one.id)).context).to.include({ by: 'bought' });
    expect(await advance(two.id)).to.include({ kind: 'rest', event: 'bought' });
    await track(two.email, 'opened');
    expect(await advance(two.id)).to.include({ kind: 'rest', event: 'bought' });
    await track(two.email, 'bought');
    expect(await advance(two.id)).to.include({ kind: 'end', status: 'EXITED' });
  });

  it('count a changed time-out from the start of the step, and drop one that is gone', async () => {
    const wait = (timeout?: object) => ({ type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout } });
    const over = await visiting(wait());
    const open = await visiting(wait({ amount: 5, unit: 'days' }));
    await publish(over.built, wait({ amount: 1, unit: 'days' }));
    await advance(over.id);
    await advance(over.id);
    expect((await storedVisits(api.db, { executionId: over.id }))[0]).to.include({ branch: 'timeout' });
    await publish(open.built, wait());
    expect(await advance(open.id)).to.deep.include({ kind: 'rest', until: undefined });
    expect((await stored(open.id)).wakeAt).to.equal(null);
    expect((await storedVisits(api.db, { executionId: open.id }))[0].scheduledFor).to.equal(null);
  });

  it('leave a time window at once that was open since the start of the step', async () => {
    const week = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];
    // A window of the past hour: it opens again tomorrow.
    const hour = (offset: number) => new Date(Date.now() + offset * HOUR).toISOString().slice(11, 16);
    const window = (from: string, to: string) => ({ type: 'TIME_WINDOW', config: { days: week, from, to } });
    const { built, id } = await visiting(window(hour(-2), hour(-1)));
    await publish(built, window(hour(-3), hour(3)));
    expect(await advance(id)).to.include({ kind: 'end', status: 'EXITED' });
  });

  it('call a changed webhook at the next attempt', async () => {
    const hook = (url: string) => ({ type: 'WEBHOOK', config: { url, method: 'PUT' } });
    const { built, id } = await visiting(hook('https://broken.example/'));
    const { generation, visit } = await stored(id);
    const ref = { executionId: id, generation };
    const pending = () => pendingWebhook(api.db, testKeys, ref, visit);
    const before = await pending();
    expect(before?.request.url).to.equal('https://broken.example/');
    await resolveWebhook(api.db, ref, visit, { kind: 'retry', reason: 'The endpoint responded with 503.' });
    await publish(built, hook('https://repaired.example/'));
    expect(await pending()).to.equal(undefined);
    expect(await advance(id)).to.deep.equal({ kind: 'webhook', visit });
    const after = await pending();
    expect(after?.request.url).to.equal('https://repaired.example/');
    expect(after?.id).to.equal(before?.id);
  });

  it('keep their wake-up time, and are not woken, where the step has not changed', async () => {
    const { built, id } = await visiting(days(5));
    const before = await stored(id);
    expect(await publish(built, { name: 'Another name' })).to.include({ movedCount: 1 });
    const { status, wakeAt } = await stored(id);
    expect({ status, wakeAt }).to.deep.equal({ status: before.status, wakeAt: before.wakeAt });
    expect(await signals(id)).to.equal(0);
  });

  it('take the new config by POST /workflows/:id/executions/migrate too', async () => {
    const { built, id } = await visiting(days(5));
    await project.server.patch(`/workflows/${built.id}/steps/${built.steps.at}`, { config: days(1).config });
    expect(await migrate(built)).to.deep.include({ moved: [id], movedCount: 1, stayedCount: 0 });
    expect(await signals(id)).to.equal(1);
    expect(await advance(id)).to.include({ kind: 'end', status: 'EXITED' });
  });

  it('stay at a step that has another type, by either door', async () => {
    const { built, id } = await visiting(days(5));
    const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } };
    expect(await publish(built, wait)).to.include({ movedCount: 0, stayedCount: 1 });
    expect(await migrate(built)).to.deep.equal({
      moved: [],
      movedCount: 0,
      stayedCount: 1,
      stayed: [{ id, reason: 'the step is a WAIT_FOR_EVENT in the new version, not a DELAY' }],
    });
    expect(await stored(id)).to.include({ status: 'WAITING', awaitedEvent: null });
  });

  it('are previewed with what changes for how many', async () => {
    const { built } = await visiting(days(5));
    await started(built);
    const preview = async () => (await project.server.post(`/workflows/${built.id}/publish/preview`)).body.affected;
    expect(await preview()).to.deep.equal({ active: 2, canMove: 2, cannotMove: [], changes: [] });
    await saveDraft(built, { config: { amount: 5, unit: 'hours' } });
    const { changes } = await preview();
    expect(changes).to.have.length(1);
    expect(changes[0]).to.deep.include({ stepId: built.steps.at, count: 2, keys: ['unit'] });
    expect(changes[0].effect).to.include('recalculated from the start of the step');
  });

  it('see headers that are saved again as unchanged', async () => {
    const headers = { 'x-token': 'secret' };
    const built = await build(project, {
      steps: { at: { type: 'WEBHOOK', config: { url: 'https://hooks.example/', headers } }, out },
      transitions: [['at', 'out']],
    });
    const { version } = (await project.server.get(`/workflows/${built.id}`)).body;
    const own = { projectId: project.id, workflowId: built.id };
    await insertWaiting(api.db, { ...own, version, stepId: built.steps.at, count: 1 });
    await saveDraft(built, { name: 'Renamed' });
    const preview = await project.server.post(`/workflows/${built.id}/publish/preview`);
    expect(preview.body.affected).to.deep.include({ canMove: 1, changes: [] });
    await saveDraft(built, { config: { url: 'https://hooks.example/', headers: { 'x-token': 'other' } } });
    const changed = await project.server.post(`/workflows/${built.id}/publish/preview`);
    expect(changed.body.affected.changes[0]).to.deep.include({ keys: ['headers'] });
    expect(JSON.stringify(changed.body)).to.not.include('other');
  });
});
