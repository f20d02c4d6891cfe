import { expect } from 'chai';
import { DomainWorkflows, dkimOf } from '../support/domain-workflows.ts';

describe('the domain workflow over weeks', () => {
  let domains: DomainWorkflows;

  before(async () => {
    domains = await DomainWorkflows.start();
  });
  after(() => domains?.close());

  it('continues as new before its history grows too long, and survives an outage of a week', async () => {
    const added = await domains.add();
    const { domain } = added;
    domains.publish(added);
    const run = await domains.run(domain);
    await domains.env.sleep('1 hour');
    expect(await domains.statusOf(domain)).to.equal('VERIFIED');
    domains.dns.fail(dkimOf(added).name, 'SERVFAIL');
    await domains.env.sleep('7 days');
    expect(await domains.statusOf(domain)).to.equal('VERIFIED');
    domains.dns.fail(dkimOf(added).name, undefined);
    await domains.env.sleep('10 days');
    const { raw } = await domains.env.client.workflow.getHandle(run.workflowId).describe();
    expect(raw.workflowExecutionInfo?.execution?.runId).to.not.equal(run.firstExecutionRunId);
    expect(domains.checksOf(domain)).to.be.within(24 * 17 - 10, 24 * 17 + 10);
    await domains.env.client.workflow.getHandle(run.workflowId).terminate();
  });
});
