// Records golden histories from real runs: `node --import tsx test/replay/record.ts sender job`.
// Without names it records all of them. They belong to the version in package.json. Record a new one (under a new name) when
// workflow code changes behind `patched()`. Never replace an old one: it represents the workflows that were started before
// the change and are still open.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Db } from '../../db/connect.ts';
import { Domain } from '../../db/models/domain.ts';
import { outboundHttp } from '../../platform/http/outbound-http.ts';
import { createResolver } from '../../platform/http/resolver.ts';
import { newId } from '../../platform/ids.ts';
import { readSettings } from '../../platform/settings.ts';
import { weekdays } from '../../platform/time-zones.ts';
import { sendCampaign } from '../../services/campaigns/send.ts';
import { pauseCampaign, resumeCampaign } from '../../services/campaigns/steer.ts';
import { createDomain } from '../../services/domains/create.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import { loopOf } from '../../services/domains/loop.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { createImport } from '../../services/jobs/create.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { signalNames, updateNames } from '../../services/outbox/signals.ts';
import { deleteProject } from '../../services/removal/project.ts';
import { testEndpoint } from '../../services/webhooks/deliveries.ts';
import { createEndpoint, deleteEndpoint } from '../../services/webhooks/endpoints.ts';
import { cancelExecution } from '../../services/workflows/executions/cancel.ts';
import type { StepTypeName } from '../../services/workflows/graph.ts';
import { openRuns } from '../../temporal/open-runs.ts';
import { sendToTemporal } from '../../temporal/send.ts';
import {
  bulkQueueOptions,
  domainsQueueOptions,
  executionsQueueOptions,
  mailQueueOptions,
  webhookEndpointsQueueOptions,
  webhooksQueueOptions,
  workflowsQueueOptions,
} from '../../worker/task-queue-options.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import { addContacts, limits, makeCampaign } from '../support/campaigns.ts';
import { endAll } from '../support/cleanup.ts';
import { connectTestDatabase, makeProject, type TestProject } from '../support/connected-database.ts';
import { startDns } from '../support/dns.ts';
import { ExecutionDriver, insertWorkflow } from '../support/executions.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { addMails } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { storedContacts } from '../support/rows/contacts.ts';
import { storedMails } from '../support/rows/mails.ts';
import { storedErasures } from '../support/rows/projects.ts';
import { testSender } from '../support/sending.ts';
import { startSmtp } from '../support/smtp.ts';
import { ownDevServer } from '../support/temporal.ts';
import { type OwnNamespace, ownNamespace, silent, temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';
import { historyFolder } from './histories.ts';

interface Run {
  workflowId: string;
  args: unknown[];
  resourceId: string;
  /** Acts on the workflow while it runs. */
  meanwhile?: (handle: WorkflowHandle) => Promise<unknown>;
}

/** Prepares the database for each workflow type. */
const scenes: Record<string, (db: Db, project: TestProject) => Promise<Run>> = {
  /** Runs its activity three times, with mail and without, and is cancelled. */
  async sender(db, project) {
    await addManagedDomain(db, project.id, 'demo.localhost');
    await addMails(db, 3, { project: project.id });
    const meanwhile = async (handle: WorkflowHandle) => {
      const completed = async () =>
        (await handle.fetchHistory()).events?.filter((event) => event.activityTaskCompletedEventAttributes) ?? [];
      await eventually(async () => (await completed()).length >= 3);
      await handle.cancel();
    };
    return { workflowId: workflowIds.sender(1), args: [], resourceId: project.id, meanwhile };
  },
  /** Continues as new because of its long history, and is cancelled. */
  async 'sender/continued'(_db, project) {
    const meanwhile = async (handle: WorkflowHandle) => {
      const isContinued = async () => {
        const start = (await handle.fetchHistory()).events?.[0]?.workflowExecutionStartedEventAttributes;
        return Boolean(start?.continuedExecutionRunId);
      };
      await eventually(isContinued);
      await handle.cancel();
    };
    return { workflowId: workflowIds.sender(1), args: [], resourceId: project.id, meanwhile };
  },
  async job(db, project) {
    const jobId = await createImport(db, project.access, Buffer.from('email\na@example.com\nbad\n'));
    return { workflowId: workflowIds.job(project.id, jobId), args: [{ jobId }], resourceId: jobId };
  },
  /** Scheduled, moved forward, throttled, paused, resumed, and sent completely. */
  async campaign(db, project) {
    await addContacts(db, project, 6);
    const { id } = await makeCampaign(db, project, { ratePerMinute: 60 });
    const { campaign } = await sendCampaign(db, project.access, id, new Date(Date.now() + 3_600_000));
    const meanwhile = async (handle: WorkflowHandle) => {
      const signalAfter = async (change: Promise<unknown>) => {
        await change;
        await handle.signal(signalNames.refresh);
      };
      await signalAfter(sendCampaign(db, project.access, id, undefined));
      await eventually(() => storedMails(db, { campaignId: id, status: 'SENT' }).first('id'));
      await signalAfter(pauseCampaign(db, project.access, id));
      await signalAfter(resumeCampaign(db, project.access, id));
      const isSent = async () => (await storedMails(db, { campaignId: id, status: 'SENT' })).length === 6;
      await signalAfter(eventually(isSent));
    };
    const { generation } = campaign;
    const workflowId = workflowIds.campaign(project.id, id, generation);
    return { workflowId, args: [{ campaignId: id, generation }], resourceId: id, meanwhile };
  },
  /** Checks periodically and on request, then finds its domain deleted. */
  async domain(db, project) {
    const { domain } = await createDomain(db, project.access, 'recorded.example', settings);
    const { workflowId, args, resourceId } = loopOf(domain);
    const meanwhile = async (handle: WorkflowHandle) => {
      await eventually(async () => ((await Domain.query(db).findById(domain.id))?.failedChecks ?? 0) > 2);
      await handle.executeUpdate(updateNames.checkDomain);
      await deleteDomain(db, project.access, domain.id);
      await handle.executeUpdate(updateNames.checkDomain);
    };
    return { workflowId, args, resourceId, meanwhile };
  },
  async erasure(db, project) {
    await addMails(db, 3, { project: project.id });
    await deleteProject(db, project.id);
    const { id } = await storedErasures(db, {}).first('id');
    return { workflowId: workflowIds.erasure(project.id, id), args: [{ erasureId: id }], resourceId: id };
  },
  /** Sleeps, is woken by an event, times out, calls a webhook twice, and completes. */
  async execution(db, project) {
    const receiver = await startHttpReceiver();
    let calls = 0;
    receiver.answer(() => ({ status: ++calls === 1 ? 503 : 200, headers: { 'retry-after': '1' } }));
    allowedHosts.push(receiver.host);
    const driver = new ExecutionDriver(db, project);
    const workflow = await insertWorkflow(db, project, {
      steps: {
        mark: ['UPDATE_CONTACT', { data: { seen: true } }],
        rest: ['DELAY', { amount: 1, unit: 'seconds' }],
        wait: ['WAIT_FOR_EVENT', { eventName: 'bought' }],
        again: ['WAIT_FOR_EVENT', { eventName: 'bought', timeout: 1 }],
        call: ['WEBHOOK', { url: receiver.url }],
        out: ['EXIT', { reason: 'done' }],
      },
    });
    const id = await driver.start(workflow, 'ann@example.com');
    const meanwhile = async (handle: WorkflowHandle) => {
      await eventually(async () => (await driver.execution(id)).awaitedEvent === 'bought');
      await handle.signal(signalNames.refresh);
      await driver.track('ann@example.com', 'bought');
      await handle.signal(signalNames.refresh);
    };
    return { ...executionRun(project, workflow.id, id), meanwhile };
  },
  /** Is cancelled while it sleeps. */
  async 'execution/cancelled'(db, project) {
    const driver = new ExecutionDriver(db, project);
    const workflow = await insertWorkflow(db, project, { steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] } });
    const id = await driver.start(workflow, 'ann@example.com');
    const meanwhile = async (handle: WorkflowHandle) => {
      await eventually(async () => (await driver.execution(id)).status === 'WAITING');
      await cancelExecution(db, project.access, workflow.id, id);
      await handle.cancel();
    };
    return { ...executionRun(project, workflow.id, id), meanwhile };
  },
  /** The local activity times out because the contact is locked, and the activity takes the step. */
  async 'execution/locked contact'(db, project) {
    const driver = new ExecutionDriver(db, project);
    const workflow = await insertWorkflow(db, project, {
      steps: { mark: ['UPDATE_CONTACT', { data: { seen: true } }] },
    });
    const id = await driver.start(workflow, 'ann@example.com');
    const trx = await db.transaction();
    await storedContacts(trx, {}).forUpdate();
    const meanwhile = async (handle: WorkflowHandle) => {
      const isLeftToAnActivity = async () =>
        (await handle.fetchHistory()).events?.some((event) => event.activityTaskScheduledEventAttributes);
      await eventually(isLeftToAnActivity);
      await trx.rollback();
    };
    return { ...executionRun(project, workflow.id, id), meanwhile };
  },
  /** Continues as new because of its long history. */
  async 'execution/continued'(db, project) {
    const second: [StepTypeName, object] = ['DELAY', { amount: 1, unit: 'seconds' }];
    const workflow = await insertWorkflow(db, project, {
      steps: { one: second, two: second, three: second, four: second },
    });
    const id = await new ExecutionDriver(db, project).start(workflow, 'ann@example.com');
    return executionRun(project, workflow.id, id);
  },
  /** Takes a SPLIT, both segment steps and a START_WORKFLOW, then rests in a TIME_WINDOW, where it is signalled. */
  async 'execution/new steps'(db, project) {
    const driver = new ExecutionDriver(db, project);
    const segmentId = newId();
    const segment = { id: segmentId, projectId: project.id, name: 'Tried', slug: 'tried', type: 'STATIC' };
    await db('segments').insert(segment);
    const target = await insertWorkflow(db, project, { steps: { out: ['EXIT'] } });
    // Opens in the next minute.
    const opens = new Date(Date.now() + 65_000).toISOString().slice(11, 16);
    const closes = new Date(Date.now() + 2 * 3_600_000).toISOString().slice(11, 16);
    const branches = ['A', 'B'].map((name) => ({ name, weight: 1 }));
    const workflow = await insertWorkflow(db, project, {
      steps: {
        split: ['SPLIT', { branches }],
        add: ['ADD_TO_SEGMENT', { segmentId }],
        start: ['START_WORKFLOW', { workflowId: target.id }],
        drop: ['REMOVE_FROM_SEGMENT', { segmentId }],
        window: ['TIME_WINDOW', { days: [...weekdays], from: opens, to: closes, timezone: 'UTC' }],
        out: ['EXIT', { reason: 'open' }],
      },
      arrows: ['split -A-> add', 'split -B-> add', 'add -> start', 'start -> drop', 'drop -> window', 'window -> out'],
    });
    const id = await driver.start(workflow, 'ann@example.com');
    const meanwhile = async (handle: WorkflowHandle) => {
      await eventually(async () => (await driver.execution(id)).status === 'WAITING');
      await handle.signal(signalNames.refresh);
    };
    return { ...executionRun(project, workflow.id, id), meanwhile };
  },
  async cronTick(db, project) {
    const workflow = await insertWorkflow(db, project, {
      steps: { rest: ['DELAY', { amount: 1, unit: 'days' }] },
      workflow: { triggerType: 'SCHEDULE', triggerConfig: { cron: '0 8 * * *' } },
    });
    await addContacts(db, project, 3);
    return {
      workflowId: workflowIds.cron(project.id, workflow.id),
      args: [{ workflowId: workflow.id }],
      resourceId: workflow.id,
    };
  },
  /** Calls an endpoint, retries a failed call, is signalled, and finds its endpoint deleted. */
  async webhookEndpoint(db, project) {
    const receiver = await startHttpReceiver();
    let calls = 0;
    receiver.answer(() => ({ status: ++calls === 1 ? 503 : 200 }));
    allowedHosts.push(receiver.host);
    const input = { url: receiver.url, types: ['*'] };
    const allowed = { ...settings, webhookAllowedHosts: [receiver.host] };
    const { endpoint } = await createEndpoint(db, project.access, input, allowed);
    const { id } = endpoint;
    await testEndpoint(db, project.access, id);
    const meanwhile = async (handle: WorkflowHandle) => {
      await receiver.received(2);
      await testEndpoint(db, project.access, id);
      await handle.signal(signalNames.refresh);
      await receiver.received(3);
      await deleteEndpoint(db, project.access, id);
      await handle.signal(signalNames.refresh);
    };
    return {
      workflowId: workflowIds.webhookEndpoint(project.id, id, 1),
      args: [{ endpointId: id, generation: 1 }],
      resourceId: id,
      meanwhile,
    };
  },
  async reconciler(_db, project) {
    return { workflowId: 'reconciler', args: [], resourceId: project.id };
  },
  async segmentSweep(_db, project) {
    return { workflowId: 'segments/sweep', args: [], resourceId: project.id };
  },
  async formTimer(_db, project) {
    return { workflowId: 'forms/timer', args: [], resourceId: project.id };
  },
  async retention(_db, project) {
    return { workflowId: 'retention', args: [], resourceId: project.id };
  },
};

const settings = readSettings({ DOMAIN_CHECK_PENDING_SECONDS: '1' });
/** Receives the webhooks of recorded executions. */
const allowedHosts: string[] = [];

const executionRun = (project: TestProject, workflowId: string, executionId: string) => ({
  workflowId: workflowIds.execution(project.id, executionId, 1),
  args: [{ executionId, generation: 1 }],
  resourceId: workflowId,
});

/** The default is thousands of events, too many for a readable file. */
const serverConfig: Record<string, Record<string, string>> = {
  'execution/continued': { 'limit.historyCount.suggestContinueAsNew': '15' },
  'sender/continued': { 'limit.historyCount.suggestContinueAsNew': '15' },
};

const folder = historyFolder();

async function record(name: string): Promise<void> {
  const scene = scenes[name];
  const [workflowType = ''] = name.split('/');
  if (!scene) throw new Error(`There is no scene for ${name}; there are ${Object.keys(scenes).join(', ')}.`);
  const config = serverConfig[name];
  const server = config && (await ownDevServer({ config }));
  const database = await connectTestDatabase();
  const smtp = await startSmtp();
  const temporal = await ownNamespace(server);
  const { db } = database;
  const ending = new AbortController();
  const stopping = ending.signal;
  const dns = await startDns();
  const resolver = createResolver({ servers: [dns.address] });
  const sending = testSender(database.url, { url: smtp.url, connections: 3 });
  const keys = settings.secretKeys;
  const advancing = { db, renderer: testRenderer(), links: testLinks, now: () => new Date(), keys };
  const workers = new TemporalWorkers({
    settings: temporalSettings(temporal.address, temporal.namespace),
    temporal,
    duties: [
      await workflowsQueueOptions(advancing),
      ...(workflowType === 'sender' ? [mailQueueOptions({ sender: sending.sender, stopping, runMs: 300 })] : []),
      bulkQueueOptions({ db, limits, retention: settings, formSettings: settings, now: () => new Date(), stopping }),
      domainsQueueOptions({ db, resolver, settings }),
      executionsQueueOptions({ ...advancing, temporalSide: openRuns(temporal) }),
      webhooksQueueOptions({
        db,
        http: (request) => outboundHttp({ resolver, allowedHosts })(request),
        keys: settings.secretKeys,
        now: () => new Date(),
      }),
      webhookEndpointsQueueOptions({
        db,
        resolver,
        allowedHosts,
        keys: settings.secretKeys,
        systemFrom: settings.systemFrom,
        stopping,
        now: () => new Date(),
      }),
    ],
    log: silent,
  });
  const { meanwhile, ...run } = await scene(db, await makeProject(db));
  // The other workflows need no sender workflow for their mail.
  const isSending = workflowType !== 'sender' && sending.sender.run({ durationMs: 300_000, stop: stopping });
  await sendToTemporal(temporal, { action: 'start', workflowType, ...run });
  const handle = temporal.client.workflow.getHandle(run.workflowId);
  await meanwhile?.(handle);
  // A cancelled workflow has no result.
  await handle.result().catch(() => {});
  for (const history of await historiesOf(temporal, run.workflowId)) keep(workflowType, historyToJSON(history));
  ending.abort();
  await Promise.all([workers.stop(), isSending]);
  await sending.close();
  resolver.close();
  await Promise.all([dns.stop(), smtp.close(), database.close(), temporal.close()]);
}

/** Returns the histories of all runs, in order, of a workflow that continued as new. */
async function historiesOf({ client }: OwnNamespace, workflowId: string) {
  const last = await client.workflow.getHandle(workflowId).fetchHistory();
  const histories = [];
  let runId = last.events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId;
  while (runId) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    histories.push(history);
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return histories;
}

function keep(workflowType: string, history: string): void {
  mkdirSync(folder, { recursive: true });
  let number = 1;
  while (existsSync(join(folder, `${workflowType}-${number}.json`))) number++;
  // Replay ignores stack traces, and they contain paths of the recording machine.
  const withoutTraces = history.replace(/("stackTrace": ?)"(?:[^"\\]|\\.)*"/g, '$1""');
  writeFileSync(join(folder, `${workflowType}-${number}.json`), `${withoutTraces}\n`);
  console.log(`${workflowType}-${number}.json`);
}

async function main(types: string[]): Promise<void> {
  for (const type of types.length > 0 ? types : Object.keys(scenes)) await record(type);
}

main(process.argv.slice(2))
  .finally(endAll)
  .then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
