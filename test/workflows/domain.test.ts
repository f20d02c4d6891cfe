import { WithStartWorkflowOperation } from '@temporalio/client';
import { expect } from 'chai';
import { Domain } from '../../db/models/domain.ts';
import { deleteDomain } from '../../services/domains/delete.ts';
import { loopOf } from '../../services/domains/loop.ts';
import { updateNames } from '../../services/outbox/signals.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { DomainWorkflows, dkimOf } from '../support/domain-workflows.ts';
import { systemMailsWith } from '../support/rows/mails.ts';
import { eventually } from '../support/waiting.ts';

describe('the domain workflow', () => {
  let domains: DomainWorkflows;

  before(async () => {
    domains = await DomainWorkflows.start();
  });
  after(() => domains?.close());

  it('checks every 5 minutes while pending and every hour once verified', async () => {
    const added = await domains.add();
    const { domain } = added;
    const run = await domains.run(domain);
    await domains.env.sleep('1 hour');
    expect(domains.checksOf(domain)).to.be.within(12, 14);
    expect(await domains.statusOf(domain)).to.equal('PENDING');
    domains.publish(added);
    await domains.env.sleep('6 minutes');
    expect(await domains.statusOf(domain)).to.equal('VERIFIED');
    const before = domains.checksOf(domain);
    await domains.env.sleep('2 days');
    expect(domains.checksOf(domain) - before).to.be.within(47, 49);
    await run.terminate();
  });

  it('loses its verification on the third failed check, two hours after the first', async () => {
    const added = await domains.add();
    const { domain } = added;
    domains.publish(added);
    const run = await domains.run(domain);
    await domains.env.sleep('10 minutes');
    expect(await domains.statusOf(domain)).to.equal('VERIFIED');
    domains.dns.remove(dkimOf(added).name);
    await domains.env.sleep('130 minutes');
    expect(await domains.statusOf(domain)).to.equal('VERIFIED');
    await domains.env.sleep('1 hour');
    expect(await domains.statusOf(domain)).to.equal('PENDING');
    const mails = await systemMailsWith(domains.database.db, `${domain.domain} is no longer verified`);
    expect(mails).to.have.length(1);
    await run.terminate();
  });

  it('checks at once on request, and shares one check between concurrent requests', async () => {
    const added = await domains.add();
    const { domain } = added;
    const run = await domains.run(domain);
    await eventually(() => domains.checksOf(domain) === 1);
    domains.publish(added);
    await eventually(async () => (await Domain.query(domains.database.db).findById(domain.id))?.lastCheckedAt != null);
    const before = domains.checksOf(domain);
    // The check is held until all requests have arrived.
    const release = domains.holdChecks();
    const asked = Array.from({ length: 5 }, () => run.executeUpdate(updateNames.checkDomain));
    await eventually(
      async () => {
        const { events } = await run.fetchHistory();
        return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length === 5;
      },
      { what: 'five requests' },
    );
    await eventually(() => domains.checksOf(domain) > before, { what: 'a check' });
    release();
    await Promise.all(asked);
    expect(domains.checksOf(domain) - before).to.be.within(1, 2);
    await run.executeUpdate(updateNames.checkDomain);
    expect(await domains.statusOf(domain)).to.equal('VERIFIED');
    await run.terminate();
  });

  it('starts with the request when it is not running', async () => {
    const added = await domains.add();
    domains.publish(added);
    const { workflowType, workflowId, args } = loopOf(added.domain);
    const startWorkflowOperation = new WithStartWorkflowOperation(workflowType, {
      workflowId,
      args,
      taskQueue: taskQueues.workflows,
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    await domains.env.client.workflow.executeUpdateWithStart(updateNames.checkDomain, {
      startWorkflowOperation,
      args: [],
    });
    expect(await domains.statusOf(added.domain)).to.equal('VERIFIED');
    expect(domains.checksOf(added.domain)).to.equal(1);
    await domains.env.client.workflow.getHandle(workflowId).terminate();
  });

  it('ends when the domain is deleted, and when a run with a later generation exists', async () => {
    const first = await domains.add();
    const second = await domains.add();
    const runs = [await domains.run(first.domain), await domains.run(second.domain)];
    await eventually(() => domains.checksOf(first.domain) + domains.checksOf(second.domain) === 2);
    await deleteDomain(domains.database.db, domains.project.access, first.domain.id);
    await Domain.query(domains.database.db).findById(second.domain.id).patch({ generation: 2 });
    for (const run of runs) await run.result();
  });

  it('ends at once when it is cancelled', async () => {
    const { domain } = await domains.add();
    const run = await domains.run(domain);
    await eventually(() => domains.checksOf(domain) === 1);
    await run.cancel();
    const error = await run.result().catch((reason: unknown) => reason);
    expect(String(error)).to.match(/cancelled/i);
  });
});
