import { expect } from 'chai';
import { mailById } from '../support/ledger.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { outgoingMails, runningSenders } from '../support/rows/mails.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('sending one mail end to end', () => {
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
        return mail.status !== 'PENDING' && mail;
      },
      { what: 'a result' },
    );

  const workflowIdsOf = async (query: string): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { workflowId } of temporal.client.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };

  it('sends an accepted mail with a stable Message-ID', async () => {
    const id = await stack.send('ann@example.com');
    const [received] = await stack.smtp.received(1, { to: 'ann@example.com' });
    expect(received?.messageId).to.equal(`<${id}@${stack.project.senderDomain}>`);
    const parsed = await received?.parsed();
    expect(parsed).to.include({ subject: 'Hello' });
    expect(await finished(id)).to.include({ status: 'SENT', attempts: 1 });
  });

  it('sends every mail of a burst once, and costs Temporal nothing per mail', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, () => stack.send()));
    const mails = await Promise.all(ids.map(finished));
    expect(mails.map(({ status }) => status)).to.deep.equal(ids.map(() => 'SENT'));
    const sent = stack.smtp.mails.map(({ messageId }) => messageId);
    const expected = ids.map((id) => `<${id}@${stack.project.senderDomain}>`);
    expect(sent.filter((id) => expected.includes(id ?? '')))
      .to.have.members(expected)
      .and.have.length(60);
    // One for the process and a spare one, whatever the number of mails.
    const senders = () => workflowIdsOf("WorkflowType = 'sender'");
    await eventually(async () => (await senders()).length === 2, { what: 'two sender workflows' });
    expect(await senders()).to.have.members(['sender/1', 'sender/2']);
    for (const id of await senders()) {
      const { historyLength } = await temporal.client.workflow.getHandle(id).describe();
      expect(historyLength).to.be.below(15);
    }
  });

  it('reports ready and no waiting work on the probes of the worker', async () => {
    // Temporal may answer late on a busy machine.
    const ready = await eventually(
      async () => {
        const answer = await fetch(`${worker.url}/ready`);
        return answer.ok && answer;
      },
      { what: 'a worker that is ready' },
    );
    const parts = { database: 'ok', migrations: 'ok', temporal: 'ok', polling: 'ok', secrets: 'ok' };
    expect(await ready.json()).to.deep.equal({ status: 'ok', parts });
    const metrics = await (await fetch(`${worker.url}/metrics`)).text();
    expect(metrics).to.match(/^everpost_mail_results_total\{result="sent"\} 61$/m);
    expect(metrics).to.match(/^everpost_outbox_rows\{queue="control",state="waiting"\} 0$/m);
    for (const state of ['due', 'later', 'leased', 'sending'])
      expect(metrics).to.match(new RegExp(`^everpost_mail\\{state="${state}"\\} 0$`, 'm'));
    const relay = `127.0.0.1:${stack.smtp.port}`;
    expect(metrics).to.include(`everpost_relay_mails_total{relay="${relay}",outcome="sent"} 61`);
    expect(metrics).to.include(`everpost_relay_usable{relay="${relay}"} 1`);
  });

  it('loses no mail when the worker gets SIGTERM during deliveries, and exits with 0', async () => {
    const before = stack.smtp.mails.length;
    stack.smtp.holdAfter(6);
    const ids = await Promise.all(Array.from({ length: 80 }, () => stack.send()));
    await eventually(() => stack.smtp.mails.length > before + 5);
    const stopped = worker.stop();
    await eventually(() => worker.logs().includes('shutting down'), { what: 'the signal' });
    stack.smtp.behave();
    const exit = await stopped;
    expect(exit, worker.logs()).to.deep.equal({ code: 0, signal: null });
    const db = stack.database.db;
    expect(await outgoingMails(db), 'no mail is left leased or in flight').to.deep.equal([]);
    expect(await runningSenders(db)).to.deep.equal([]);
    expect(stack.smtp.mails.length, 'it did not wait for all of them').to.be.below(before + 80);
    worker = await stack.startWorker();
    const mails = await Promise.all(ids.map(finished));
    for (const mail of mails) expect(mail).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
    expect(stack.smtp.mails).to.have.length(before + 80);
  });
});
