import { expect } from 'chai';
import { newId } from '../../platform/ids.ts';
import { removeSchedule } from '../../temporal/cron-schedules.ts';
import { ForeignNamespaceError, NamespaceOwner } from '../../temporal/namespace-owner.ts';
import { openRuns } from '../../temporal/open-runs.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { type Env, spawnWorker, startWorker } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

describe('a namespace of Temporal', () => {
  let temporal: OwnNamespace;

  before(async () => {
    temporal = await ownNamespace();
  });
  after(() => temporal.close());

  const ownerOf = (id: string) => new NamespaceOwner(temporal, id);
  const refusal = (owner: NamespaceOwner) =>
    owner.verify().then(
      () => undefined,
      (error: unknown) => error,
    );

  it('belongs to the installation that uses it first, of several that start at once', async () => {
    const owners = Array.from({ length: 4 }, () => ownerOf(newId()));
    const refusals = await Promise.all(owners.map(refusal));
    expect(refusals.filter((error) => error === undefined)).to.have.lengthOf(1);
    for (const error of refusals.filter(Boolean)) expect(error).to.be.instanceOf(ForeignNamespaceError);
  });

  it('is refused to another installation, with a message that names both and the setting', async () => {
    const owner = await ownerOf('').owner();
    const error = await refusal(ownerOf('b'));
    expect(String(error))
      .to.include(temporal.namespace)
      .and.include(owner)
      .and.include('this one is b')
      .and.include('TEMPORAL_NAMESPACE');
  });

  it('is verified again by its owner after the marker was lost', async () => {
    const owner = ownerOf((await ownerOf('').owner()) ?? '');
    await owner.verify();
    await removeSchedule(temporal, 'everpost/installation');
    await owner.verifyAgain();
    expect(await refusal(ownerOf('b'))).to.be.instanceOf(ForeignNamespaceError);
  });

  it('lists nothing for the reconciler of another installation', async () => {
    const foreign = openRuns(temporal, ownerOf('b')).open();
    const error = await foreign.next().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ForeignNamespaceError);
  });

  it('can be taken from an installation that no longer exists', async () => {
    const taker = ownerOf('taker');
    expect(await taker.take()).to.be.a('string');
    expect(await taker.owner()).to.equal('taker');
  });

  it('lists only workflows of our task queue for the reconciler', async () => {
    const start = (workflowId: string, taskQueue: string) =>
      temporal.client.workflow.start('execution', { workflowId, taskQueue, args: [] });
    await start('execution/other/application/1', 'of-another-application');
    await start('execution/ours/row/1', 'everpost-workflows');
    const open = async () => {
      const ids: string[] = [];
      for await (const page of openRuns(temporal).open()) ids.push(...page.map(({ workflowId }) => workflowId));
      return ids;
    };
    // The list lags behind by a moment.
    await eventually(async () => (await open()).length > 0, { what: 'an open workflow' });
    expect(await open()).to.deep.equal(['execution/ours/row/1']);
  });
});

describe('workers of two installations that name the same namespace', () => {
  let databases: ConnectedDatabase[];
  let temporal: OwnNamespace;

  before(async () => {
    databases = [await connectTestDatabase(2), await connectTestDatabase(2)];
    // Test databases are copies of one template, with its id.
    await databases[1]?.db('installation').update({ id: newId() });
    temporal = await ownNamespace();
  });
  after(async () => {
    for (const database of databases) await database.close();
    await temporal.close();
  });

  const env = (n: number): Env => ({
    DATABASE_URL: databases[n]?.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SMTP_URL: 'smtp://127.0.0.1:1',
  });

  it('the second one exits with a message, and the first goes on', async () => {
    const first = await startWorker(env(0));
    const second = await spawnWorker(env(1));
    expect((await second.exited).code).to.equal(1);
    expect(second.logs()).to.include('belongs to another Everpost installation').and.include('TEMPORAL_NAMESPACE');
    expect((await fetch(`${first.url}/ready`)).status).to.equal(200);
    await first.stop();
  });
});
