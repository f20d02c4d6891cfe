import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { campaignActivities } from '../../activities/campaigns.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { PRODUCTION_TIMINGS, processTimings } from '../../platform/timings.ts';
import { sendCampaign } from '../../services/campaigns/send.ts';
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../services/campaigns/steer.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { signalNames } from '../../services/outbox/signals.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import type { campaign } from '../../workflows/index.ts';
import { addContacts, limits, makeCampaign, standing, startCampaign } from '../support/campaigns.ts';
import { type TestSender, testSender } from '../support/sending.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { timeSkipping } from '../support/temporal.ts';
import '../support/temporal-work.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { setCampaigns } from '../support/rows/campaigns.ts';
import { setMails } from '../support/rows/mails.ts';
import { outboxMessages } from '../support/rows/outbox.ts';
import { setProject } from '../support/rows/projects.ts';
import { eventually } from '../support/waiting.ts';

const DAY = 86_400_000;

// The short intervals of tests would let a campaign look again by itself while a slow machine sends its mail.
const timings = { ...processTimings, campaigns: PRODUCTION_TIMINGS.campaigns };

describe('the campaign workflow', () => {
  let env: TestWorkflowEnvironment;
  let database: ConnectedDatabase;
  let smtp: SmtpStandIn;
  let sending: TestSender;
  let project: TestProject;
  let stop: () => Promise<void>;

  before(async () => {
    [env, database, smtp] = await Promise.all([timeSkipping(), connectTestDatabase(), startSmtp()]);
    const { db } = database;
    sending = testSender(database.url, { url: smtp.url, connections: 3 });
    const now = async () => new Date(await env.currentTimeMs());
    const base = { connection: env.nativeConnection };
    const workers = [
      await Worker.create({ ...base, taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({
        ...base,
        taskQueue: taskQueues.bulk,
        activities: campaignActivities({ db, limits, now, timings }),
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
    await sending?.close();
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

  const found = async (id: string) => {
    const campaign = await Campaign.query(database.db).findById(id);
    if (!campaign) throw new Error(`there is no campaign ${id}`);
    return campaign;
  };
  const isFrozen = (id: string) =>
    eventually(async () => (await found(id)).frozenAt ?? undefined, { what: 'the recipients' });
  const sendMails = async (id: string) => {
    await isFrozen(id);
    await sending.send();
  };
  /** Messages that the relay would send to the Temporal workflow. */
  const signalsTo = (run: WorkflowHandle) =>
    outboxMessages(database.db, { workflowId: run.workflowId, action: 'signal' });
  const sentCompletely = async (id: string, run: WorkflowHandle) => {
    await sendMails(id);
    await run.result();
    expect(await statusOf(id)).to.equal('SENT');
  };

  it('freezes its recipients, waits while senders send, and closes when one reports the end', async () => {
    const campaign = await startCampaign(database.db, project);
    const run = await start(campaign);
    await isFrozen(campaign.id);
    expect(await signalsTo(run)).to.deep.equal([]);
    await sendMails(campaign.id);
    expect(smtp.mails).to.have.length(5);
    expect(await signalsTo(run), 'the sender reports the end').to.not.deep.equal([]);
    expect(await statusOf(campaign.id)).to.equal('SENDING');
    await refresh(run);
    // No time is skipped here, so it does not look again by itself.
    await eventually(async () => (await run.describe()).status.name === 'COMPLETED', { what: 'the end' });
    expect(await run.result()).to.equal('SENT, 5 of 5 done, 5 sent');
    expect(await statusOf(campaign.id)).to.equal('SENT');
  });

  it('looks again after a minute when no sender reports the end', async () => {
    const campaign = await startCampaign(database.db, project);
    const run = await start(campaign);
    await sendMails(campaign.id);
    expect(await statusOf(campaign.id)).to.equal('SENDING');
    expect(await run.result()).to.equal('SENT, 5 of 5 done, 5 sent');
    const { events = [] } = await run.fetchHistory();
    expect(events?.some((event) => event.workflowExecutionSignaledEventAttributes)).to.equal(false);
    const timers = events?.flatMap(
      ({ timerStartedEventAttributes: timer }) => timer?.startToFireTimeout?.seconds ?? [],
    );
    expect(timers).to.not.deep.equal([]);
    for (const seconds of timers ?? []) expect(Number(seconds)).to.be.at.most(60);
  });

  it('waits for months until its start time, and sends to the contacts of that time', async () => {
    const { id, run } = await scheduled(200);
    await env.sleep(199 * DAY);
    expect(await statusOf(id)).to.equal('SCHEDULED');
    await addContacts(database.db, project, 2, { prefix: 'new' });
    await env.sleep(DAY + 1_000);
    await sentCompletely(id, run);
    expect(await standing(database.db, project, id)).to.include({ sent: 7 });
  });

  it('starts later when it is rescheduled', async () => {
    const { id, run } = await scheduled(30);
    await schedule(id, await inDays(90));
    await refresh(run);
    await env.sleep(60 * DAY);
    expect(await statusOf(id)).to.equal('SCHEDULED');
    await env.sleep(30 * DAY + 1_000);
    await sentCompletely(id, run);
  });

  it('starts at once when it is moved forward to now', async () => {
    const { id, run } = await scheduled(365);
    await env.sleep(DAY);
    await sendCampaign(database.db, project.access, id, undefined);
    await refresh(run);
    await sentCompletely(id, run);
    expect((await env.currentTimeMs()) - Date.now()).to.be.greaterThan(0);
  });

  it('sends nothing and ends when it is cancelled while it waits', async () => {
    const { id, run } = await scheduled(100);
    await env.sleep(10 * DAY);
    await cancelCampaign(database.db, project.access, id);
    await refresh(run);
    await run.result();
    await sending.send();
    expect(await statusOf(id)).to.equal('CANCELLED');
    expect(smtp.mails).to.deep.equal([]);
    expect(await standing(database.db, project, id)).to.include({ pending: 0, cancelled: 0 });
  });

  it('cancels its recipients and ends when it is cancelled before a sender has begun', async () => {
    const campaign = await startCampaign(database.db, project);
    const run = await start(campaign);
    await isFrozen(campaign.id);
    await cancelCampaign(database.db, project.access, campaign.id);
    await refresh(run);
    await run.result();
    await sending.send();
    expect(smtp.mails).to.deep.equal([]);
    expect(await standing(database.db, project, campaign.id)).to.include({ pending: 0, cancelled: 5 });
  });

  it('skips at its end what is pending, and sleeps for weeks until then while it is paused', async () => {
    // A campaign that is not paused looks every minute whether its senders have died.
    for (const { paused, days } of [
      { paused: false, days: 0.01 },
      { paused: true, days: 20 },
    ]) {
      const campaign = await startCampaign(database.db, project, { sendUntil: await inDays(days) });
      const run = await start(campaign);
      await isFrozen(campaign.id);
      if (paused) await pauseCampaign(database.db, project.access, campaign.id);
      if (paused) await refresh(run);
      await env.sleep(0.5 * days * DAY);
      expect(await statusOf(campaign.id)).to.equal('SENDING');
      await env.sleep(days * DAY);
      await run.result();
      expect(await statusOf(campaign.id)).to.equal('SENT');
      expect(await standing(database.db, project, campaign.id)).to.include({ pending: 0, skipped: 5 });
    }
    expect(smtp.mails).to.deep.equal([]);
  });

  it('sleeps by local time until the next moment, with a short history', async () => {
    const { id } = await makeCampaign(database.db, project);
    const localTime = (await inDays(300)).toISOString().slice(0, 16);
    const run = await start((await sendCampaign(database.db, project.access, id, { localTime, late: 'NOW' })).campaign);
    await env.sleep(299 * DAY);
    expect(await statusOf(id)).to.equal('SCHEDULED');
    await env.sleep(DAY - 3_600_000);
    await isFrozen(id);
    // Its moment by the clock of Postgres.
    await setMails(database.db, { campaignId: id }, { dueAt: new Date() });
    await sendMails(id);
    await env.sleep(2 * DAY);
    await run.result();
    expect(await standing(database.db, project, id)).to.include({ sent: 5 });
    const { events } = await run.fetchHistory();
    expect(events?.length).to.be.below(60);
  });

  it('sends nothing while it is paused, and continues when it is resumed', async () => {
    const campaign = await startCampaign(database.db, project);
    await pauseCampaign(database.db, project.access, campaign.id);
    const run = await start(campaign);
    await env.sleep(45 * DAY);
    await sending.send();
    expect(smtp.mails).to.deep.equal([]);
    expect(await statusOf(campaign.id)).to.equal('SENDING');
    await resumeCampaign(database.db, project.access, campaign.id);
    await refresh(run);
    await sentCompletely(campaign.id, run);
    expect(await standing(database.db, project, campaign.id)).to.include({ sent: 5 });
  });

  it('continues by itself when it is no longer blocked', async () => {
    const campaign = await startCampaign(database.db, project);
    await setProject(database.db, project.id, { disabled: true });
    const run = await start(campaign);
    await sendMails(campaign.id);
    expect(await found(campaign.id)).to.include({ pausedBy: 'BLOCKED', pauseReason: 'project disabled' });
    await env.sleep(120_000);
    expect(await found(campaign.id)).to.include({ paused: true });
    expect(smtp.mails).to.deep.equal([]);
    await setProject(database.db, project.id, { disabled: false });
    await env.sleep(120_000);
    await eventually(async () => !(await found(campaign.id)).paused, { what: 'the campaign resumed' });
    await sentCompletely(campaign.id, run);
    expect(await standing(database.db, project, campaign.id)).to.include({ sent: 5 });
  });

  it('ends without changes when a run with a later generation exists', async () => {
    const campaign = await startCampaign(database.db, project);
    await setCampaigns(database.db, { id: campaign.id }, { generation: 2 });
    const run = await start(campaign);
    expect(await run.result()).to.equal('nothing is left to do');
    expect(await statusOf(campaign.id)).to.equal('SENDING');
  });
});
