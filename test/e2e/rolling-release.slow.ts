// A release is rolled out and taken back under load: processes of the version before run beside those of now.
import { expect } from 'chai';
import { describeDeployment } from '../../temporal/deployment.ts';
import { client } from '../support/api.ts';
import { runCli } from '../support/cli.ts';
import { compilePrevious, previousCommit } from '../support/previous-version.ts';
import { type ServiceProcess, startApi, startWorker } from '../support/processes.ts';
import { storedMails } from '../support/rows/mails.ts';
import { type OwnNamespace, ownNamespace, type ProcessStack, startProcessStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';
import { build, enable } from '../support/workflow-building.ts';

const MOST_OPEN = 15;

describe('a rolling release, forward and back', function () {
  this.timeout(420_000);
  let temporal: OwnNamespace;
  let stack: ProcessStack;
  let program: string;

  before(async () => {
    program = compilePrevious(previousCommit());
    temporal = await ownNamespace();
    const settings = { WORKER_VERSIONING: 'true', RATE_LIMIT_PER_MINUTE: '1000000' };
    // As the previous version has them.
    stack = await startProcessStack(temporal, { ...settings, EVERPOST_TIMINGS: 'production' });
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const currentIs = (test: (build: string) => boolean) =>
    eventually(
      async () => {
        // A call may miss its deadline on a busy machine.
        const { current } = (await describeDeployment(temporal).catch(() => undefined)) ?? {};
        return current !== undefined && test(current) && current;
      },
      { what: 'the current build' },
    );

  /** Returns the running build besides this one. A worker is listed soon after it is ready. */
  const otherThan = (build: string): Promise<string> =>
    eventually(
      async () => {
        const { builds } = await runCli(['deploy', 'status'], stack.env);
        const isOther = ({ id, running }: { id: string; running: boolean }) => running && id !== build;
        return (builds as { id: string; running: boolean }[]).find(isOther)?.id;
      },
      { what: 'another build' },
    );

  async function setCurrent(build: string): Promise<void> {
    const answer = await runCli(['deploy', 'set-current', build], stack.env);
    expect(answer, JSON.stringify(answer)).to.include({ ok: true });
  }

  it('loses nothing and does nothing twice', async () => {
    const { server, project, env } = stack;
    const { db } = stack.database;
    // Another build even where both have the same workflow code. A version from before builds ignores it.
    const previousEnv = { ...env, WORKER_BUILD_ID: 'previous' };
    const own = { ...project, server } as never;
    const workflow = await build(own, {
      steps: {
        wait: { type: 'DELAY', config: { amount: 5, unit: 'seconds' } },
        tag: { type: 'UPDATE_CONTACT', config: { data: { welcomed: true } } },
      },
      transitions: [['wait', 'tag']],
    });
    await enable(own, workflow.id);
    const previousApi = await startApi(env, program);
    const previousWorker = await startWorker(previousEnv, [], program);

    // Both versions of the API accept all the time.
    const accepted: string[] = [];
    let isOver = false;
    let contacts = 0;
    const urls = [stack.api.url, previousApi.url];
    const load = (async () => {
      for (let n = 0; !isOver; n++) {
        const api = client(urls[n % 2] ?? '', { authorization: `Bearer ${project.secretKey}` });
        const mail = {
          to: `mail${n}@example.com`,
          from: `shop@${project.senderDomain}`,
          subject: 'Hi',
          body: '<p>Hi</p>',
        };
        const sent = await api.post('/v1/send', mail);
        expect(sent).to.have.status(200);
        accepted.push(sent.body.data.emails[0].email);
        expect(await api.post('/events/track', { email: `person${n}@example.com`, event: 'signed up' })).to.have.status(
          200,
        );
        contacts++;
        // Every contact is an execution. With more than the machine carries, Temporal would not answer in time.
        const open = async () => (await db('executions').whereIn('status', ['RUNNING', 'WAITING'])).length;
        await eventually(async () => (await open()) < MOST_OPEN, { what: 'the end of executions' });
      }
    })();
    const moreContacts = (from: number) =>
      Promise.race([
        eventually(() => contacts >= from + 5, { what: 'executions under load' }),
        load.then(() => expect.fail('the load ended early')),
      ]);

    await moreContacts(0);
    // Forward: the worker of now beside that of the version before, which then ends.
    let worker: ServiceProcess = await stack.startWorker();
    const build1 = await currentIs((current) => !['unversioned', 'previous'].includes(current));
    await moreContacts(contacts);
    await previousWorker.stop();
    await moreContacts(contacts);
    // Back: the version before again.
    const again = await startWorker(previousEnv, [], program);
    await setCurrent(await otherThan(build1));
    await worker.stop();
    await moreContacts(contacts);
    // And forward once more.
    worker = await stack.startWorker();
    await otherThan(await otherThan(build1));
    await setCurrent(build1);
    await again.stop();
    await moreContacts(contacts);
    isOver = true;
    await load;

    const ended = async () => (await storedMails(db).whereNot({ status: 'SENT' })).length === 0;
    await eventually(ended, { what: 'all mail sent' });
    const messageIds = stack.smtp.mails.map(({ messageId }) => messageId);
    expect(messageIds, 'each once').to.have.members(accepted.map((id) => `<${id}@${project.senderDomain}>`));
    const completed = async () => (await db('executions').where({ status: 'COMPLETED' })).length;
    await eventually(async () => (await completed()) === contacts, { what: 'the end of all executions' });
    expect(await db('executions')).to.have.lengthOf(contacts);
    expect(await db('stuckWorkflows')).to.deep.equal([]);
    await Promise.all([worker.stop(), previousApi.stop()]);
  });
});
