import { expect } from 'chai';
import type { Execution } from '../../db/models/execution.ts';
import { createTemporal, type Temporal } from '../../temporal/connection.ts';
import { client } from '../support/api.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { storedMails } from '../support/rows/mails.ts';
import { setExecutions, storedExecutions } from '../support/rows/workflows.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type OwnDevServer, ownDevServer } from '../support/temporal.ts';
import { temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { build } from '../support/workflow-building.ts';

const CONTACTS = 8;

describe('executions while processes are killed', function () {
  this.timeout(400_000);
  let dev: OwnDevServer;
  let temporal: Temporal;
  let stack: Stack;
  let receiver: HttpReceiver;
  let worker: ServiceProcess;

  before(async () => {
    dev = await ownDevServer();
    temporal = createTemporal(temporalSettings(dev.address));
    receiver = await startHttpReceiver();
    stack = await startStack({ address: dev.address, namespace: 'default' }, { WEBHOOK_ALLOWED_HOSTS: receiver.host });
    worker = await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await receiver?.stop();
    await temporal?.close();
    await dev?.kill();
  });

  const restartWorker = async () => {
    await worker.kill();
    worker = await stack.startWorker();
  };
  const executions = (workflowId: string) => storedExecutions(stack.database.db, { workflowId });
  const reached = (workflowId: string, test: (row: Execution) => boolean, what: string) =>
    eventually(
      async () => {
        const rows: Execution[] = await executions(workflowId);
        return rows.length === CONTACTS && rows.every(test);
      },
      { what },
    );
  const emails = Array.from({ length: CONTACTS }, (_, n) => `person${n}@example.com`);
  const track = async (event: string) => {
    const api = client(stack.api.url, { authorization: `Bearer ${stack.project.publicKey}` });
    for (const email of emails) expect(await api.post('/v1/track', { email, event })).to.have.status(200);
  };

  it('take each step once while workers and Temporal are killed between steps', async () => {
    const { server, project, database } = stack;
    const template = await server.post('/templates', {
      name: 'Hello',
      subject: 'Hello',
      body: '<p>Hello</p>',
      type: 'TRANSACTIONAL',
      from: `hello@${project.senderDomain}`,
    });
    const { id } = await build({ ...project, server } as never, {
      steps: {
        change: { type: 'UPDATE_CONTACT', config: { data: { seen: true } } },
        first: { type: 'SEND_EMAIL', config: { templateId: template.body.id } },
        rest: { type: 'DELAY', config: { amount: 2, unit: 'seconds' } },
        call: { type: 'WEBHOOK', config: { url: `${receiver.url}/hook` } },
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought' } },
        second: { type: 'SEND_EMAIL', config: { templateId: template.body.id } },
        out: { type: 'EXIT', config: { reason: 'done' } },
      },
      transitions: [
        ['change', 'first'],
        ['first', 'rest'],
        ['rest', 'call'],
        ['call', 'wait'],
        ['wait', 'second'],
        ['second', 'out'],
      ],
    });
    expect(await server.patch(`/workflows/${id}`, { enabled: true })).to.have.status(200);

    await track('signed up');
    // During the first steps of some executions.
    await eventually(async () => (await executions(id)).some(({ visit }) => visit > 1));
    await restartWorker();
    // During the webhooks of some.
    await receiver.received(1);
    await restartWorker();
    await reached(id, ({ status, visit }) => status === 'WAITING' && visit === 5, 'all waiting for the event');

    // While Temporal is unavailable, events are recorded and a cancellation is final.
    await dev.stop();
    await track('bought');
    const [unlucky] = await executions(id).orderBy('id');
    const cancelled = await server.delete(`/workflows/${id}/executions/${unlucky.id}`);
    expect(cancelled).to.have.status(200);
    expect(cancelled.body).to.include({ status: 'CANCELLED' });
    await dev.start();
    await reached(id, ({ status }) => status === 'EXITED' || status === 'CANCELLED', 'the end of all');

    const { rows } = await database.db.raw(
      `select s.name, count(*)::integer as visits, count(distinct s.execution_id)::integer as executions
       from execution_steps s join executions e on e.id = s.execution_id
       where e.workflow_id = ? and s.status = 'COMPLETED' and e.status = 'EXITED' group by s.name order by min(s.visit)`,
      [id],
    );
    const each = { visits: CONTACTS - 1, executions: CONTACTS - 1 };
    expect(rows).to.deep.equal(
      ['change', 'first', 'rest', 'call', 'wait', 'second', 'out'].map((name) => ({ name, ...each })),
    );
    const mails = await storedMails(database.db, { workflowId: id });
    expect(mails).to.have.length(2 * CONTACTS - 1);
    // A call during which a worker died may be repeated, with the same id.
    const calls = receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(calls).size).to.equal(CONTACTS);
    await eventually(
      async () => (await storedMails(database.db, { workflowId: id, status: 'SENT' })).length === mails.length,
    );
    const query = 'WorkflowType = "execution" AND ExecutionStatus = "Running"';
    await eventually(async () => (await temporal.client.workflow.count(query)).count === 0, {
      what: 'the end of all Temporal workflows',
    });
  });

  it('are restarted by the reconciler when their Temporal workflows are lost', async () => {
    const { server, project, database } = stack;
    const { id } = await build(
      { ...project, server } as never,
      { steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'returned' } } } },
      { name: 'Lost', eventName: 'lost' },
    );
    await server.patch(`/workflows/${id}`, { enabled: true });
    await track('lost');
    await reached(id, ({ status }) => status === 'WAITING', 'all waiting');
    const open = async (): Promise<string[]> => {
      const ids: string[] = [];
      const query = 'WorkflowType = "execution" AND ExecutionStatus = "Running"';
      for await (const { workflowId } of temporal.client.workflow.list({ query })) ids.push(workflowId);
      return ids;
    };
    const ids = await eventually(async () => ((await open()).length === CONTACTS ? open() : undefined));
    for (const workflowId of ids) await temporal.client.workflow.getHandle(workflowId).terminate('by hand');
    await eventually(async () => (await open()).length === 0);
    await setExecutions(database.db, { workflowId: id }, { updatedAt: new Date(Date.now() - 600_000) });

    await temporal.client.schedule.getHandle('reconciler').trigger();
    await reached(id, ({ generation }) => generation === 2, 'a new generation of all');
    await track('returned');
    await reached(id, ({ status }) => status === 'COMPLETED', 'the end of all');
  });

  it('start on a Temporal Schedule that follows their workflow', async () => {
    const { server, project } = stack;
    const { id } = await build(
      { ...project, server } as never,
      { steps: { out: { type: 'EXIT', config: { reason: 'ticked' } } } },
      { name: 'Daily' },
    );
    const patch = (change: object) => server.patch(`/workflows/${id}`, change);
    expect(
      await patch({ triggerType: 'SCHEDULE', triggerConfig: { cron: '0 4 1 1 *', timezone: 'Europe/Berlin' } }),
    ).to.have.status(200);
    expect(await patch({ enabled: true })).to.have.status(200);
    const handle = temporal.client.schedule.getHandle(`cron/${project.id}/${id}`);
    const described = () => handle.describe().catch(() => undefined);
    await eventually(async () => (await described())?.state.paused === false, { what: 'the Schedule' });
    await handle.trigger();
    await reached(id, ({ status }) => status === 'EXITED', 'all contacts through');
    await patch({ enabled: false });
    await eventually(async () => (await described())?.state.paused === true, { what: 'the pause' });
    expect(await server.delete(`/workflows/${id}`)).to.have.status(204);
    await eventually(async () => (await described()) === undefined, { what: 'the end of the Schedule' });
  });
});
