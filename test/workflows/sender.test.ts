import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { emailActivities } from '../../activities/emails.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import type { sender } from '../../workflows/index.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { addMail, addMails, mailById } from '../support/ledger.ts';
import { type TestSender, testSender } from '../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { timeSkipping } from '../support/temporal.ts';
import '../support/temporal-work.ts';
import { outgoingMails, runningSenders } from '../support/rows/mails.ts';
import { hideTable } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

describe('the sender workflow', () => {
  let env: TestWorkflowEnvironment;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let project: string;
  let workflowWorker: { stop(): Promise<void> };
  const ends: (() => Promise<unknown>)[] = [];
  let started = 0;

  before(async () => {
    [env, database, smtp] = await Promise.all([timeSkipping(), connectTestDatabase(), startSmtp()]);
    project = (await makeProject(database.db)).id;
    await addManagedDomain(database.db, project, 'demo.localhost');
    workflowWorker = running(
      await Worker.create({
        connection: env.nativeConnection,
        taskQueue: taskQueues.workflows,
        workflowBundle: await workflowBundle(),
      }),
    );
  });
  after(async () => {
    await workflowWorker?.stop();
    await env?.teardown();
    await smtp?.close();
    await database?.close();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    smtp.behave();
  });

  function running(worker: Worker): { stop(): Promise<void> } {
    const run = worker.run();
    return {
      stop: async () => {
        if (worker.getState() === 'RUNNING') worker.shutdown();
        await run;
      },
    };
  }

  /** A process with the role `mail`. */
  async function mailWorker({ runMs = 200 } = {}): Promise<{ stop(): Promise<void> }> {
    const stopping = new AbortController();
    const sending: TestSender = testSender(database.url, { url: smtp.url, connections: 2, pauseMs: 50 });
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: taskQueues.mail,
      activities: emailActivities({ sender: sending.sender, stopping: stopping.signal, runMs }),
      maxConcurrentActivityTaskExecutions: 1,
      maxHeartbeatThrottleInterval: '1 second',
      shutdownGraceTime: '20 seconds',
    });
    const { stop } = running(worker);
    let stopped: Promise<void> | undefined;
    const stopOnce = () => {
      stopping.abort();
      stopped ??= stop().then(() => sending.close());
      return stopped;
    };
    ends.push(stopOnce);
    return { stop: stopOnce };
  }

  async function start(): Promise<WorkflowHandle<typeof sender>> {
    const workflowId = workflowIds.sender(++started);
    const run = await env.client.workflow.start<typeof sender>('sender', {
      taskQueue: taskQueues.workflows,
      workflowId,
    });
    ends.push(() =>
      env.client.workflow
        .getHandle(workflowId)
        .terminate()
        .catch(() => {}),
    );
    return run;
  }
  const statusOf = async (id: string) => (await mailById(database.db, id)).status;
  const isSent = (id: string) => eventually(async () => (await statusOf(id)) === 'SENT', { what: 'the mail' });

  it('sends due mail in one run of its activity after the other, and shows what the last one did', async () => {
    await mailWorker();
    const ids = await addMails(database.db, 3, { project });
    const refused = await addMail(database.db, { project, to: 'nobody@example.com' });
    smtp.misbehave({ at: 'recipient', to: 'nobody@example.com', do: { code: 550 } });
    const run = await start();
    for (const id of ids) await isSent(id);
    await eventually(async () => (await statusOf(refused)) === 'FAILED');
    const results = async () =>
      ((await run.fetchHistory()).events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed }) =>
        completed ? String(JSON.parse(String(completed.result?.payloads?.[0]?.data))) : [],
      );
    await eventually(async () => (await results()).length >= 2, { what: 'a second run' });
    const countOf = async (kind: 'sent' | 'failed') => {
      const counts = (await results()).flatMap((line) => new RegExp(`(\\d+) ${kind}`).exec(line)?.[1] ?? []);
      return counts.reduce((sum, count) => sum + Number(count), 0);
    };
    // A mail is sent before the run that sent it has ended.
    await eventually(async () => (await countOf('sent')) === 3 && (await countOf('failed')) === 1, {
      what: 'the results of all runs',
    });
    await eventually(async () => (await results()).includes('no mail was due'));
    // Also in later runs of the same workflow.
    await isSent(await addMail(database.db, { project }));
  });

  it('retries the activity until the database works again', async () => {
    await mailWorker();
    const restore = await hideTable(database.db, 'senders');
    const run = await start();
    const id = await addMail(database.db, { project });
    try {
      const activity = async () => (await run.describe()).raw.pendingActivities?.[0];
      await eventually(async () => ((await activity())?.attempt ?? 0) >= 3, { what: 'a third attempt' });
      expect((await activity())?.lastFailure?.message).to.match(/senders/);
    } finally {
      await restore();
    }
    await isSent(id);
  });

  it('goes on in another process when one is stopped, and loses no mail', async () => {
    const first = await mailWorker({ runMs: 60_000 });
    const run = await start();
    await isSent(await addMail(database.db, { project }));
    await first.stop();
    const id = await addMail(database.db, { project });
    await mailWorker({ runMs: 60_000 });
    await isSent(id);
    const [activity] = (await run.describe()).raw.pendingActivities ?? [];
    expect(activity?.lastFailure?.message).to.equal('the worker is shutting down');
  });

  it('counts no attempt while the SMTP server is unavailable, over several runs of its activity', async () => {
    const before = smtp.mails.length;
    await mailWorker();
    await smtp.close();
    const ids = await addMails(database.db, 4, { project });
    const run = await start();
    const completed = async () =>
      ((await run.fetchHistory()).events ?? []).filter((event) => event.activityTaskCompletedEventAttributes).length;
    await eventually(async () => (await completed()) >= 3, { what: 'three runs' });
    for (const id of ids) expect(await mailById(database.db, id)).to.include({ status: 'PENDING', attempts: 0 });
    await smtp.reopen();
    for (const id of ids) await isSent(id);
    for (const id of ids) expect(await mailById(database.db, id)).to.include({ attempts: 1, unknownOutcomes: 0 });
    expect(smtp.mails).to.have.length(before + 4);
  });

  it('continues as new after 200 runs of its activity', async () => {
    const { stop } = running(
      await Worker.create({
        connection: env.nativeConnection,
        taskQueue: taskQueues.mail,
        // Real runs take longer than a test may.
        activities: { sendMail: async () => 'no mail was due' },
      }),
    );
    ends.push(stop);
    const { workflowId, firstExecutionRunId } = (await start()) as WorkflowHandle & { firstExecutionRunId: string };
    const { workflow } = env.client;
    const first = workflow.getHandle(workflowId, firstExecutionRunId);
    await eventually(async () => (await first.describe()).status.name === 'CONTINUED_AS_NEW', {
      what: 'the end of the first run',
    });
    const { events } = await first.fetchHistory();
    expect(events?.filter((event) => event.activityTaskCompletedEventAttributes)).to.have.length(200);
    expect((await workflow.getHandle(workflowId).describe()).status.name).to.equal('RUNNING');
  });

  it('ends when it is cancelled, and finishes the mail in flight', async () => {
    await mailWorker({ runMs: 120_000 });
    const run = await start();
    smtp.misbehave({ at: 'accepted', to: 'slow@example.com', do: 'hang' });
    const id = await addMail(database.db, { project, to: 'slow@example.com' });
    await smtp.received(1, { to: 'slow@example.com' });
    await run.cancel();
    await eventually(async () => (await run.describe()).status.name === 'CANCELLED', {
      what: 'the end of the workflow',
    });
    smtp.behave();
    // Its activity learns of the cancellation when it sends a heartbeat.
    await eventually(async () => (await runningSenders(database.db)).length === 0, {
      what: 'the end of the activity',
    });
    expect(await mailById(database.db, id)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
    expect(smtp.mailsTo('slow@example.com')).to.have.length(1);
    expect(await outgoingMails(database.db)).to.deep.equal([]);
  });
});
