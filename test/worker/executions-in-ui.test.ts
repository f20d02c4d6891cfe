import { expect } from 'chai';
import { Listener } from '../../db/listener.ts';
import { openRuns } from '../../temporal/open-runs.ts';
import { Relay } from '../../worker/relay.ts';
import { executionsQueueOptions, workflowsQueueOptions } from '../../worker/task-queue-options.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { type CreatedWorkflow, ExecutionDriver, insertWorkflow } from '../support/executions.ts';
import { testKeys } from '../support/keys.ts';
import { testRenderer } from '../support/renderer.ts';
import { type OwnNamespace, ownNamespace, silent, temporalSettings } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const NAME = 'Ännchen';
const EMAIL = 'aennchen.private@example.com';

/** Collects every text and payload of a history. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe('an execution in the Temporal Web UI', () => {
  let database: ConnectedDatabase;
  let project: TestProject;
  let temporal: OwnNamespace;
  let workflow: CreatedWorkflow;
  let contactId: string;
  let executionId: string;
  const ends: (() => Promise<unknown>)[] = [];

  before(async () => {
    database = await connectTestDatabase();
    ends.push(() => database.close());
    project = await makeProject(database.db);
    temporal = await ownNamespace();
    ends.push(() => temporal.close());
    await startWorker();
    const driver = new ExecutionDriver(database.db, project);
    workflow = await insertWorkflow(database.db, project, {
      steps: {
        [`Greet ${NAME}`]: ['UPDATE_CONTACT', { data: { greeted: true } }],
        ask: ['CONDITION', { field: 'data.greeted', operator: 'equals', value: true }],
        wait: ['WAIT_FOR_EVENT', { eventName: 'bought', timeout: { amount: 3, unit: 'days' } }],
      },
      arrows: [`Greet ${NAME} -> ask`, 'ask -yes-> wait'],
    });
    executionId = await driver.start(workflow, EMAIL, { name: NAME });
    ({ contactId } = await driver.execution(executionId));
    await eventually(async () => (await driver.execution(executionId)).status === 'WAITING');
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  async function startWorker(): Promise<void> {
    const { db, url } = database;
    const deps = { db, renderer: testRenderer(), now: () => new Date(), keys: testKeys };
    const duties = [
      await workflowsQueueOptions(deps),
      executionsQueueOptions({ ...deps, temporalSide: openRuns(temporal) }),
    ];
    const settings = temporalSettings(temporal.address, temporal.namespace);
    const workers = new TemporalWorkers({ settings, temporal, duties, log: silent });
    const listener = new Listener({ databaseUrl: url, log: silent });
    const relay = new Relay({ db, temporal, listener, log: silent });
    relay.start();
    await listener.start();
    ends.push(
      () => workers.stop(),
      () => relay.stop(),
      () => listener.stop(),
    );
  }

  const found = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const run of temporal.client.workflow.list({ query })) ids.push(run.workflowId);
    return ids;
  };
  const handle = () => temporal.client.workflow.getHandle(`execution/${project.id}/${executionId}/1`);

  it('is found by project, contact, workflow and type of step, by the queries in docs/operations.md', async () => {
    const queries = [
      `WorkflowType = 'execution' AND ProjectId = '${project.id}'`,
      `ContactId = '${contactId}'`,
      `ResourceId = '${workflow.id}' AND ExecutionStatus = 'Running'`,
      `ResourceId = '${workflow.id}' AND StepType = 'WAIT_FOR_EVENT'`,
      `WorkflowId STARTS_WITH 'execution/${project.id}/${executionId}/'`,
    ];
    for (const query of queries)
      expect(
        await eventually(async () => ((await found(query)).length > 0 ? found(query) : false), { what: query }),
      ).to.deep.equal([handle().workflowId]);
    expect(await found(`ResourceId = '${workflow.id}' AND StepType = 'DELAY'`)).to.deep.equal([]);
  });

  it('shows its workflow, its steps, what it waits for and until when', async () => {
    const description = await handle().describe();
    expect(await description.staticSummary()).to.equal(`workflow ${workflow.id}, version 1`);
    const metadata = await handle().query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    const details = metadata.currentDetails ?? '';
    expect(details)
      .to.match(/1\. UPDATE_CONTACT .*COMPLETED/)
      .and.match(/2\. CONDITION .*left by yes/);
    expect(details).to.match(/waiting: WAIT_FOR_EVENT bought until \d{4}-\d\d-\d\dT/);
  });

  it('has a summary on every timer and activity', async () => {
    const { events } = await handle().fetchHistory();
    const summarized = (events ?? []).filter(
      (event) =>
        event.timerStartedEventAttributes ||
        event.activityTaskScheduledEventAttributes ||
        event.markerRecordedEventAttributes?.markerName === 'core_local_activity',
    );
    expect(summarized.length).to.be.at.least(2);
    for (const { userMetadata } of summarized) expect(userMetadata?.summary?.data?.length ?? 0).to.be.above(0);
  });

  it('contains no personal data: neither the address nor customer texts', async () => {
    const history = textsIn((await handle().fetchHistory()).events).join('\n');
    const metadata = JSON.stringify(await handle().query('__temporal_workflow_metadata'));
    for (const text of [history, metadata]) {
      expect(text).to.include('UPDATE_CONTACT');
      for (const secret of [NAME, EMAIL, 'Greet', 'greeted']) expect(text).to.not.include(secret);
    }
  });
});
