import { expect } from 'chai';
import { emailActivities } from '../../activities/emails.ts';
import type { Email } from '../../db/models/email.ts';
import { createMailer } from '../../platform/mailer.ts';
import { DeliveryLedger } from '../../services/emails/delivery-ledger.ts';
import { noCounts } from '../../services/emails/delivery-settlement.ts';
import { mailById } from '../support/ledger.ts';
import { testLinks } from '../support/links.ts';
import { testRenderer } from '../support/renderer.ts';
import { type OwnNamespace, ownNamespace, type Stack, startStack } from '../support/stack.ts';
import { activityEnvironment } from '../support/temporal-work.ts';
import { eventually } from '../support/waiting.ts';

// After a kill it takes Temporal a heartbeat timeout to notice, and the lease its time to end.
const PATIENCE = { timeoutMs: 90_000 };

describe('killing', function () {
  this.timeout(180_000);
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

  const mail = (id: string) => mailById(stack.world.db, id);
  const becomes = (id: string, status: Email['status']) =>
    eventually(async () => (await mail(id)).status === status && mail(id), { ...PATIENCE, what: `a mail ${status}` });

  it('the worker between accepting and sending leaves exactly one mail', async () => {
    stack.smtp.misbehave({ at: 'connect', do: 'hang' });
    const worker = await stack.startWorker();
    const id = await stack.send('ann@example.com');
    await eventually(() => stack.smtp.connections().open > 0, { ...PATIENCE, what: 'a worker about to send' });
    expect(await worker.kill()).to.deep.equal({ code: null, signal: 'SIGKILL' });
    expect(await mail(id)).to.include({ status: 'PENDING', attempts: 0 });
    stack.smtp.behave();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1, unknownOutcomes: 0 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('the worker in mid-sentence is an unknown outcome: tried once more, under the same Message-ID', async () => {
    stack.smtp.misbehave({ at: 'message', to: 'lost@example.com', do: 'hang' });
    stack.smtp.misbehave({ at: 'accepted', to: 'taken@example.com', do: 'hang' });
    const worker = await stack.startWorker();
    const [lost, taken] = [await stack.send('lost@example.com'), await stack.send('taken@example.com')];
    await becomes(lost, 'SENDING');
    await becomes(taken, 'SENDING');
    await stack.smtp.received(1, { to: 'taken@example.com', ...PATIENCE });
    await worker.kill();
    stack.smtp.behave();
    const before = stack.smtp.mailsTo('lost@example.com').length;
    await stack.startWorker();
    for (const id of [lost, taken]) {
      expect(await becomes(id, 'SENT')).to.include({ attempts: 2, unknownOutcomes: 1 });
    }
    const idsTo = (address: string) => stack.smtp.mailsTo(address).map(({ messageId }) => messageId);
    const own = (id: string) => `<${id}@${stack.project.senderDomain}>`;
    expect(idsTo('taken@example.com'), 'a second copy, recognisable as one').to.deep.equal([own(taken), own(taken)]);
    expect(idsTo('lost@example.com').slice(before)).to.deep.equal([own(lost)]);
  });

  it('the API right after its answer loses nothing', async () => {
    const id = await stack.send('ann@example.com');
    await stack.api.kill();
    await stack.startWorker();
    expect(await becomes(id, 'SENT')).to.include({ attempts: 1 });
    expect(stack.smtp.mailsTo('ann@example.com')).to.have.length(1);
  });

  it('nobody, but freezing a worker until its lease is over: when it wakes it sends nothing more', async () => {
    stack.smtp.misbehave({ at: 'accepted', to: 'first@example.com', do: 'hang' });
    const first = await stack.send('first@example.com');
    const others = await Promise.all(Array.from({ length: 5 }, () => stack.send()));
    const frozen = await stack.startWorker({ SMTP_MAX_CONNECTIONS: '1' });
    await stack.smtp.received(1, PATIENCE);
    frozen.signal('SIGSTOP');
    stack.smtp.behave();

    const { db } = stack.world;
    const { batchId } = await mail(first);
    const isFree = () => db('delivery_batches').where('leaseUntil', '<', db.fn.now()).first();
    await eventually(isFree, { ...PATIENCE, what: 'the end of the lease' });
    const mailer = createMailer({ url: stack.smtp.url, maxConnections: 1 });
    const stopping = new AbortController().signal;
    const { deliverBatch } = emailActivities({
      db,
      mailer,
      renderer: testRenderer(),
      links: testLinks,
      ledger: new DeliveryLedger(db),
      stopping,
    });
    const counts = await activityEnvironment().run(deliverBatch, batchId ?? '');
    mailer.close();
    expect(counts).to.deep.equal({ ...noCounts(), sent: 6, unknown: 1 });

    frozen.signal('SIGCONT');
    expect(await frozen.stop()).to.deep.equal({ code: 0, signal: null });
    expect(stack.smtp.mailsTo('first@example.com'), 'it was on the wire').to.have.length(2);
    expect(stack.smtp.mails, 'all others once').to.have.length(2 + 5);
    expect(await mail(first)).to.include({ status: 'SENT', attempts: 2, unknownOutcomes: 1 });
    for (const id of others) expect(await mail(id)).to.include({ status: 'SENT', attempts: 1, unknownOutcomes: 0 });
  });
});
