// SIGTERM while an SMTP server takes its time: the worker waits for the answer as long as the grace period allows.
import { expect } from 'chai';
import { outgoingMails, storedMails } from '../support/rows/mails.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { eventually } from '../support/waiting.ts';

describe('a worker that is stopped while an SMTP server has not answered', () => {
  let temporal: OwnNamespace;
  let stack: Stack;

  beforeEach(async () => {
    temporal = await ownNamespace();
    stack = await startStack(temporal);
  });
  afterEach(async () => {
    await stack?.end();
    await temporal?.close();
  });

  const rowOf = (id: string) => storedMails(stack.database.db, { id }).first();

  it('waits for a late answer, and no mail is sent twice', async () => {
    const worker = await stack.startWorker();
    const to = 'late@example.com';
    stack.smtp.misbehave({ at: 'accepted', do: { delayMs: 24_000 }, to, times: 1 });
    const id = await stack.send(to);
    await stack.smtp.received(1, { to });
    const next = await stack.startWorker();
    expect(await worker.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await rowOf(id)).to.include({ status: 'SENT', unknownOutcomes: 0 });
    // The other worker sends what comes later, and nothing again.
    await stack.send('next@example.com');
    await stack.smtp.received(1, { to: 'next@example.com' });
    expect(stack.smtp.mailsTo(to)).to.have.lengthOf(1);
    await next.stop();
  });

  it('records an unknown outcome when the grace period is over', async () => {
    const worker = await stack.startWorker({ SHUTDOWN_GRACE_SECONDS: '6' });
    const to = 'never@example.com';
    stack.smtp.misbehave({ at: 'accepted', do: 'hang', to });
    const id = await stack.send(to);
    await stack.smtp.received(1, { to });
    expect(await worker.stop()).to.deep.equal({ code: 0, signal: null });
    // Written by the worker itself: no other process runs that could have recovered it.
    await eventually(async () => (await rowOf(id)).unknownOutcomes === 1, { what: 'the unknown outcome' });
    expect(await outgoingMails(stack.database.db, { emailId: id })).to.deep.equal([]);
  });
});
