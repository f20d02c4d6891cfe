import { expect } from 'chai';
import { attributeKeys } from '../../temporal/search-attributes.ts';
import { mailById } from '../support/ledger.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('sending one mail end to end', function () {
  this.timeout(120_000);
  let temporal: OwnNamespace;
  let stack: Stack;
  let worker: ServiceProcess;

  before(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
    worker = await stack.startWorker();
  });
  after(async () => {
    await stack?.end();
    await temporal?.close();
  });

  // A worker starts slowly on a busy machine.
  const finished = (id: string) =>
    eventually(
      async () => {
        const mail = await mailById(stack.database.db, id);
        return !['PENDING', 'SENDING'].includes(mail.status) && mail;
      },
      { what: 'a result', timeoutMs: 30_000 },
    );

  it('delivers an accepted mail by a Temporal workflow that can be found by its batch', async () => {
    const id = await stack.send('ann@example.com');
    const [received] = await stack.smtp.received(1, { to: 'ann@example.com', timeoutMs: 30_000 });
    expect(received?.messageId).to.equal(`<${id}@${stack.project.senderDomain}>`);
    const parsed = await received?.parsed();
    expect(parsed).to.include({ subject: 'Hello' });
    const mail = await finished(id);
    expect(mail).to.include({ status: 'SENT', attempts: 1 });

    const query = `WorkflowType = 'delivery' AND ${attributeKeys.resourceId.name} = '${mail.batchId}'`;
    const found = await eventually(async () => {
      for await (const run of temporal.client.workflow.list({ query })) if (run.status.name === 'COMPLETED') return run;
      return undefined;
    });
    expect(found.workflowId).to.equal(`delivery/${mail.batchId}`);
  });

  it('batches a burst into few deliveries and sends every mail once', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => stack.send()));
    const mails = await Promise.all(ids.map(finished));
    expect(mails.map(({ status }) => status)).to.deep.equal(ids.map(() => 'SENT'));
    const sent = stack.smtp.mails.map(({ messageId }) => messageId);
    const expected = ids.map((id) => `<${id}@${stack.project.senderDomain}>`);
    expect(sent.filter((id) => expected.includes(id ?? '')))
      .to.have.members(expected)
      .and.have.length(60);
    expect(new Set(mails.map(({ batchId }) => batchId)).size).to.be.below(60);
  });

  it('reports ready and no waiting work on the probes of the worker', async () => {
    const ready = await fetch(`${worker.url}/ready`);
    expect(ready.status).to.equal(200);
    const parts = { database: 'ok', migrations: 'ok', temporal: 'ok' };
    expect(await ready.json()).to.deep.equal({ status: 'ok', parts });
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    expect(metrics).to.match(/^everpost_mail_results_total\{result="sent"\} 61$/m);
    expect(metrics).to.match(/^everpost_outbox_rows\{queue="mail",state="waiting"\} 0$/m);
    expect(metrics).to.match(/^everpost_mail\{state="due"\} 0$/m);
  });

  it('loses no mail when the worker gets SIGTERM during deliveries, and exits with 0', async () => {
    stack.smtp.misbehave({ at: 'accepted', do: { delayMs: 20 } });
    const before = stack.smtp.mails.length;
    const ids = await Promise.all(Array.from({ length: 80 }, () => stack.send()));
    await eventually(() => stack.smtp.mails.length > before + 5);
    const exit = await worker.stop();
    expect(exit, worker.logs()).to.deep.equal({ code: 0, signal: null });
    const db = stack.database.db;
    expect(await db('emails').where({ status: 'SENDING' }), 'no mail is left in flight').to.deep.equal([]);
    expect(stack.smtp.mails.length, 'it did not wait for all of them').to.be.below(before + 80);
    worker = await stack.startWorker();
    const mails = await Promise.all(ids.map(finished));
    for (const mail of mails) expect(mail).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
    expect(stack.smtp.mails).to.have.length(before + 80);
  });
});
