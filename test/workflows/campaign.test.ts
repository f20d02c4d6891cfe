import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { campaignActivities, campaignSendingActivities } from '../../activities/campaigns.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { createMailer, type Mailer } from '../../platform/smtp/mailer.ts';
import { sendCampaign } from '../../services/campaigns/send.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../services/campaigns/steer.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { signalNames } from '../../services/outbox/signals.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import type { campaign } from '../../workflows/index.ts';
import { addContacts, limits, makeCampaign, standing, startCampaign } from '../support/campaigns.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { timeSkipping } from '../support/temporal.ts';
import '../support/temporal-work.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { eventually } from '../support/waiting.ts';

const DAY = 86_400_000;

describe('the campaign workflow', () => {
  let env: TestWorkflowEnvironment;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let mailer: Mailer;
  let project: TestProject;
  let stop: () => Promise<void>;

  before(async function () {
    this.timeout(120_000);
    [env, database, smtp] = await Promise.all([timeSkipping(), connectTestDatabase(), startSmtp()]);
    const { db } = database;
    mailer = createMailer({ url: smtp.url, maxConnections: 3 });
    const stopping = new AbortController().signal;
    const now = async () => new Date(await env.currentTimeMs());
    const sending = { db, mailer, renderer: testRenderer(), links: testLinks, ledger: new DeliveryLedger(db), limits };
    const base = { connection: env.nativeConnection };
    const workers = [
      await Worker.create({ ...base, taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({ ...base, taskQueue: taskQueues.bulk, activities: campaignActivities({ db, limits, now }) }),
      await Worker.create({
        ...base,
        taskQueue: taskQueues.campaigns,
        activities: campaignSendingActivities({ ...sending, stopping }),
      }),
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
  beforeEach(async () => {
    project = await makeProject(database.db);
    await addContacts(database.db, project, 5);
    smtp.behave();
    smtp.mails.length = 0;
  });

  const start = ({ id, generation }: Campaign) =>
    env.client.workflow.start<typeof campaign>('campaign', {
      taskQueue: taskQueues.workflows,
      workflowId: workflowIds.campaign(project.id, id, generation),
      args: [{ campaignId: id, generation }],
    });
  const inDays = async (days: number) => new Date((await env.currentTimeMs()) + days * DAY);
  const schedule = async (id: string, at: Date) => (await sendCampaign(database.db, project.access, id, at)).campaign;
  const scheduled = async (days: number) => {
    const { id } = await makeCampaign(database.db, project);
    const campaign = await schedule(id, await inDays(days));
    return { id, run: await start(campaign) };
  };
  const statusOf = async (id: string) => (await Campaign.query(database.db).findById(id))?.status;
  const refresh = (run: WorkflowHandle) => run.signal(signalNames.refresh);

  it('sends a campaign and returns a summary', async () => {
    const campaign = await startCampaign(database.db, project);
    const run = await start(campaign);
    expect(await run.result()).to.equal('SENT, 5 of 5 done, 5 sent');
    expect(await statusOf(campaign.id)).to.equal('SENT');
  });

  it('waits for months until its start time, and sends to the contacts of that time', async () => {
    const { id, run } = await scheduled(200);
    await env.sleep(199 * DAY);
    expect(await statusOf(id)).to.equal('SCHEDULED');
    expect(smtp.mails).to.deep.equal([]);
    await addContacts(database.db, project, 2, { prefix: 'new' });
    await run.result();
    expect(await statusOf(id)).to.equal('SENT');
    expect(await standing(database.db, project, id)).to.include({ sent: 7 });
  });

  it('starts later when it is postponed', async () => {
    const { id, run } = await scheduled(30);
    await schedule(id, await inDays(90));
    await refresh(run);
    await env.sleep(60 * DAY);
    expect(await statusOf(id)).to.equal('SCHEDULED');
    await run.result();
    expect(await statusOf(id)).to.equal('SENT');
  });

  it('starts at once when it is moved forward to now', async () => {
    const { id, run } = await scheduled(365);
    await env.sleep(DAY);
    await sendCampaign(database.db, project.access, id, undefined);
    await refresh(run);
    await run.result();
    expect(await statusOf(id)).to.equal('SENT');
    expect((await env.currentTimeMs()) - Date.now()).to.be.greaterThan(0);
  });

  it('sends nothing and ends when it is cancelled while it waits', async () => {
    const { id, run } = await scheduled(100);
    await env.sleep(10 * DAY);
    await cancelCampaign(database.db, project.access, id);
    await refresh(run);
    await run.result();
    expect(await statusOf(id)).to.equal('CANCELLED');
    expect(smtp.mails).to.deep.equal([]);
    expect(await standing(database.db, project, id)).to.include({ pending: 0, cancelled: 0 });
  });

  it('sends nothing while it is paused, and continues when it is resumed', async () => {
    const campaign = await startCampaign(database.db, project);
    await pauseCampaign(database.db, project.access, campaign.id);
    const run = await start(campaign);
    await env.sleep(45 * DAY);
    expect(smtp.mails).to.deep.equal([]);
    expect(await statusOf(campaign.id)).to.equal('SENDING');
    await resumeCampaign(database.db, project.access, campaign.id);
    await refresh(run);
    await run.result();
    expect(await standing(database.db, project, campaign.id)).to.include({ sent: 5 });
  });

  it('continues by itself when it is no longer blocked', async () => {
    const campaign = await startCampaign(database.db, project);
    await database.db('projects').where({ id: project.id }).update({ disabled: true });
    const run = await start(campaign);
    await eventually(async () => (await Campaign.query(database.db).findById(campaign.id))?.paused);
    expect(await Campaign.query(database.db).findById(campaign.id)).to.include({
      pausedBy: 'BLOCKED',
      pauseReason: 'project disabled',
    });
    await env.sleep(120_000);
    expect(smtp.mails).to.deep.equal([]);
    await database.db('projects').where({ id: project.id }).update({ disabled: false });
    await run.result();
    expect(await standing(database.db, project, campaign.id)).to.include({ sent: 5 });
  });

  it('ends without changes when a run with a later generation exists', async () => {
    const campaign = await startCampaign(database.db, project);
    await database.db('campaigns').where({ id: campaign.id }).update({ generation: 2 });
    const run = await start(campaign);
    expect(await run.result()).to.equal('nothing is left to do');
    expect(await statusOf(campaign.id)).to.equal('SENDING');
  });
});
