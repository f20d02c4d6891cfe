import { expect } from 'chai';
import { Domain } from '../../db/models/domain.ts';
import { freePort } from '../../dev/ports.ts';
import { createResolver, type Resolver } from '../../platform/http/resolver.ts';
import { readSettings } from '../../platform/settings.ts';
import { createDomain } from '../../services/domains/create.ts';
import type { DomainWithRecords } from '../../services/domains/find.ts';
import { loopOf } from '../../services/domains/loop.ts';
import { requestDomainCheck } from '../../temporal/check-domain.ts';
import { createTemporal } from '../../temporal/connection.ts';
import { domainsQueueOptions, workflowsQueueOptions } from '../../worker/task-queue-options.ts';
import { TemporalWorkers } from '../../worker/temporal-workers.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { testKeys } from '../support/keys.ts';
import { testRenderer } from '../support/renderer.ts';
import { bareNamespace, type OwnNamespace, ownNamespace, silent, temporalSettings } from '../support/temporal-work.ts';

describe('checkDomainNow', () => {
  let database: ConnectedDatabase;
  let dns: DnsStandIn;
  let resolver: Resolver;
  let temporal: OwnNamespace;
  let workers: TemporalWorkers;
  let project: TestProject;
  const settings = readSettings({});

  before(async () => {
    [database, dns, temporal] = await Promise.all([connectTestDatabase(), startDns(), ownNamespace()]);
    project = await makeProject(database.db);
    resolver = createResolver({ servers: [dns.address], timeoutMs: 30_000, deadlineMs: 60_000 });
    workers = new TemporalWorkers({
      settings: temporalSettings(temporal.address, temporal.namespace),
      temporal,
      duties: [
        await workflowsQueueOptions({
          db: database.db,
          renderer: testRenderer(),
          now: () => new Date(),
          keys: testKeys,
        }),
        domainsQueueOptions({ db: database.db, resolver, settings }),
      ],
      log: silent,
    });
  });
  after(async () => {
    await workers?.stop();
    resolver?.close();
    await temporal?.close();
    await dns?.stop();
    await database?.close();
  });

  let made = 0;
  const add = () => createDomain(database.db, project.access, `asked${++made}.example`, settings);
  const publish = ({ records }: DomainWithRecords) => {
    for (const { purpose, name, value } of records)
      if (purpose === 'DKIM') dns.set(name, 'TXT', [value.match(/.{1,255}/g) ?? []]);
  };
  const statusOf = async ({ domain }: DomainWithRecords) =>
    (await Domain.query(database.db).findById(domain.id))?.status;

  it('starts the workflow, waits for the result, and uses the running workflow the next time', async () => {
    const domain = await add();
    const loop = loopOf(domain.domain);
    expect(await requestDomainCheck(temporal, loop)).to.equal('checked');
    expect(await statusOf(domain)).to.equal('PENDING');
    publish(domain);
    expect(await requestDomainCheck(temporal, loop)).to.equal('checked');
    expect(await statusOf(domain)).to.equal('VERIFIED');
    const { runId } = (await temporal.client.workflow.getHandle(loop.workflowId).describe()) ?? {};
    await Promise.all(Array.from({ length: 5 }, () => requestDomainCheck(temporal, loop)));
    expect((await temporal.client.workflow.getHandle(loop.workflowId).describe()).runId).to.equal(runId);
  });

  it('restarts a workflow that was terminated by hand', async () => {
    const domain = await add();
    const loop = loopOf(domain.domain);
    await requestDomainCheck(temporal, loop);
    await temporal.client.workflow.getHandle(loop.workflowId).terminate();
    publish(domain);
    expect(await requestDomainCheck(temporal, loop)).to.equal('checked');
    expect(await statusOf(domain)).to.equal('VERIFIED');
  });

  it('returns running when no worker responds, and unavailable when Temporal is unavailable', async () => {
    const { domain } = await add();
    const idle = await bareNamespace();
    const impatient = createTemporal(temporalSettings(idle.address, idle.namespace), {
      deadlines: { ExecuteMultiOperation: 1_500 },
    });
    expect(await requestDomainCheck(impatient, loopOf(domain))).to.equal('running');
    await impatient.close();
    await idle.close();
    const unreachable = createTemporal(temporalSettings(`127.0.0.1:${await freePort()}`));
    expect(await requestDomainCheck(unreachable, loopOf(domain))).to.equal('unavailable');
    await unreachable.close();
  });
});
