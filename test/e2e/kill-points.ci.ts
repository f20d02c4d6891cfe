// Ends a process at every fault point outside of sending, lets another one continue, and looks at the result.
// docs/reliability.md has the table. `npm run proof -- --only kills` runs this file too.
import { expect } from 'chai';
import { type OtherFaultPoint, otherFaultPoints } from '../../platform/fault-points.ts';
import { client } from '../support/api.ts';
import { type HttpReceiver, type ReceivedRequest, startHttpReceiver } from '../support/http-receiver.ts';
import { type ServiceProcess, spawnWorker, startApi } from '../support/processes.ts';
import { storedMails } from '../support/rows/mails.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { insertWaiting } from '../support/waiting-executions.ts';
import { type Built, build, enable } from '../support/workflow-building.ts';

const ROWS = 1_500;
const WAITING = 2_500;
const KILLED = { code: null, signal: 'SIGKILL' };

interface Ordered {
  email: string;
  eventId: string;
  jobId: string;
}

describe('a crash at a fault point outside of sending', () => {
  let temporal: OwnNamespace;
  let stack: Stack;
  let receiver: HttpReceiver;
  let workflow: Built;
  let number = 0;
  const processes: ServiceProcess[] = [];

  before(async () => {
    temporal = await ownNamespace();
    receiver = await startHttpReceiver();
    stack = await startStack(temporal, { WEBHOOK_ALLOWED_HOSTS: receiver.host, RATE_LIMIT_PER_MINUTE: '0' });
    const { project, server } = stack;
    const api = { ...project, server } as never;
    workflow = await build(api, {
      steps: {
        mark: { type: 'UPDATE_CONTACT', config: { data: { greeted: 'yes' } } },
        call: { type: 'WEBHOOK', config: { url: `${receiver.url}/step`, body: '{{ event.from }}' } },
        out: { type: 'EXIT', config: { reason: 'done' } },
      },
      transitions: [
        ['mark', 'call'],
        ['call', 'out'],
      ],
    });
    await enable(api, workflow.id);
    const endpoint = { url: `${receiver.url}/endpoint`, types: ['event.*'] };
    expect(await server.post('/webhook-endpoints', endpoint)).to.have.status(201);
  });
  afterEach(async () => {
    // In order: activities of a worker that is killed have to time out before the next test gets on.
    await Promise.all(processes.splice(0).map((one) => one.stop()));
  });
  after(async () => {
    await stack?.end();
    await receiver?.stop();
    await temporal?.close();
  });

  const atPoint = (point: OtherFaultPoint) => ({ ...stack.env, EVERPOST_FAULT_POINT: `${point}:1` });
  const startHealthyWorker = async () => void processes.push(await stack.startWorker());
  const dyingApi = async (point: OtherFaultPoint): Promise<ServiceProcess> => {
    const api = await startApi(atPoint(point));
    processes.push(api);
    return api;
  };

  /** Gives workers one of each: an event that starts a workflow and is wanted by an endpoint, and an import. */
  async function order(): Promise<Ordered> {
    const n = ++number;
    const email = `kill${n}@example.com`;
    const browser = client(stack.api.url, { authorization: `Bearer ${stack.project.publicKey}` });
    const tracked = await browser.post('/v1/track', { email, event: 'signed up', data: { from: email } });
    expect(tracked).to.have.status(200);
    const rows = Array.from({ length: ROWS }, (_, row) => `kill${n}-${row}@example.com`);
    const form = new FormData();
    form.set('file', new Blob([`email\n${rows.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
    const { jobId } = (await stack.server.post('/contacts/import', form)).body;
    return { email, eventId: tracked.body.data.event, jobId };
  }

  /** Reads what a process stored before it died: a call whose result was not stored is repeated. */
  async function readStored({ email, eventId }: Ordered) {
    const { db } = stack.database;
    const { rows } = await db.raw(
      `select exists (select 1 from execution_steps s join executions x on x.id = s.execution_id
                      join contacts c on c.id = x.contact_id
                      where c.email = ? and s.type = 'WEBHOOK' and s.status = 'COMPLETED') as step,
              exists (select 1 from webhook_deliveries where event_id = ? and status = 'DELIVERED') as delivery`,
      [email, eventId],
    );
    return rows[0] as { step: boolean; delivery: boolean };
  }

  /** Checks the calls of a step or a delivery: one id, and a second call only if the result of the first was lost. */
  function expectCalls(calls: ReceivedRequest[], id: string, { stored, lost }: { stored: boolean; lost: boolean }) {
    const ids = calls.map(({ headers }) => headers['webhook-id']);
    expect(ids).to.have.lengthOf.within(lost ? 2 : 1, stored ? 1 : 2);
    expect(new Set(ids)).to.deep.equal(new Set([id]));
  }

  async function expectDone(ordered: Ordered, point: OtherFaultPoint, stored: { step: boolean; delivery: boolean }) {
    const { email, eventId, jobId } = ordered;
    const { db } = stack.database;
    const readExecutions = async () =>
      (await db('executions').join('contacts', 'contacts.id', 'executions.contactId').where({ email })).length;
    const ended = async () => {
      const { rows } = await db.raw(
        `select x.id from executions x join contacts c on c.id = x.contact_id where c.email = ? and x.status = 'EXITED'`,
        [email],
      );
      return rows[0]?.id as string | undefined;
    };
    const executionId = await eventually(ended, { what: 'the end of the execution' });
    expect(await readExecutions()).to.equal(1);
    const steps = await db('executionSteps').where({ executionId }).orderBy('visit');
    expect(steps.map(({ type, status, attempt }) => ({ type, status, attempt }))).to.deep.equal(
      ['UPDATE_CONTACT', 'WEBHOOK', 'EXIT'].map((type) => ({ type, status: 'COMPLETED', attempt: 1 })),
    );
    const stepCalls = receiver.requests.filter((call) => call.path === '/step' && call.body === email);
    expectCalls(stepCalls, steps[1]?.id, { stored: stored.step, lost: point === 'step-webhook-called' });

    const delivered = () => db('webhookDeliveries').where({ eventId, status: 'DELIVERED' }).first('id');
    await eventually(delivered, { what: 'the delivery' });
    expect(await db('webhookDeliveries').where({ eventId })).to.have.length(1);
    const calls = receiver.requests.filter(({ headers }) => headers['webhook-id'] === eventId);
    expectCalls(calls, eventId, { stored: stored.delivery, lost: point === 'delivery-called' });

    const job = async () => (await stack.server.get(`/contacts/import/${jobId}`)).body;
    await eventually(async () => (await job()).status === 'COMPLETED', { what: 'the import' });
    expect((await job()).result).to.deep.include({ totalRows: ROWS, created: ROWS, updated: 0, failed: 0 });
    await eventually(async () => (await db('outbox')).length === 0, { what: 'an empty outbox' });
    expect(await db('eventQueue')).to.deep.equal([]);
  }

  for (const point of ['accept-before', 'accept-after'] as const)
    it(`${point}: a request that is repeated with its key is one mail`, async () => {
      const { db } = stack.database;
      const to = `${point}@example.com`;
      const body = { to, from: `shop@${stack.project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' };
      const withoutKey = `without-${to}`;
      const withKey = `with-${to}`;
      const key = { authorization: `Bearer ${stack.project.secretKey}` };
      for (const [recipient, headers] of [
        [withoutKey, {}],
        [withKey, { 'idempotency-key': point }],
      ] as const) {
        const api = await dyingApi(point);
        const answer = await client(api.url, key)
          .post('/v1/send', { ...body, to: recipient }, headers)
          .catch(() => undefined);
        expect(answer).to.equal(undefined);
        expect(await api.exited).to.deep.equal(KILLED);
      }
      // Postgres needs a moment to notice the crash; until then the key's request is still in progress.
      const repeat = async () => {
        const answer = await stack.server.post('/v1/send', { ...body, to: withKey }, { 'idempotency-key': point });
        if (answer.status === 409 && answer.body.error.details.originalRequest === null) return undefined;
        return answer;
      };
      const repeated = await eventually(repeat, { what: 'an answer to the repeated request' });
      expect(repeated).to.have.status(200);
      await startHealthyWorker();
      await stack.smtp.received(1, { to: withKey });
      const isQuiet = async () => (await storedMails(db, { status: 'PENDING' })).length === 0;
      await eventually(isQuiet, { what: 'no pending mail' });
      expect(stack.smtp.mailsTo(withKey)).to.have.length(1);
      expect(stack.smtp.mailsTo(withoutKey)).to.have.length(point === 'accept-after' ? 1 : 0);
    });

  for (const point of ['publish-committed', 'publish-set-moved'] as const)
    it(`${point}: housekeeping moves every execution once`, async () => {
      const { server, project } = stack;
      const { db } = stack.database;
      const { id } = (await server.post('/workflows', { name: point, eventName: point })).body;
      const rest = { type: 'DELAY', name: 'Rest', config: { amount: 1, unit: 'days' } };
      const stepId = (await server.post(`/workflows/${id}/steps`, rest)).body.id;
      const { version } = (await server.get(`/workflows/${id}`)).body;
      await insertWaiting(db, { projectId: project.id, workflowId: id, version, stepId, count: WAITING });
      const { graph, revision } = (await server.get(`/workflows/${id}/draft`)).body;
      const saved = await server.put(`/workflows/${id}/draft`, { graph, expectedRevision: revision });
      const api = await dyingApi(point);
      const answer = await client(api.url, { authorization: `Bearer ${project.secretKey}` })
        .post(`/workflows/${id}/publish`, { expectedRevision: saved.body.revision, migrate: 'POSSIBLE' })
        .catch(() => undefined);
      expect(answer).to.equal(undefined);
      expect(await api.exited).to.deep.equal(KILLED);
      await startHealthyWorker();
      const finished = async () =>
        (await db('workflowMoves').where({ workflowId: id }).first('finishedAt', 'moved')) ?? {};
      await eventually(async () => Boolean((await finished()).finishedAt), { what: 'the end of the move' });
      expect((await finished()).moved).to.equal(WAITING);
      const versions = await db('executions').where({ workflowId: id }).distinct('version');
      expect(versions).to.deep.equal([{ version: version + 1 }]);
      await db('executions').where({ workflowId: id }).del();
    });

  // Last: the activities of a worker that dies have to time out before the next one gets them.
  for (const point of otherFaultPoints.filter((name) => /^(relay|match|step|job|delivery)-/.test(name)))
    it(`${point}: another worker does the rest, once`, async () => {
      const ordered = await order();
      const dying = await spawnWorker(atPoint(point));
      processes.push(dying);
      expect(await dying.exited, dying.logs()).to.deep.equal(KILLED);
      const stored = await readStored(ordered);
      await startHealthyWorker();
      await expectDone(ordered, point, stored);
    });
});
