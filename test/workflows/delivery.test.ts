import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { emailActivities } from '../../activities/emails.ts';
import { createMailer, type Mailer } from '../../platform/smtp/mailer.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { noCounts } from '../../services/emails/delivery-settlement.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import type { delivery } from '../../workflows/index.ts';
import { addBatch, addMail, addMails, mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { timeSkipping } from '../support/temporal.ts';
import '../support/temporal-work.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';

describe('the delivery workflow', () => {
  let env: TestWorkflowEnvironment;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let mailer: Mailer;
  let project: string;
  let stop: () => Promise<void>;

  before(async function () {
    this.timeout(120_000);
    [env, database, smtp] = await Promise.all([timeSkipping(), connectTestDatabase(), startSmtp()]);
    project = (await makeProject(database.db)).id;
    await addManagedDomain(database.db, project, 'demo.localhost');
    mailer = createMailer({ url: smtp.url, maxConnections: 3 });
    const stopping = new AbortController();
    const deps = {
      db: database.db,
      mailer,
      renderer: testRenderer(),
      links: testLinks,
      ledger: new DeliveryLedger(database.db),
      stopping: stopping.signal,
    };
    const base = { connection: env.nativeConnection };
    const workers = [
      await Worker.create({ ...base, taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({ ...base, taskQueue: taskQueues.mail, activities: emailActivities(deps) }),
    ];
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
    };
  });
  after(async () => {
    await stop?.();
    mailer?.close(true);
    await env?.teardown();
    await smtp?.close();
    await database?.close();
  });

  const start = (batchId: string) =>
    env.client.workflow.start<typeof delivery>('delivery', {
      taskQueue: taskQueues.workflows,
      workflowId: `delivery/${batchId}`,
      args: [{ batchId }],
    });

  it('sends a batch and returns its results', async () => {
    const batchId = await addBatch(database.db);
    await addMails(database.db, 3, { project, batchId });
    await addMail(database.db, { project, batchId, to: 'nobody@example.com' });
    smtp.misbehave({ at: 'recipient', to: 'nobody@example.com', do: { code: 550 } });
    const run = await start(batchId);
    expect(await run.result()).to.deep.equal({ ...noCounts(), sent: 3, failed: 1 });
  });

  it('survives a day without SMTP server: counts no attempt, loses no mail, sends none twice', async function () {
    this.timeout(180_000);
    const { db } = database;
    const batchId = await addBatch(db);
    const ids = await addMails(db, 4, { project, batchId });
    const before = smtp.mails.length;
    await smtp.close();
    const run = await start(batchId);
    await env.sleep('1 day');
    for (const id of ids) expect(await mailById(db, id)).to.include({ status: 'PENDING', attempts: 0, batchId });
    const [activity] = (await run.describe()).raw.pendingActivities ?? [];
    expect(activity?.lastFailure?.message).to.match(/^the SMTP server cannot be reached/);
    await smtp.reopen();
    expect(await run.result()).to.deep.equal({ ...noCounts(), sent: 4 });
    for (const id of ids)
      expect(await mailById(db, id)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
    expect(smtp.mails).to.have.length(before + 4);
  });
});
