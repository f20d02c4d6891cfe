import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { productVersion } from '../../platform/version.ts';
import { type Person, person } from '../support/accounts.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { changeProject, readAudit } from '../support/reading.ts';
import { promoteToOperator } from '../support/rows/accounts.ts';
import { addMailRows, removeMails } from '../support/rows/mails.ts';
import { addOutboxMessage, emptyOutbox, outboxMessages, parkOutboxMessage } from '../support/rows/outbox.ts';
import { addProcess, runningProcesses } from '../support/rows/processes.ts';
import { addActivityHour, idsOfProjects } from '../support/rows/projects.ts';
import { queueWebhook } from '../support/rows/webhooks.ts';
import { eventually } from '../support/waiting.ts';

describe('operators', () => {
  let api: TestApi;
  let operator: Person;

  before(async () => {
    api = await startTestApi();
    operator = await person(api);
    await promoteToOperator(api.db, operator.id);
  });
  after(() => api.stop());

  const park = async (projectId: string): Promise<string> => {
    const message = { queue: 'control', projectId, workflowId: `campaign/${newId()}`, action: 'signal', attempts: 10 };
    return parkOutboxMessage(api.db, message);
  };

  it('are shown as such by GET /users/@me', async () => {
    expect((await operator.get('/users/@me')).body).to.include({ operator: true });
    expect((await (await person(api)).get('/users/@me')).body).to.include({ operator: false });
  });

  describe('GET /operator/overview', () => {
    it('shows queues, overdue mail, unknown outcomes, parked messages, endpoints, versions and Temporal', async () => {
      const project = await api.project();
      await removeMails(api.db);
      const mail = { contactId: newId(), projectId: project.id };
      const dueAt = new Date(Date.now() - 90_000);
      await addMailRows(api.db, [
        { id: newId(), ...mail, dueAt },
        { id: newId(), ...mail, status: 'UNKNOWN' },
        { id: newId(), ...mail, status: 'SENT' },
      ]);
      await emptyOutbox(api.db);
      await addOutboxMessage(api.db, { queue: 'starts', projectId: project.id, workflowId: 'job/1', action: 'start' });
      const parked = await park(project.id);
      const queued = { projectId: project.id, eventId: newId(), eventCreatedAt: new Date(Date.now() - 60_000) };
      await queueWebhook(api.db, queued);
      await eventually(async () => (await runningProcesses(api.db)).length > 0, { what: 'the first heartbeat' });
      const stuck = { workflowId: 'execution/p/e/1', workflowType: 'execution', failure: 'Nondeterminism error' };
      await api.db('stuckWorkflows').insert({ runId: 'run', ...stuck, failures: 3 });
      const { status, body } = await operator.get('/operator/overview');
      const answeredAt = Date.now();
      const secondsSince = (time: number) => Math.ceil((answeredAt - time) / 1_000);
      expect(status).to.equal(200);
      expect(body.stuckWorkflows.count).to.equal(1);
      expect(body.stuckWorkflows.workflows[0]).to.include({ runId: 'run', ...stuck, attempts: 3 });
      const queues = Object.fromEntries(body.queues.map((queue: { name: string }) => [queue.name, queue]));
      expect(queues.mail.depth).to.equal(1);
      expect(queues.mail.oldestSeconds).to.be.within(89, secondsSince(dueAt.getTime()));
      expect(queues['outbox/starts'].depth).to.equal(1);
      expect(queues['outbox/control']).to.deep.include({ depth: 0, oldestSeconds: 0 });
      expect(queues).to.include.keys('events', 'notices');
      expect(queues.webhooks.depth).to.equal(1);
      expect(queues.webhooks.oldestSeconds).to.be.within(59, secondsSince(queued.eventCreatedAt.getTime()));
      expect(body.oldestDueMail.ageSeconds).to.be.within(89, secondsSince(dueAt.getTime()));
      // Computed from the age, which the database read before the answer was made.
      expect(new Date(body.oldestDueMail.dueAt).getTime()).to.be.within(dueAt.getTime() - 1_000, answeredAt - 89_000);
      expect(body.unknownOutcomes).to.equal(1);
      expect(body.parkedOutbox.count).to.equal(1);
      expect(body.parkedOutbox.messages[0]).to.include({
        id: parked,
        projectId: project.id,
        queue: 'control',
        attempts: 10,
        lastError: 'no such signal',
      });
      expect(body.failingEndpoints).to.be.an('array');
      expect(body.versions).to.deep.equal([{ kind: 'api', version: productVersion, processes: 1 }]);
      expect(body.processes[0]).to.include({ kind: 'api', version: productVersion, pid: process.pid });
      expect(body.temporal).to.deep.equal({ status: 'ok', uiUrl: null });
    });

    it('shows a process until it stops, and not as a living version when it has not been seen', async () => {
      const database = { db: api.db, url: api.databaseUrl, close: async () => {} };
      const env = { TEMPORAL_UI_URL: 'https://temporal.example/', TEMPORAL_NAMESPACE: 'shop mail' };
      const other = await startTestApi({ database, env, checkTemporal: async () => false });
      await eventually(async () => (await runningProcesses(api.db)).length === 2, { what: 'the second heartbeat' });
      const lost = { id: newId(), kind: 'worker', version: '0.0.1', host: 'gone', pid: 1 };
      await addProcess(api.db, { ...lost, seenAt: new Date(Date.now() - 10 * 60_000) });
      const { body } = await other.get('/operator/overview', { cookie: operator.cookie });
      const uiUrl = 'https://temporal.example/namespaces/shop%20mail';
      expect(body.temporal).to.deep.equal({ status: 'degraded', uiUrl });
      expect(body.versions).to.deep.equal([{ kind: 'api', version: productVersion, processes: 2 }]);
      expect(body.processes.map(({ version }: { version: string }) => version)).to.include('0.0.1');
      await other.stop();
      const { body: later } = await operator.get('/operator/overview');
      expect(later.processes.filter(({ kind }: { kind: string }) => kind === 'api')).to.have.length(1);
    });
  });

  describe('GET /operator/projects', () => {
    it('lists all projects with volume, rates and state, the newest first', async () => {
      const project = await api.project();
      const hour = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000);
      const counts = { sent: 200, delivered: 180, opened: 0, clicked: 0, bounced: 30, complained: 0 };

      for (const at of [hour, new Date(hour.getTime() - 10 * 86_400_000)])
        await addActivityHour(api.db, project.id, at, counts);
      const { status, body } = await operator.get('/operator/projects?limit=2');
      expect(status).to.equal(200);
      expect(body).to.have.all.keys('data', 'cursor', 'hasMore', 'total');
      const [first] = body.data;
      expect(first).to.deep.include({ id: project.id, disabled: false, disabledReason: null, members: 1 });
      expect(first.volume).to.deep.equal({ last24h: 200, last7d: 200, last30d: 400 });
      expect(first.rates.last7d).to.include({ bounceRate: 0.15, bounceLevel: 'critical', level: 'critical' });
    });

    it('pages without gaps, and leaves out the system project and deleted ones', async () => {
      const deleted = await api.project();
      expect(await deleted.owner.delete(`/users/@me/projects/${deleted.id}`)).to.have.status(204);
      for (let n = 0; n < 3; n++) await api.project();
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
        const { body } = await operator.get(`/operator/projects?limit=2${query}`);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        cursor = body.cursor;
      }
      const expected = await idsOfProjects(api.db);
      expect(seen.toSorted()).to.deep.equal(expected.sort());
      expect((await operator.get('/operator/projects')).body.total).to.equal(expected.length);
      expect(await operator.get('/operator/projects?cursor=forged')).to.be.envelope(400, 'BAD_REQUEST');
    });

    it('finds a project by part of its name, by id and by the address of a member', async () => {
      const project = await api.project();
      const member = await person(api, { project: project.id, role: 'VIEWER' });
      await changeProject(project, { name: 'Blue 100% Shop' });
      for (const search of ['blue 100%', project.id, member.email.toUpperCase()]) {
        const { body } = await operator.get(`/operator/projects?search=${encodeURIComponent(search)}`);
        expect(
          body.data.map(({ id }: { id: string }) => id),
          search,
        ).to.deep.equal([project.id]);
        expect(body.total).to.equal(1);
      }
      expect((await operator.get('/operator/projects?search=nothing-like-it')).body.data).to.deep.equal([]);
    });
  });

  it('disable and enable a project, at once and on record', async () => {
    const project = await api.project();
    const path = `/operator/projects/${project.id}`;
    expect(await operator.post(`${path}/disable`, {})).to.have.validationError('reason', 'required');
    const disabled = await operator.post(`${path}/disable`, { reason: 'spam' });
    expect(disabled).to.have.status(200);
    expect(disabled.body).to.include({ id: project.id, disabled: true, disabledReason: 'spam' });
    expect(await project.server.post('/contacts', { email: 'a@b.co' })).to.be.envelope(403, 'PROJECT_DISABLED');
    const enabled = await operator.post(`${path}/enable`);
    expect(enabled.body).to.include({ disabled: false, disabledReason: null });
    expect(await project.server.post('/contacts', { email: 'a@b.co' })).to.have.status(201);
    const acts = (await readAudit(project)).filter(({ actor }) => actor.id === operator.id);
    expect(acts.map(({ action }) => action)).to.deep.equal(['project.disabled', 'project.enabled']);
    for (const act of ['disable', 'enable'])
      expect(await operator.post(`/operator/projects/${newId()}/${act}`, { reason: 'x' })).to.be.envelope(
        404,
        'RESOURCE_NOT_FOUND',
      );
  });

  it('retry a parked message of the outbox, on record', async () => {
    const project = await api.project();
    const id = await park(project.id);
    expect(await operator.post(`/operator/outbox/${id}/retry`)).to.have.status(200);
    expect(await outboxMessages(api.db, { id }).first()).to.include({ parkedAt: null, attempts: 0 });
    const [act] = await readAudit(project, 'outbox.retried');
    expect([act.actor.id, act.target.id]).to.deep.equal([operator.id, id]);
    for (const other of [id, '999999999', 'x', '-1'])
      expect(await operator.post(`/operator/outbox/${other}/retry`), other).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
  });
});
