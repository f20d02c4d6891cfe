import { expect } from 'chai';
import { mailById } from '../support/ledger.ts';
import type { ServiceProcess } from '../support/processes.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type OwnDevServer, ownDevServer } from '../support/temporal.ts';
import { eventually } from '../support/waiting.ts';

const TIMEOUT = { timeoutMs: 90_000 };

describe('while Temporal is down', function () {
  this.timeout(180_000);
  let temporal: OwnDevServer;
  let stack: Stack;
  let worker: ServiceProcess;

  before(async () => {
    temporal = await ownDevServer();
    stack = await startStack({ address: temporal.address, namespace: 'default' });
    worker = await stack.startWorker();
    const id = await stack.send();
    await eventually(async () => (await mailById(stack.database.db, id)).status === 'SENT', TIMEOUT);
    await temporal.stop();
  });
  after(async () => {
    await stack?.end();
    await temporal?.kill();
  });

  const statusOf = async (url: string) => {
    const answer = await fetch(`${url}/ready`);
    return { code: answer.status, ...((await answer.json()) as { parts: Record<string, string> }) };
  };

  it('accepts mail, reports degraded, and sends every mail once when Temporal is back', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => stack.send()));
    for (const { url } of [stack.api, worker]) {
      expect(await statusOf(url)).to.deep.include({ code: 200, status: 'degraded' });
    }
    // One worker that starts while Temporal is down, besides the one that ran before.
    await stack.startWorker();
    ids.push(await stack.send());
    const { db } = stack.database;
    const failedMessage = () => db('outbox').whereNotNull('lastError').first();
    const waiting = await eventually(failedMessage, { ...TIMEOUT, what: 'a failed call to Temporal' });
    expect(waiting).to.include({ attempts: 0, parkedAt: null, queue: 'mail' });
    expect(stack.smtp.mails).to.have.length(1);

    await temporal.start();
    const sent = () => db('emails').where({ status: 'SENT' });
    await eventually(async () => (await sent()).length === 32, { ...TIMEOUT, what: 'all mail sent' });
    expect((await sent()).every(({ attempts, unknownOutcomes }) => attempts === 1 && unknownOutcomes === 0)).to.equal(
      true,
    );
    const messageIds = stack.smtp.mails.map(({ messageId }) => messageId);
    expect(messageIds).to.include.members(ids.map((id) => `<${id}@${stack.project.senderDomain}>`));
    expect(messageIds, 'none twice').to.have.length(32);
    await eventually(async () => (await db('outbox')).length === 0 && (await db('delivery_batches')).length === 0);
  });
});
