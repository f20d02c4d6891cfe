import { expect } from 'chai';
import { describeDeployment } from '../../temporal/deployment.ts';
import { becomesCurrent } from '../../worker/deployment.ts';
import { runCli } from '../support/cli.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type Env, startWorker } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

describe('a build of the workflow code', () => {
  const own = { id: 'b', seenAt: at(5) };
  const state = (current: string, chosenAt: Date | undefined) => ({ current, chosenAt, builds: [own] });

  it('becomes current when none was chosen', () => {
    expect(becomesCurrent(own, state('unversioned', undefined), new Set(['unversioned', 'b']))).to.equal(true);
  });
  it('becomes current when it is newer than the last choice', () => {
    expect(becomesCurrent(own, state('a', at(4)), new Set(['a', 'b']))).to.equal(true);
  });
  it('stays as it is after an operator has gone back', () => {
    expect(becomesCurrent(own, state('a', at(6)), new Set(['a', 'b']))).to.equal(false);
  });
  it('becomes current when no worker runs the current one', () => {
    expect(becomesCurrent(own, state('a', at(6)), new Set(['b']))).to.equal(true);
  });
  it('does nothing when it is current', () => {
    expect(becomesCurrent(own, state('b', at(4)), new Set(['b']))).to.equal(false);
  });
});

describe('workers with builds', () => {
  let database: ConnectedDatabase;
  let temporal: OwnNamespace;
  let env: Env;

  before(async () => {
    database = await connectTestDatabase(2);
    temporal = await ownNamespace();
    env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: 'smtp://127.0.0.1:1',
      WORKER_VERSIONING: 'true',
    };
  });
  after(async () => {
    await database.close();
    await temporal.close();
  });

  const currentIs = (build: string) =>
    eventually(async () => (await describeDeployment(temporal).catch(() => undefined))?.current === build, {
      what: `${build} to be current`,
    });
  /** Proves that workflow tasks are handled: a run of the retention ends. */
  const runs = async () => {
    const workflowId = `retention-${Date.now()}`;
    await temporal.client.workflow.execute('retention', { workflowId, taskQueue: 'everpost-workflows', args: [] });
    const { raw } = await temporal.client.workflow.getHandle(workflowId).describe();
    const { versioningInfo } = raw.workflowExecutionInfo ?? {};
    return { build: versioningInfo?.deploymentVersion?.buildId, behavior: versioningInfo?.behavior };
  };
  const PINNED = 1;

  it('get the tasks after a release and after going back', async () => {
    const a = await startWorker({ ...env, WORKER_BUILD_ID: 'a' });
    await currentIs('a');
    expect(await runs()).to.deep.equal({ build: 'a', behavior: PINNED });

    const b = await startWorker({ ...env, WORKER_BUILD_ID: 'b' });
    await currentIs('b');
    expect(await runs()).to.deep.equal({ build: 'b', behavior: PINNED });

    expect(await runCli(['deploy', 'set-current', 'c'], env)).to.include({ ok: false });
    expect(await runCli(['deploy', 'set-current', 'a'], env)).to.include({ ok: true, current: 'a' });
    expect(await runs()).to.deep.equal({ build: 'a', behavior: PINNED });
    const { builds } = await runCli(['deploy', 'status'], env);
    expect(builds).to.have.deep.members([
      { id: 'a', current: true, running: true },
      { id: 'b', current: false, running: true },
    ]);

    // Nobody set it: the workers of the current build are gone.
    await a.stop();
    await currentIs('b');
    expect(await runs()).to.deep.equal({ build: 'b', behavior: PINNED });
    await b.stop();
  });
});
