import { expect } from 'chai';
import { client } from '../support/api.ts';
import { makeProject, type TestProject } from '../support/connected-database.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { storedDeliveries } from '../support/rows/webhooks.ts';
import { storedVisits } from '../support/rows/workflows.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

describe('calls to receivers that hang', function () {
  this.timeout(400_000);
  let temporal: OwnNamespace;
  let receiver: HttpReceiver;
  let stack: Stack;

  beforeEach(async () => {
    temporal = await ownNamespace();
    receiver = await startHttpReceiver();
    stack = await startStack(temporal, { WEBHOOK_ALLOWED_HOSTS: receiver.host, RATE_LIMIT_PER_MINUTE: '0' });
    receiver.answer({ instead: 'hang' }, '/slow');
    await stack.startWorker();
  });
  afterEach(async () => {
    await stack?.end();
    await receiver?.stop();
    await temporal?.close();
  });

  const serverOf = ({ secretKey }: TestProject) => client(stack.api.url, { authorization: `Bearer ${secretKey}` });
  const at = (path: string) => receiver.requests.filter((request) => request.path === path).length;
  const track = async ({ publicKey }: TestProject, person: number) => {
    const browser = client(stack.api.url, { authorization: `Bearer ${publicKey}` });
    expect(await browser.post('/v1/track', { email: `p${person}@example.com`, event: 'bought' })).to.have.status(200);
  };

  /**
   * Calls another project's receiver while at least so many calls hang, until none of these has ended when it is
   * answered. On a busy machine that may take several rounds.
   */
  const answeredMeanwhile = async (hanging: number, endedCalls: () => Promise<number>) => {
    let round = 0;
    await eventually(
      async () => {
        const ended = await endedCalls();
        if (at('/slow') - ended < hanging) return false;
        const before = at('/fast');
        await track(stack.project, ++round);
        await eventually(() => at('/fast') > before, { what: 'the call of the other project' });
        return (await endedCalls()) === ended;
      },
      { what: 'a call that is answered while all others hang', timeoutMs: 300_000 },
    );
  };

  it('do not delay the webhooks of another project', async () => {
    await stack.server.post('/webhook-endpoints', { url: `${receiver.url}/fast`, types: ['event.*'] });
    const slow: TestProject[] = [];
    for (let n = 0; n < 6; n++) slow.push(await makeProject(stack.database.db));
    for (const project of slow)
      for (let n = 0; n < 10; n++)
        await serverOf(project).post('/webhook-endpoints', { url: `${receiver.url}/slow`, types: ['event.*'] });
    await Promise.all(slow.map((project) => track(project, 0)));
    await answeredMeanwhile(50, async () => {
      const deliveries = await storedDeliveries(stack.database.db, {}).whereNot({ projectId: stack.project.id });
      return deliveries.reduce((sum, { attempts }) => sum + attempts, 0);
    });
  });

  it('do not delay the WEBHOOK steps of another project', async () => {
    const slow = await makeProject(stack.database.db);
    for (const [server, path] of [
      [stack.server, '/fast'],
      [serverOf(slow), '/slow'],
    ] as const) {
      const call = { type: 'WEBHOOK', config: { url: receiver.url + path } };
      const { id } = await build({ server }, { steps: { call } }, { eventName: 'bought' });
      await enable({ server }, id);
    }
    const people = Array.from({ length: 80 }, (_, n) => n);
    await Promise.all(people.map((n) => track(slow, n)));
    const calls = () => storedVisits(stack.database.db, { projectId: slow.id });
    await eventually(async () => (await calls()).length === people.length, { what: 'all executions at their step' });
    await answeredMeanwhile(10, async () => (await calls()).reduce((sum, { attempt }) => sum + attempt - 1, 0));
  });
});
