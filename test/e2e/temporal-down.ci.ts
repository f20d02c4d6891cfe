import { expect } from 'chai';
import { processTimings } from '../../platform/timings.ts';
import { mailById } from '../support/ledger.ts';
import { type ServiceProcess, spawnWorker } from '../support/processes.ts';
import { outgoingMails, storedMails } from '../support/rows/mails.ts';
import { outboxMessages } from '../support/rows/outbox.ts';
import { type Stack, startStack } from '../support/stack.ts';
import { type OwnDevServer, ownDevServer } from '../support/temporal.ts';
import { eventually } from '../support/waiting.ts';

describe('while Temporal is down', () => {
  let temporal: OwnDevServer;
  let stack: Stack;
  let worker: ServiceProcess;
  const sent: string[] = [];

  before(async () => {
    temporal = await ownDevServer();
    const address = { address: temporal.address, namespace: 'default' };
    stack = await startStack(address, { RATE_LIMIT_PER_MINUTE: '0' });
    worker = await stack.startWorker();
    const id = await send();
    await eventually(async () => (await mailById(stack.database.db, id)).status === 'SENT');
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

  const send = async (): Promise<string> => {
    const id = await stack.send();
    sent.push(id);
    return id;
  };
  const sentRows = () => storedMails(stack.database.db, { status: 'SENT' });

  it('goes on sending with the running sender, for longer than Temporal waits for its heartbeat', async () => {
    const until = Date.now() + processTimings.activity.sendMailTimeout + 10_000;
    while (Date.now() < until) {
      const id = await send();
      const messageId = `<${id}@${stack.project.senderDomain}>`;
      await eventually(() => stack.smtp.mails.some((mail) => mail.messageId === messageId), {
        what: 'the mail',
      });
    }
    expect(await statusOf(stack.api.url)).to.deep.include({ code: 200, status: 'degraded' });
    const { code, parts } = await statusOf(worker.url);
    expect({ code, ...parts }).to.include({ code: 503, database: 'ok', polling: 'down' });
  });

  it('keeps mail in the ledger without a sender, and sends each once when Temporal is back', async () => {
    await eventually(async () => (await sentRows()).length === sent.length);
    await worker.kill();
    // This one starts while Temporal is down, and is ready afterwards.
    const next = await spawnWorker(stack.env);
    await Promise.all(Array.from({ length: 30 }, send));
    const { db } = stack.database;
    const failedMessage = () => outboxMessages(db).whereNotNull('lastError').first();
    const waiting = await eventually(failedMessage, { what: 'a failed call to Temporal' });
    expect(waiting).to.include({ attempts: 0, parkedAt: null, queue: 'control' });
    expect(stack.smtp.mails).to.have.length(sent.length - 30);

    await temporal.start();
    await next.ready();
    await eventually(async () => (await sentRows()).length === sent.length, { what: 'all mail sent' });
    for (const row of await sentRows()) expect(row).to.include({ attempts: 1, unknownOutcomes: 0 });
    const messageIds = stack.smtp.mails.map(({ messageId }) => messageId);
    expect(messageIds, 'none twice').to.have.members(sent.map((id) => `<${id}@${stack.project.senderDomain}>`));
    await eventually(async () => (await outboxMessages(db)).length + (await outgoingMails(db)).length === 0);
  });
});
