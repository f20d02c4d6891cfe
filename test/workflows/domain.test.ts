import { WithStartWorkflowOperation } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { domainActivities } from '../../activities/domains.ts';
import { Domain } from '../../db/models/domain.ts';
import { createResolver, type Resolver } from '../../platform/http/resolver.ts';
import { readSettings } from '../../platform/settings.ts';
import { createDomain } from '../../services/domains/create.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import type { DomainWithRecords } from '../../services/domains/find.ts';
import { loopOf } from '../../services/domains/loop.ts';
import { updateNames } from '../../services/outbox/signals.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { type DnsStandIn, startDns } from '../support/dns.ts';
import { timeSkipping } from '../support/temporal.ts';
import '../support/temporal-work.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { systemMailsWith } from '../support/rows/mails.ts';
import { eventually } from '../support/waiting.ts';

describe('the domain workflow', () => {
  let env: TestWorkflowEnvironment;
  let database: ConnectedDatabase;
  let dns: DnsStandIn;
  let resolver: Resolver;
  let project: TestProject;
  let stop: () => Promise<void>;
  let made = 0;
  const settings = readSettings({});
  const checks: string[] = [];

  before(async () => {
    [env, database, dns] = await Promise.all([timeSkipping(), connectTestDatabase(), startDns()]);
    project = await makeProject(database.db);
    resolver = createResolver({ servers: [dns.address], timeoutMs: 200 });
    const real = domainActivities({ db: database.db, resolver, settings });
    const activities = {
      checkDomain: (id: string, generation: number) => {
        checks.push(id);
        return real.checkDomain(id, generation);
      },
    };
    const base = { connection: env.nativeConnection };
    const workers = [
      await Worker.create({ ...base, taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({ ...base, taskQueue: taskQueues.domains, activities }),
    ];
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
    };
  });
  after(async () => {
    await stop?.();
    resolver?.close();
    await env?.teardown();
    await dns?.stop();
    await database?.close();
  });

  const add = () => createDomain(database.db, project.access, `loop${++made}.example`, settings);
  const dkimOf = ({ records }: DomainWithRecords) => {
    const record = records.find(({ purpose }) => purpose === 'DKIM');
    if (!record) throw new Error('there is no DKIM record');
    return record;
  };
  const publish = (domain: DomainWithRecords) => {
    const { name, value } = dkimOf(domain);
    dns.set(name, 'TXT', [value.match(/.{1,255}/g) ?? []]);
  };
  const start = (domain: Domain) => {
    const { workflowType, workflowId, args } = loopOf(domain);
    return env.client.workflow.start(workflowType, { taskQueue: taskQueues.workflows, workflowId, args });
  };
  const state = async ({ id }: Domain) => (await Domain.query(database.db).findById(id))?.status;
  const checksOf = ({ id }: Domain) => checks.filter((checked) => checked === id).length;

  it('checks every 5 minutes while pending and every hour once verified', async () => {
    const added = await add();
    const { domain } = added;
    const run = await start(domain);
    await env.sleep('1 hour');
    expect(checksOf(domain)).to.be.within(12, 14);
    expect(await state(domain)).to.equal('PENDING');
    publish(added);
    await env.sleep('6 minutes');
    expect(await state(domain)).to.equal('VERIFIED');
    const before = checksOf(domain);
    await env.sleep('2 days');
    expect(checksOf(domain) - before).to.be.within(47, 49);
    await run.terminate();
  });

  it('continues as new before its history grows too long, and survives an outage of a week', async () => {
    const added = await add();
    const { domain } = added;
    publish(added);
    const run = await start(domain);
    await env.sleep('1 hour');
    expect(await state(domain)).to.equal('VERIFIED');
    dns.fail(dkimOf(added).name, 'SERVFAIL');
    await env.sleep('7 days');
    expect(await state(domain)).to.equal('VERIFIED');
    dns.fail(dkimOf(added).name, undefined);
    await env.sleep('10 days');
    const { raw } = await env.client.workflow.getHandle(run.workflowId).describe();
    expect(raw.workflowExecutionInfo?.execution?.runId).to.not.equal(run.firstExecutionRunId);
    expect(checksOf(domain)).to.be.within(24 * 17 - 10, 24 * 17 + 10);
    await env.client.workflow.getHandle(run.workflowId).terminate();
  });

  it('loses its verification on the third failed check, two hours after the first', async () => {
    const added = await add();
    const { domain } = added;
    publish(added);
    const run = await start(domain);
    await env.sleep('10 minutes');
    expect(await state(domain)).to.equal('VERIFIED');
    dns.remove(dkimOf(added).name);
    await env.sleep('130 minutes');
    expect(await state(domain)).to.equal('VERIFIED');
    await env.sleep('1 hour');
    expect(await state(domain)).to.equal('PENDING');
    const mails = await systemMailsWith(database.db, `${domain.domain} is no longer verified`);
    expect(mails).to.have.length(1);
    await run.terminate();
  });

  it('checks at once on request, and shares one check between concurrent requests', async () => {
    const added = await add();
    const { domain } = added;
    const run = await start(domain);
    await eventually(() => checksOf(domain) === 1);
    publish(added);
    await eventually(async () => (await Domain.query(database.db).findById(domain.id))?.lastCheckedAt != null);
    const before = checksOf(domain);
    // Delays the check, so that all requests arrive while it runs.
    dns.fail(dkimOf(added).name, 'silence');
    const asked = Array.from({ length: 5 }, () => run.executeUpdate(updateNames.checkDomain));
    await eventually(() => checksOf(domain) > before);
    dns.fail(dkimOf(added).name, undefined);
    await Promise.all(asked);
    expect(checksOf(domain) - before).to.be.within(1, 2);
    await run.executeUpdate(updateNames.checkDomain);
    expect(await state(domain)).to.equal('VERIFIED');
    await run.terminate();
  });

  it('starts with the request when it is not running', async () => {
    const added = await add();
    publish(added);
    const { workflowType, workflowId, args } = loopOf(added.domain);
    const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
      workflowId,
      args,
      taskQueue: taskQueues.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    await env.client.workflow.executeUpdateWithStart(updateNames.checkDomain, { startWorkflowOperation, args: [] });
    expect(await state(added.domain)).to.equal('VERIFIED');
    expect(checksOf(added.domain)).to.equal(1);
    await env.client.workflow.getHandle(workflowId).terminate();
  });

  it('ends when the domain is deleted, and when a run with a later generation exists', async () => {
    const first = await add();
    const second = await add();
    const runs = [await start(first.domain), await start(second.domain)];
    await eventually(() => checksOf(first.domain) + checksOf(second.domain) === 2);
    await deleteDomain(database.db, project.access, first.domain.id);
    await Domain.query(database.db).findById(second.domain.id).patch({ generation: 2 });
    for (const run of runs) await run.result();
  });

  it('ends at once when it is cancelled', async () => {
    const { domain } = await add();
    const run = await start(domain);
    await eventually(() => checksOf(domain) === 1);
    await run.cancel();
    const error = await run.result().catch((reason: unknown) => reason);
    expect(String(error)).to.match(/cancelled/i);
  });
});
